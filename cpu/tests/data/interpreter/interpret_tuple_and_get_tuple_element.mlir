// get_tuple_element: within 0.0001, equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xf64>, tensor<i64>, tensor<2xf64>, tensor<i64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf64>}> : () -> tensor<2xf64>
    %1 = "stablehlo.constant"() <{value = dense<3> : tensor<i64>}> : () -> tensor<i64>
    %2 = "stablehlo.tuple"(%1) : (tensor<i64>) -> tuple<tensor<i64>>
    %3 = "stablehlo.tuple"(%0, %2) : (tensor<2xf64>, tuple<tensor<i64>>) -> tuple<tensor<2xf64>, tuple<tensor<i64>>>
    %4 = "stablehlo.get_tuple_element"(%3) <{index = 0 : i32}> : (tuple<tensor<2xf64>, tuple<tensor<i64>>>) -> tensor<2xf64>
    %5 = "stablehlo.get_tuple_element"(%3) <{index = 1 : i32}> : (tuple<tensor<2xf64>, tuple<tensor<i64>>>) -> tuple<tensor<i64>>
    %6 = "stablehlo.get_tuple_element"(%5) <{index = 0 : i32}> : (tuple<tensor<i64>>) -> tensor<i64>
    %7 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf64>}> : () -> tensor<2xf64>
    %8 = "stablehlo.constant"() <{value = dense<3> : tensor<i64>}> : () -> tensor<i64>
    "func.return"(%4, %6, %7, %8) : (tensor<2xf64>, tensor<i64>, tensor<2xf64>, tensor<i64>) -> ()
  }) : () -> ()
}) : () -> ()
