// exponential_op_test_f64: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2x2xf64>, tensor<2x2xf64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[0.000000e+00, 1.000000e+00], [2.000000e+00, 3.000000e+00]]> : tensor<2x2xf64>}> : () -> tensor<2x2xf64>
    %1 = "stablehlo.exponential"(%0) : (tensor<2x2xf64>) -> tensor<2x2xf64>
    %2 = "stablehlo.constant"() <{value = dense<[[1.000000e+00, 2.7182818284590451], [7.3890560989306504, 20.085536923187668]]> : tensor<2x2xf64>}> : () -> tensor<2x2xf64>
    "func.return"(%1, %2) : (tensor<2x2xf64>, tensor<2x2xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// exponential_op_test_c128: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<complex<f64>>, tensor<complex<f64>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f64>>}> : () -> tensor<complex<f64>>
    %1 = "stablehlo.exponential"(%0) : (tensor<complex<f64>>) -> tensor<complex<f64>>
    %2 = "stablehlo.constant"() <{value = dense<(-1.1312043837568135,2.4717266720048188)> : tensor<complex<f64>>}> : () -> tensor<complex<f64>>
    "func.return"(%1, %2) : (tensor<complex<f64>>, tensor<complex<f64>>) -> ()
  }) : () -> ()
}) : () -> ()
