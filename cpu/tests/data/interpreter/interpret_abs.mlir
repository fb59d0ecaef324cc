// abs_op_test_si64: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3xi64>, tensor<3xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[-2, 0, 2]> : tensor<3xi64>}> : () -> tensor<3xi64>
    %1 = "stablehlo.abs"(%0) : (tensor<3xi64>) -> tensor<3xi64>
    %2 = "stablehlo.constant"() <{value = dense<[2, 0, 2]> : tensor<3xi64>}> : () -> tensor<3xi64>
    "func.return"(%1, %2) : (tensor<3xi64>, tensor<3xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// abs_op_test_f64: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3xf64>, tensor<3xf64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[2.310000e+01, -2.310000e+01, -0.000000e+00]> : tensor<3xf64>}> : () -> tensor<3xf64>
    %1 = "stablehlo.abs"(%0) : (tensor<3xf64>) -> tensor<3xf64>
    %2 = "stablehlo.constant"() <{value = dense<[2.310000e+01, 2.310000e+01, 0.000000e+00]> : tensor<3xf64>}> : () -> tensor<3xf64>
    "func.return"(%1, %2) : (tensor<3xf64>, tensor<3xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// abs_op_test_c64: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<f64>, tensor<f64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<(3.000000e+00,4.000000e+00)> : tensor<complex<f64>>}> : () -> tensor<complex<f64>>
    %1 = "stablehlo.abs"(%0) : (tensor<complex<f64>>) -> tensor<f64>
    %2 = "stablehlo.constant"() <{value = dense<5.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    "func.return"(%1, %2) : (tensor<f64>, tensor<f64>) -> ()
  }) : () -> ()
}) : () -> ()
