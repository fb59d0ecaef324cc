// constant_op_test_si2: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<4xi2>, tensor<4xi2>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[-2, -1, 0, 1]> : tensor<4xi2>}> : () -> tensor<4xi2>
    %1 = "stablehlo.constant"() <{value = dense<[-2, -1, 0, 1]> : tensor<4xi2>}> : () -> tensor<4xi2>
    "func.return"(%0, %1) : (tensor<4xi2>, tensor<4xi2>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_ui2: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<4xui2>, tensor<4xui2>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 1, 2, 3]> : tensor<4xui2>}> : () -> tensor<4xui2>
    %1 = "stablehlo.constant"() <{value = dense<[0, 1, 2, 3]> : tensor<4xui2>}> : () -> tensor<4xui2>
    "func.return"(%0, %1) : (tensor<4xui2>, tensor<4xui2>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_si4: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<5xi4>, tensor<5xi4>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[-8, -1, 0, 1, 7]> : tensor<5xi4>}> : () -> tensor<5xi4>
    %1 = "stablehlo.constant"() <{value = dense<[-8, -1, 0, 1, 7]> : tensor<5xi4>}> : () -> tensor<5xi4>
    "func.return"(%0, %1) : (tensor<5xi4>, tensor<5xi4>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_ui4: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3xui4>, tensor<3xui4>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 8, 15]> : tensor<3xui4>}> : () -> tensor<3xui4>
    %1 = "stablehlo.constant"() <{value = dense<[0, 8, 15]> : tensor<3xui4>}> : () -> tensor<3xui4>
    "func.return"(%0, %1) : (tensor<3xui4>, tensor<3xui4>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_si8: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<5xi8>, tensor<5xi8>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[-128, -9, 0, 8, 127]> : tensor<5xi8>}> : () -> tensor<5xi8>
    %1 = "stablehlo.constant"() <{value = dense<[-128, -9, 0, 8, 127]> : tensor<5xi8>}> : () -> tensor<5xi8>
    "func.return"(%0, %1) : (tensor<5xi8>, tensor<5xi8>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_ui8: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3xui8>, tensor<3xui8>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 16, 255]> : tensor<3xui8>}> : () -> tensor<3xui8>
    %1 = "stablehlo.constant"() <{value = dense<[0, 16, 255]> : tensor<3xui8>}> : () -> tensor<3xui8>
    "func.return"(%0, %1) : (tensor<3xui8>, tensor<3xui8>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_si16: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<5xi16>, tensor<5xi16>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[-32768, -129, 0, 128, 32767]> : tensor<5xi16>}> : () -> tensor<5xi16>
    %1 = "stablehlo.constant"() <{value = dense<[-32768, -129, 0, 128, 32767]> : tensor<5xi16>}> : () -> tensor<5xi16>
    "func.return"(%0, %1) : (tensor<5xi16>, tensor<5xi16>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_ui16: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3xui16>, tensor<3xui16>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 256, 65535]> : tensor<3xui16>}> : () -> tensor<3xui16>
    %1 = "stablehlo.constant"() <{value = dense<[0, 256, 65535]> : tensor<3xui16>}> : () -> tensor<3xui16>
    "func.return"(%0, %1) : (tensor<3xui16>, tensor<3xui16>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_si32: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<5xi32>, tensor<5xi32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[-2147483648, -65537, 0, 65536, 2147483647]> : tensor<5xi32>}> : () -> tensor<5xi32>
    %1 = "stablehlo.constant"() <{value = dense<[-2147483648, -65537, 0, 65536, 2147483647]> : tensor<5xi32>}> : () -> tensor<5xi32>
    "func.return"(%0, %1) : (tensor<5xi32>, tensor<5xi32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_ui32: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3xui32>, tensor<3xui32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 65536, 4294967295]> : tensor<3xui32>}> : () -> tensor<3xui32>
    %1 = "stablehlo.constant"() <{value = dense<[0, 65536, 4294967295]> : tensor<3xui32>}> : () -> tensor<3xui32>
    "func.return"(%0, %1) : (tensor<3xui32>, tensor<3xui32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_si64: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<5xi64>, tensor<5xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[-9223372036854775808, -2147483649, 0, 2147483648, 9223372036854775807]> : tensor<5xi64>}> : () -> tensor<5xi64>
    %1 = "stablehlo.constant"() <{value = dense<[-9223372036854775808, -2147483649, 0, 2147483648, 9223372036854775807]> : tensor<5xi64>}> : () -> tensor<5xi64>
    "func.return"(%0, %1) : (tensor<5xi64>, tensor<5xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_ui64: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3xui64>, tensor<3xui64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 4294967296, 18446744073709551615]> : tensor<3xui64>}> : () -> tensor<3xui64>
    %1 = "stablehlo.constant"() <{value = dense<[0, 4294967296, 18446744073709551615]> : tensor<3xui64>}> : () -> tensor<3xui64>
    "func.return"(%0, %1) : (tensor<3xui64>, tensor<3xui64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_f4_e2m1fn: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<10xf4E2M1FN>, tensor<10xf4E2M1FN>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00, 3.000000e+00, 6.000000e+00, -6.000000e+00, 5.000000e-01, -5.000000e-01]> : tensor<10xf4E2M1FN>}> : () -> tensor<10xf4E2M1FN>
    %1 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00, 3.000000e+00, 6.000000e+00, -6.000000e+00, 5.000000e-01, -5.000000e-01]> : tensor<10xf4E2M1FN>}> : () -> tensor<10xf4E2M1FN>
    "func.return"(%0, %1) : (tensor<10xf4E2M1FN>, tensor<10xf4E2M1FN>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_f6_e2m3fn: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<10xf6E2M3FN>, tensor<10xf6E2M3FN>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 1.250000e-01, 1.250000e-01, 3.250000e+00, 7.500000e+00, -7.500000e+00, 1.250000e-01, -1.250000e-01]> : tensor<10xf6E2M3FN>}> : () -> tensor<10xf6E2M3FN>
    %1 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 1.250000e-01, 1.250000e-01, 3.250000e+00, 7.500000e+00, -7.500000e+00, 1.250000e-01, -1.250000e-01]> : tensor<10xf6E2M3FN>}> : () -> tensor<10xf6E2M3FN>
    "func.return"(%0, %1) : (tensor<10xf6E2M3FN>, tensor<10xf6E2M3FN>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_f6_e3m2fn: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<10xf6E3M2FN>, tensor<10xf6E3M2FN>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 1.250000e-01, 1.250000e-01, 3.000000e+00, 2.800000e+01, -2.800000e+01, 6.250000e-02, -6.250000e-02]> : tensor<10xf6E3M2FN>}> : () -> tensor<10xf6E3M2FN>
    %1 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 1.250000e-01, 1.250000e-01, 3.000000e+00, 2.800000e+01, -2.800000e+01, 6.250000e-02, -6.250000e-02]> : tensor<10xf6E3M2FN>}> : () -> tensor<10xf6E3M2FN>
    "func.return"(%0, %1) : (tensor<10xf6E3M2FN>, tensor<10xf6E3M2FN>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_f8_e3m4: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<10xf8E3M4>, tensor<10xf8E3M4>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 1.250000e-01, 9.375000e-02, 3.125000e+00, 0x7F, 0xFF, 1.562500e-02, -1.562500e-02]> : tensor<10xf8E3M4>}> : () -> tensor<10xf8E3M4>
    %1 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 1.250000e-01, 9.375000e-02, 3.125000e+00, 0x7F, 0xFF, 1.562500e-02, -1.562500e-02]> : tensor<10xf8E3M4>}> : () -> tensor<10xf8E3M4>
    "func.return"(%0, %1) : (tensor<10xf8E3M4>, tensor<10xf8E3M4>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_f8_e4m3b11_fnuz: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<10xf8E4M3B11FNUZ>, tensor<10xf8E4M3B11FNUZ>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0.000000e+00, 0.000000e+00, 1.000000e+00, 1.250000e-01, 1.015630e-01, 3.250000e+00, 3.000000e+01, -3.000000e+01, 1.220700e-04, -1.220700e-04]> : tensor<10xf8E4M3B11FNUZ>}> : () -> tensor<10xf8E4M3B11FNUZ>
    %1 = "stablehlo.constant"() <{value = dense<[0.000000e+00, 0.000000e+00, 1.000000e+00, 1.250000e-01, 1.015630e-01, 3.250000e+00, 3.000000e+01, -3.000000e+01, 1.220700e-04, -1.220700e-04]> : tensor<10xf8E4M3B11FNUZ>}> : () -> tensor<10xf8E4M3B11FNUZ>
    "func.return"(%0, %1) : (tensor<10xf8E4M3B11FNUZ>, tensor<10xf8E4M3B11FNUZ>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_f8_e4m3: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<10xf8E4M3>, tensor<10xf8E4M3>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 1.250000e-01, 1.015630e-01, 3.250000e+00, 0x7F, 0xFF, 1.953130e-03, -1.953130e-03]> : tensor<10xf8E4M3>}> : () -> tensor<10xf8E4M3>
    %1 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 1.250000e-01, 1.015630e-01, 3.250000e+00, 0x7F, 0xFF, 1.953130e-03, -1.953130e-03]> : tensor<10xf8E4M3>}> : () -> tensor<10xf8E4M3>
    "func.return"(%0, %1) : (tensor<10xf8E4M3>, tensor<10xf8E4M3>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_f8_e4m3_fn: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<10xf8E4M3FN>, tensor<10xf8E4M3FN>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 1.250000e-01, 1.015630e-01, 3.250000e+00, 0x7F, 0xFF, 1.953130e-03, -1.953130e-03]> : tensor<10xf8E4M3FN>}> : () -> tensor<10xf8E4M3FN>
    %1 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 1.250000e-01, 1.015630e-01, 3.250000e+00, 0x7F, 0xFF, 1.953130e-03, -1.953130e-03]> : tensor<10xf8E4M3FN>}> : () -> tensor<10xf8E4M3FN>
    "func.return"(%0, %1) : (tensor<10xf8E4M3FN>, tensor<10xf8E4M3FN>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_f8_e4m3_fnuz: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<10xf8E4M3FNUZ>, tensor<10xf8E4M3FNUZ>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0.000000e+00, 0.000000e+00, 1.000000e+00, 1.250000e-01, 1.015630e-01, 3.250000e+00, 2.400000e+02, -2.400000e+02, 9.765620e-04, -9.765620e-04]> : tensor<10xf8E4M3FNUZ>}> : () -> tensor<10xf8E4M3FNUZ>
    %1 = "stablehlo.constant"() <{value = dense<[0.000000e+00, 0.000000e+00, 1.000000e+00, 1.250000e-01, 1.015630e-01, 3.250000e+00, 2.400000e+02, -2.400000e+02, 9.765620e-04, -9.765620e-04]> : tensor<10xf8E4M3FNUZ>}> : () -> tensor<10xf8E4M3FNUZ>
    "func.return"(%0, %1) : (tensor<10xf8E4M3FNUZ>, tensor<10xf8E4M3FNUZ>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_f8_e5m2: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<10xf8E5M2>, tensor<10xf8E5M2>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 1.250000e-01, 9.375000e-02, 3.000000e+00, 0x7F, 0xFF, 1.525880e-05, -1.525880e-05]> : tensor<10xf8E5M2>}> : () -> tensor<10xf8E5M2>
    %1 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 1.250000e-01, 9.375000e-02, 3.000000e+00, 0x7F, 0xFF, 1.525880e-05, -1.525880e-05]> : tensor<10xf8E5M2>}> : () -> tensor<10xf8E5M2>
    "func.return"(%0, %1) : (tensor<10xf8E5M2>, tensor<10xf8E5M2>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_f8_e5m2_fnuz: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<10xf8E5M2FNUZ>, tensor<10xf8E5M2FNUZ>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0.000000e+00, 0.000000e+00, 1.000000e+00, 1.250000e-01, 9.375000e-02, 3.000000e+00, 5.734400e+04, -5.734400e+04, 7.629390e-06, -7.629390e-06]> : tensor<10xf8E5M2FNUZ>}> : () -> tensor<10xf8E5M2FNUZ>
    %1 = "stablehlo.constant"() <{value = dense<[0.000000e+00, 0.000000e+00, 1.000000e+00, 1.250000e-01, 9.375000e-02, 3.000000e+00, 5.734400e+04, -5.734400e+04, 7.629390e-06, -7.629390e-06]> : tensor<10xf8E5M2FNUZ>}> : () -> tensor<10xf8E5M2FNUZ>
    "func.return"(%0, %1) : (tensor<10xf8E5M2FNUZ>, tensor<10xf8E5M2FNUZ>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_f8_e5m2_fnuz: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<10xf8E5M2FNUZ>, tensor<10xf8E5M2FNUZ>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0.000000e+00, 0.000000e+00, 1.000000e+00, 1.250000e-01, 9.375000e-02, 3.000000e+00, 5.734400e+04, -5.734400e+04, 7.629390e-06, -7.629390e-06]> : tensor<10xf8E5M2FNUZ>}> : () -> tensor<10xf8E5M2FNUZ>
    %1 = "stablehlo.constant"() <{value = dense<[0.000000e+00, 0.000000e+00, 1.000000e+00, 1.250000e-01, 9.375000e-02, 3.000000e+00, 5.734400e+04, -5.734400e+04, 7.629390e-06, -7.629390e-06]> : tensor<10xf8E5M2FNUZ>}> : () -> tensor<10xf8E5M2FNUZ>
    "func.return"(%0, %1) : (tensor<10xf8E5M2FNUZ>, tensor<10xf8E5M2FNUZ>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_f8_e8m0fnu: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<8xf8E8M0FNU>, tensor<8xf8E8M0FNU>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[5.877470e-39, 1.000000e+00, 1.250000e-01, 1.250000e-01, 4.000000e+00, 5.877470e-39, 2.000000e+00, 0xFF]> : tensor<8xf8E8M0FNU>}> : () -> tensor<8xf8E8M0FNU>
    %1 = "stablehlo.constant"() <{value = dense<[5.877470e-39, 1.000000e+00, 1.250000e-01, 1.250000e-01, 4.000000e+00, 1.175490e-38, 2.000000e+00, 0xFF]> : tensor<8xf8E8M0FNU>}> : () -> tensor<8xf8E8M0FNU>
    "func.return"(%0, %1) : (tensor<8xf8E8M0FNU>, tensor<8xf8E8M0FNU>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_bf16: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<11xbf16>, tensor<11xbf16>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 1.250000e-01, 1.000980e-01, 3.140630e+00, 0x7F80, 0xFF80, 0x7FFF, 9.183550e-41, -9.183550e-41]> : tensor<11xbf16>}> : () -> tensor<11xbf16>
    %1 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 1.250000e-01, 1.000980e-01, 3.140630e+00, 0x7F80, 0xFF80, 0x7FFF, 9.183550e-41, -9.183550e-41]> : tensor<11xbf16>}> : () -> tensor<11xbf16>
    "func.return"(%0, %1) : (tensor<11xbf16>, tensor<11xbf16>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_f16: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<11xf16>, tensor<11xf16>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 1.250000e-01, 9.997550e-02, 3.140630e+00, 0x7C00, 0xFC00, 0x7FFF, 5.960460e-08, -5.960460e-08]> : tensor<11xf16>}> : () -> tensor<11xf16>
    %1 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 1.250000e-01, 9.997550e-02, 3.140630e+00, 0x7C00, 0xFC00, 0x7FFF, 5.960460e-08, -5.960460e-08]> : tensor<11xf16>}> : () -> tensor<11xf16>
    "func.return"(%0, %1) : (tensor<11xf16>, tensor<11xf16>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_f32: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<11xf32>, tensor<11xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 1.250000e-01, 1.000000e-01, 3.14159274, 0x7F800000, 0xFF800000, 0x7FFFFFFF, 1.401300e-45, -1.401300e-45]> : tensor<11xf32>}> : () -> tensor<11xf32>
    %1 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 1.250000e-01, 1.000000e-01, 3.14159274, 0x7F800000, 0xFF800000, 0x7FFFFFFF, 1.401300e-45, -1.401300e-45]> : tensor<11xf32>}> : () -> tensor<11xf32>
    "func.return"(%0, %1) : (tensor<11xf32>, tensor<11xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_f64: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<11xf64>, tensor<11xf64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 1.250000e-01, 1.000000e-01, 3.1415926535897931, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FFFFFFFFFFFFFFF, 4.940660e-324, -4.940660e-324]> : tensor<11xf64>}> : () -> tensor<11xf64>
    %1 = "stablehlo.constant"() <{value = dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 1.250000e-01, 1.000000e-01, 3.1415926535897931, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FFFFFFFFFFFFFFF, 4.940660e-324, -4.940660e-324]> : tensor<11xf64>}> : () -> tensor<11xf64>
    "func.return"(%0, %1) : (tensor<11xf64>, tensor<11xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_c64: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[(1.500000e+00,2.500000e+00), (3.500000e+00,4.500000e+00)]> : tensor<2xcomplex<f32>>}> : () -> tensor<2xcomplex<f32>>
    %1 = "stablehlo.constant"() <{value = dense<[(1.500000e+00,2.500000e+00), (3.500000e+00,4.500000e+00)]> : tensor<2xcomplex<f32>>}> : () -> tensor<2xcomplex<f32>>
    "func.return"(%0, %1) : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// constant_op_test_c128: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[(1.500000e+00,2.500000e+00), (3.500000e+00,4.500000e+00)]> : tensor<2xcomplex<f64>>}> : () -> tensor<2xcomplex<f64>>
    %1 = "stablehlo.constant"() <{value = dense<[(1.500000e+00,2.500000e+00), (3.500000e+00,4.500000e+00)]> : tensor<2xcomplex<f64>>}> : () -> tensor<2xcomplex<f64>>
    "func.return"(%0, %1) : (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>) -> ()
  }) : () -> ()
}) : () -> ()
