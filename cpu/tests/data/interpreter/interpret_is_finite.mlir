// is_finite_op_test_f64: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<7xi1>, tensor<7xi1>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0xFFF0000000000000, 0x7FF0000000000000, 0x7FF8000000000000, -1.000000e+01, -0.000000e+00, 0.000000e+00, 1.000000e+01]> : tensor<7xf64>}> : () -> tensor<7xf64>
    %1 = "stablehlo.is_finite"(%0) : (tensor<7xf64>) -> tensor<7xi1>
    %2 = "stablehlo.constant"() <{value = dense<[false, false, false, true, true, true, true]> : tensor<7xi1>}> : () -> tensor<7xi1>
    "func.return"(%1, %2) : (tensor<7xi1>, tensor<7xi1>) -> ()
  }) : () -> ()
}) : () -> ()
