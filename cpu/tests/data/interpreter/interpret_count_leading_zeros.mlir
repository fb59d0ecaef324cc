// count_leading_zeros_op_test_si64: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2x2xi64>, tensor<2x2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[0, 1], [128, -1]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %1 = "stablehlo.count_leading_zeros"(%0) : (tensor<2x2xi64>) -> tensor<2x2xi64>
    %2 = "stablehlo.constant"() <{value = dense<[[64, 63], [56, 0]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    "func.return"(%1, %2) : (tensor<2x2xi64>, tensor<2x2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
