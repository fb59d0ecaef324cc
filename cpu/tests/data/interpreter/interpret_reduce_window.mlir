// reduce_window: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2x2xi64>, tensor<2x2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>}> : () -> tensor<3x2xi64>
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %2 = "stablehlo.reduce_window"(%0, %1) <{base_dilations = array<i64: 2, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 3, 1>, window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>}> ({
    ^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
      %4 = "stablehlo.add"(%arg0, %arg1) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      "stablehlo.return"(%4) : (tensor<i64>) -> ()
    }) : (tensor<3x2xi64>, tensor<i64>) -> tensor<2x2xi64>
    %3 = "stablehlo.constant"() <{value = dense<[[0, 0], [3, 4]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    "func.return"(%2, %3) : (tensor<2x2xi64>, tensor<2x2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// reduce_window_issue_1662: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<1x2xi64>, tensor<1x2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>}> : () -> tensor<3x2xi64>
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %2 = "stablehlo.reduce_window"(%0, %1) <{base_dilations = array<i64: 2, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 3, 1>, window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 4, 1>}> ({
    ^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
      %4 = "stablehlo.add"(%arg0, %arg1) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      "stablehlo.return"(%4) : (tensor<i64>) -> ()
    }) : (tensor<3x2xi64>, tensor<i64>) -> tensor<1x2xi64>
    %3 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    "func.return"(%2, %3) : (tensor<1x2xi64>, tensor<1x2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
