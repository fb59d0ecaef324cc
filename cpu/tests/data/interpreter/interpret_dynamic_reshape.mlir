// dynamic_reshape_op_test_si64: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<6xi64>, tensor<6xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1, 2, 3, 4, 5, 6]]> : tensor<1x6xi64>}> : () -> tensor<1x6xi64>
    %1 = "stablehlo.constant"() <{value = dense<6> : tensor<1xi64>}> : () -> tensor<1xi64>
    %2 = "stablehlo.dynamic_reshape"(%0, %1) : (tensor<1x6xi64>, tensor<1xi64>) -> tensor<6xi64>
    %3 = "stablehlo.constant"() <{value = dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi64>}> : () -> tensor<6xi64>
    "func.return"(%2, %3) : (tensor<6xi64>, tensor<6xi64>) -> ()
  }) : () -> ()
}) : () -> ()
