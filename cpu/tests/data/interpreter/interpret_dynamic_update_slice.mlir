// dynamic_update_slice: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<4x4xi64>, tensor<4x4xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1, 1, 1, 1], [1, 1, 1, 1], [1, 2, 2, 2], [1, 2, 2, 2]]> : tensor<4x4xi64>}> : () -> tensor<4x4xi64>
    %1 = "stablehlo.constant"() <{value = dense<1> : tensor<2x3xi64>}> : () -> tensor<2x3xi64>
    %2 = "stablehlo.constant"() <{value = dense<4> : tensor<i64>}> : () -> tensor<i64>
    %3 = "stablehlo.constant"() <{value = dense<4> : tensor<i64>}> : () -> tensor<i64>
    %4 = "stablehlo.dynamic_update_slice"(%0, %1, %2, %3) : (tensor<4x4xi64>, tensor<2x3xi64>, tensor<i64>, tensor<i64>) -> tensor<4x4xi64>
    %5 = "stablehlo.constant"() <{value = dense<1> : tensor<4x4xi64>}> : () -> tensor<4x4xi64>
    "func.return"(%4, %5) : (tensor<4x4xi64>, tensor<4x4xi64>) -> ()
  }) : () -> ()
}) : () -> ()
