// sign_op_test_si64: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3xi64>, tensor<3xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[-1, 0, 1]> : tensor<3xi64>}> : () -> tensor<3xi64>
    %1 = "stablehlo.sign"(%0) : (tensor<3xi64>) -> tensor<3xi64>
    %2 = "stablehlo.constant"() <{value = dense<[-1, 0, 1]> : tensor<3xi64>}> : () -> tensor<3xi64>
    "func.return"(%1, %2) : (tensor<3xi64>, tensor<3xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// sign_op_test_f64: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<5xf64>, tensor<5xf64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0x7FFFFFFFFFFFFFFF, -1.000000e+00, -0.000000e+00, 0.000000e+00, 1.000000e+00]> : tensor<5xf64>}> : () -> tensor<5xf64>
    %1 = "stablehlo.sign"(%0) : (tensor<5xf64>) -> tensor<5xf64>
    %2 = "stablehlo.constant"() <{value = dense<[0x7FFFFFFFFFFFFFFF, -1.000000e+00, -0.000000e+00, 0.000000e+00, 1.000000e+00]> : tensor<5xf64>}> : () -> tensor<5xf64>
    "func.return"(%1, %2) : (tensor<5xf64>, tensor<5xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// sign_op_test_c128: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[(0x7FF0000000000001,0.000000e+00), (0.000000e+00,0x7FF0000000000001), (0.000000e+00,0.000000e+00), (0.000000e+00,1.000000e+00)]> : tensor<4xcomplex<f64>>}> : () -> tensor<4xcomplex<f64>>
    %1 = "stablehlo.sign"(%0) : (tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>>
    %2 = "stablehlo.constant"() <{value = dense<[(0x7FF0000000000001,0x7FF0000000000001), (0x7FF0000000000001,0x7FF0000000000001), (0.000000e+00,0.000000e+00), (0.000000e+00,1.000000e+00)]> : tensor<4xcomplex<f64>>}> : () -> tensor<4xcomplex<f64>>
    "func.return"(%1, %2) : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
  }) : () -> ()
}) : () -> ()
