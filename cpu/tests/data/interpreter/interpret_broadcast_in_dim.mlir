// broadcast_in_dim: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x2x2xi64>, tensor<3x2x2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1], [2], [3]]> : tensor<3x1xi64>}> : () -> tensor<3x1xi64>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<3x1xi64>) -> tensor<3x2x2xi64>
    %2 = "stablehlo.constant"() <{value = dense<[[[1, 1], [1, 1]], [[2, 2], [2, 2]], [[3, 3], [3, 3]]]> : tensor<3x2x2xi64>}> : () -> tensor<3x2x2xi64>
    "func.return"(%1, %2) : (tensor<3x2x2xi64>, tensor<3x2x2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
