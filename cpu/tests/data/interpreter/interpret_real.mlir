// real_op_test_f64: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xf64>, tensor<2xf64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf64>}> : () -> tensor<2xf64>
    %1 = "stablehlo.real"(%0) : (tensor<2xf64>) -> tensor<2xf64>
    %2 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf64>}> : () -> tensor<2xf64>
    "func.return"(%1, %2) : (tensor<2xf64>, tensor<2xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// real_op_test_c128: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xf64>, tensor<2xf64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[(1.000000e+00,2.000000e+00), (3.000000e+00,4.000000e+00)]> : tensor<2xcomplex<f64>>}> : () -> tensor<2xcomplex<f64>>
    %1 = "stablehlo.real"(%0) : (tensor<2xcomplex<f64>>) -> tensor<2xf64>
    %2 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 3.000000e+00]> : tensor<2xf64>}> : () -> tensor<2xf64>
    "func.return"(%1, %2) : (tensor<2xf64>, tensor<2xf64>) -> ()
  }) : () -> ()
}) : () -> ()
