// popcnt_op_test_si64: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<4xi64>, tensor<4xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 1, 2, 127]> : tensor<4xi64>}> : () -> tensor<4xi64>
    %1 = "stablehlo.popcnt"(%0) : (tensor<4xi64>) -> tensor<4xi64>
    %2 = "stablehlo.constant"() <{value = dense<[0, 1, 1, 7]> : tensor<4xi64>}> : () -> tensor<4xi64>
    "func.return"(%1, %2) : (tensor<4xi64>, tensor<4xi64>) -> ()
  }) : () -> ()
}) : () -> ()
