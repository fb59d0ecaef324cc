// round_nearest_even_op_test_f64: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<5xf64>, tensor<5xf64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[-2.500000e+00, 4.000000e-01, 5.000000e-01, 6.000000e-01, 2.500000e+00]> : tensor<5xf64>}> : () -> tensor<5xf64>
    %1 = "stablehlo.round_nearest_even"(%0) : (tensor<5xf64>) -> tensor<5xf64>
    %2 = "stablehlo.constant"() <{value = dense<[-2.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00]> : tensor<5xf64>}> : () -> tensor<5xf64>
    "func.return"(%1, %2) : (tensor<5xf64>, tensor<5xf64>) -> ()
  }) : () -> ()
}) : () -> ()
