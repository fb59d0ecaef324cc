// map_op_test_si64: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2x2xi64>, tensor<2x2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %1 = "stablehlo.constant"() <{value = dense<[[4, 5], [6, 7]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %2 = "stablehlo.map"(%0, %1) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
      %4 = "stablehlo.multiply"(%arg0, %arg1) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      "stablehlo.return"(%4) : (tensor<i64>) -> ()
    }) : (tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<2x2xi64>
    %3 = "stablehlo.constant"() <{value = dense<[[0, 5], [12, 21]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    "func.return"(%2, %3) : (tensor<2x2xi64>, tensor<2x2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
