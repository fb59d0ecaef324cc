// reshape_op_test_si32: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<6xi32>, tensor<6xi32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1, 2, 3, 4, 5, 6]]> : tensor<1x6xi32>}> : () -> tensor<1x6xi32>
    %1 = "stablehlo.reshape"(%0) : (tensor<1x6xi32>) -> tensor<6xi32>
    %2 = "stablehlo.constant"() <{value = dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>}> : () -> tensor<6xi32>
    "func.return"(%1, %2) : (tensor<6xi32>, tensor<6xi32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// reshape_op_test_si32: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2x3xi32>, tensor<2x3xi32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>}> : () -> tensor<6xi32>
    %1 = "stablehlo.reshape"(%0) : (tensor<6xi32>) -> tensor<2x3xi32>
    %2 = "stablehlo.constant"() <{value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>}> : () -> tensor<2x3xi32>
    "func.return"(%1, %2) : (tensor<2x3xi32>, tensor<2x3xi32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// reshape_op_test_si32: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x2xi32>, tensor<3x2xi32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>}> : () -> tensor<2x3xi32>
    %1 = "stablehlo.reshape"(%0) : (tensor<2x3xi32>) -> tensor<3x2xi32>
    %2 = "stablehlo.constant"() <{value = dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>}> : () -> tensor<3x2xi32>
    "func.return"(%1, %2) : (tensor<3x2xi32>, tensor<3x2xi32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// reshape_op_test_si32: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<6xi32>, tensor<6xi32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>}> : () -> tensor<3x2xi32>
    %1 = "stablehlo.reshape"(%0) : (tensor<3x2xi32>) -> tensor<6xi32>
    %2 = "stablehlo.constant"() <{value = dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>}> : () -> tensor<6xi32>
    "func.return"(%1, %2) : (tensor<6xi32>, tensor<6xi32>) -> ()
  }) : () -> ()
}) : () -> ()
