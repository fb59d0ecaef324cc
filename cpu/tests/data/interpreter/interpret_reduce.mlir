// reduce: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<1xi64>, tensor<1xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[0, 1, 2, 3, 4, 5]]> : tensor<1x6xi64>}> : () -> tensor<1x6xi64>
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %2 = "stablehlo.reduce"(%0, %1) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
      %4 = "stablehlo.add"(%arg0, %arg1) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      "stablehlo.return"(%4) : (tensor<i64>) -> ()
    }) : (tensor<1x6xi64>, tensor<i64>) -> tensor<1xi64>
    %3 = "stablehlo.constant"() <{value = dense<15> : tensor<1xi64>}> : () -> tensor<1xi64>
    "func.return"(%2, %3) : (tensor<1xi64>, tensor<1xi64>) -> ()
  }) : () -> ()
}) : () -> ()
