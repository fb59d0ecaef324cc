// power_op_test_si64: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<6xi64>, tensor<6xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[-1, -1, -3, 1, -3, 0]> : tensor<6xi64>}> : () -> tensor<6xi64>
    %1 = "stablehlo.constant"() <{value = dense<[1, 0, -3, -3, 3, 2]> : tensor<6xi64>}> : () -> tensor<6xi64>
    %2 = "stablehlo.power"(%0, %1) : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
    %3 = "stablehlo.constant"() <{value = dense<[-1, 1, 0, 1, -27, 0]> : tensor<6xi64>}> : () -> tensor<6xi64>
    "func.return"(%2, %3) : (tensor<6xi64>, tensor<6xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// power_op_test_ui64: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<5xui64>, tensor<5xui64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 0, 1, 1, 5]> : tensor<5xui64>}> : () -> tensor<5xui64>
    %1 = "stablehlo.constant"() <{value = dense<[0, 1, 0, 2, 5]> : tensor<5xui64>}> : () -> tensor<5xui64>
    %2 = "stablehlo.power"(%0, %1) : (tensor<5xui64>, tensor<5xui64>) -> tensor<5xui64>
    %3 = "stablehlo.constant"() <{value = dense<[1, 0, 1, 1, 3125]> : tensor<5xui64>}> : () -> tensor<5xui64>
    "func.return"(%2, %3) : (tensor<5xui64>, tensor<5xui64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// power_op_test_f64: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<6xf64>, tensor<6xf64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[-2.000000e+00, -0.000000e+00, -3.600000e+01, 5.000000e+00, 3.000000e+00, 1.000000e+04]> : tensor<6xf64>}> : () -> tensor<6xf64>
    %1 = "stablehlo.constant"() <{value = dense<[2.000000e+00, 2.000000e+00, 1.100000e+00, 2.000000e+00, -1.000000e+00, 1.000000e+01]> : tensor<6xf64>}> : () -> tensor<6xf64>
    %2 = "stablehlo.power"(%0, %1) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
    %3 = "stablehlo.constant"() <{value = dense<[4.000000e+00, 0.000000e+00, 0xFFF8000000000000, 2.500000e+01, 0.33333333333333331, 1.000000e+40]> : tensor<6xf64>}> : () -> tensor<6xf64>
    "func.return"(%2, %3) : (tensor<6xf64>, tensor<6xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// power_op_test_c128: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[(1.500000e+00,2.500000e+00), (7.500000e+00,5.500000e+00)]> : tensor<2xcomplex<f64>>}> : () -> tensor<2xcomplex<f64>>
    %1 = "stablehlo.constant"() <{value = dense<[(2.500000e+00,1.500000e+00), (5.500000e+00,7.500000e+00)]> : tensor<2xcomplex<f64>>}> : () -> tensor<2xcomplex<f64>>
    %2 = "stablehlo.power"(%0, %1) : (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>) -> tensor<2xcomplex<f64>>
    %3 = "stablehlo.constant"() <{value = dense<[(-1.5679313814305016,-2.6674775446623613), (392.89270835580857,1801.8249193362644)]> : tensor<2xcomplex<f64>>}> : () -> tensor<2xcomplex<f64>>
    "func.return"(%2, %3) : (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>) -> ()
  }) : () -> ()
}) : () -> ()
