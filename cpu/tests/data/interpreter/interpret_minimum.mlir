// min_op_test_si4: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<5xi4>, tensor<5xi4>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 1, 2, -3, 0]> : tensor<5xi4>}> : () -> tensor<5xi4>
    %1 = "stablehlo.constant"() <{value = dense<[-8, -1, 2, -3, 7]> : tensor<5xi4>}> : () -> tensor<5xi4>
    %2 = "stablehlo.minimum"(%0, %1) : (tensor<5xi4>, tensor<5xi4>) -> tensor<5xi4>
    %3 = "stablehlo.constant"() <{value = dense<[-8, -1, 2, -3, 0]> : tensor<5xi4>}> : () -> tensor<5xi4>
    "func.return"(%2, %3) : (tensor<5xi4>, tensor<5xi4>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// min_op_test_ui4: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xui4>, tensor<2xui4>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 2]> : tensor<2xui4>}> : () -> tensor<2xui4>
    %1 = "stablehlo.constant"() <{value = dense<[15, 3]> : tensor<2xui4>}> : () -> tensor<2xui4>
    %2 = "stablehlo.minimum"(%0, %1) : (tensor<2xui4>, tensor<2xui4>) -> tensor<2xui4>
    %3 = "stablehlo.constant"() <{value = dense<[0, 2]> : tensor<2xui4>}> : () -> tensor<2xui4>
    "func.return"(%2, %3) : (tensor<2xui4>, tensor<2xui4>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// min_op_test_si8: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<5xi8>, tensor<5xi8>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 1, 8, -9, 0]> : tensor<5xi8>}> : () -> tensor<5xi8>
    %1 = "stablehlo.constant"() <{value = dense<[-128, -1, 8, -9, 127]> : tensor<5xi8>}> : () -> tensor<5xi8>
    %2 = "stablehlo.minimum"(%0, %1) : (tensor<5xi8>, tensor<5xi8>) -> tensor<5xi8>
    %3 = "stablehlo.constant"() <{value = dense<[-128, -1, 8, -9, 0]> : tensor<5xi8>}> : () -> tensor<5xi8>
    "func.return"(%2, %3) : (tensor<5xi8>, tensor<5xi8>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// min_op_test_ui8: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xui8>, tensor<2xui8>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 16]> : tensor<2xui8>}> : () -> tensor<2xui8>
    %1 = "stablehlo.constant"() <{value = dense<[255, 16]> : tensor<2xui8>}> : () -> tensor<2xui8>
    %2 = "stablehlo.minimum"(%0, %1) : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xui8>
    %3 = "stablehlo.constant"() <{value = dense<[0, 16]> : tensor<2xui8>}> : () -> tensor<2xui8>
    "func.return"(%2, %3) : (tensor<2xui8>, tensor<2xui8>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// min_op_test_si16: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<5xi16>, tensor<5xi16>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 1, 128, -129, 0]> : tensor<5xi16>}> : () -> tensor<5xi16>
    %1 = "stablehlo.constant"() <{value = dense<[-32768, -1, 128, -129, 32767]> : tensor<5xi16>}> : () -> tensor<5xi16>
    %2 = "stablehlo.minimum"(%0, %1) : (tensor<5xi16>, tensor<5xi16>) -> tensor<5xi16>
    %3 = "stablehlo.constant"() <{value = dense<[-32768, -1, 128, -129, 0]> : tensor<5xi16>}> : () -> tensor<5xi16>
    "func.return"(%2, %3) : (tensor<5xi16>, tensor<5xi16>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// min_op_test_ui16: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xui16>, tensor<2xui16>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 256]> : tensor<2xui16>}> : () -> tensor<2xui16>
    %1 = "stablehlo.constant"() <{value = dense<[65535, 256]> : tensor<2xui16>}> : () -> tensor<2xui16>
    %2 = "stablehlo.minimum"(%0, %1) : (tensor<2xui16>, tensor<2xui16>) -> tensor<2xui16>
    %3 = "stablehlo.constant"() <{value = dense<[0, 256]> : tensor<2xui16>}> : () -> tensor<2xui16>
    "func.return"(%2, %3) : (tensor<2xui16>, tensor<2xui16>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// min_op_test_si32: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<5xi32>, tensor<5xi32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 1, 32768, -32769, 0]> : tensor<5xi32>}> : () -> tensor<5xi32>
    %1 = "stablehlo.constant"() <{value = dense<[-2147483648, -1, 32768, -32769, 2147483647]> : tensor<5xi32>}> : () -> tensor<5xi32>
    %2 = "stablehlo.minimum"(%0, %1) : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>
    %3 = "stablehlo.constant"() <{value = dense<[-2147483648, -1, 32768, -32769, 0]> : tensor<5xi32>}> : () -> tensor<5xi32>
    "func.return"(%2, %3) : (tensor<5xi32>, tensor<5xi32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// min_op_test_ui32: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xui32>, tensor<2xui32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 65536]> : tensor<2xui32>}> : () -> tensor<2xui32>
    %1 = "stablehlo.constant"() <{value = dense<[4294967295, 65536]> : tensor<2xui32>}> : () -> tensor<2xui32>
    %2 = "stablehlo.minimum"(%0, %1) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %3 = "stablehlo.constant"() <{value = dense<[0, 65536]> : tensor<2xui32>}> : () -> tensor<2xui32>
    "func.return"(%2, %3) : (tensor<2xui32>, tensor<2xui32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// min_op_test_si64: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<5xi64>, tensor<5xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 1, 2147483648, -2147483649, 0]> : tensor<5xi64>}> : () -> tensor<5xi64>
    %1 = "stablehlo.constant"() <{value = dense<[-9223372036854775808, -1, 2147483648, -2147483649, 9223372036854775807]> : tensor<5xi64>}> : () -> tensor<5xi64>
    %2 = "stablehlo.minimum"(%0, %1) : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi64>
    %3 = "stablehlo.constant"() <{value = dense<[-9223372036854775808, -1, 2147483648, -2147483649, 0]> : tensor<5xi64>}> : () -> tensor<5xi64>
    "func.return"(%2, %3) : (tensor<5xi64>, tensor<5xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// min_op_test_ui64: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xui64>, tensor<2xui64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 4294967296]> : tensor<2xui64>}> : () -> tensor<2xui64>
    %1 = "stablehlo.constant"() <{value = dense<[18446744073709551615, 4294967296]> : tensor<2xui64>}> : () -> tensor<2xui64>
    %2 = "stablehlo.minimum"(%0, %1) : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xui64>
    %3 = "stablehlo.constant"() <{value = dense<[0, 4294967296]> : tensor<2xui64>}> : () -> tensor<2xui64>
    "func.return"(%2, %3) : (tensor<2xui64>, tensor<2xui64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// min_op_test_i1: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<4xi1>, tensor<4xi1>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[false, false, true, true]> : tensor<4xi1>}> : () -> tensor<4xi1>
    %1 = "stablehlo.constant"() <{value = dense<[false, true, false, true]> : tensor<4xi1>}> : () -> tensor<4xi1>
    %2 = "stablehlo.minimum"(%0, %1) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    %3 = "stablehlo.constant"() <{value = dense<[false, false, false, true]> : tensor<4xi1>}> : () -> tensor<4xi1>
    "func.return"(%2, %3) : (tensor<4xi1>, tensor<4xi1>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// min_op_test_bf16: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<11xbf16>, tensor<11xbf16>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0xFF80, 0xFF80, -1.000000e+00, -9.183550e-41, 0.000000e+00, 0.000000e+00, 9.183550e-41, 1.000000e+00, 0x7F80, 0x7F80, 0x7FC0]> : tensor<11xbf16>}> : () -> tensor<11xbf16>
    %1 = "stablehlo.constant"() <{value = dense<[0xFF80, -1.000000e+00, -9.183550e-41, -0.000000e+00, -0.000000e+00, 9.183550e-41, 1.000000e+00, 0x7F80, 0x7F80, 0xFF80, 0x7F80]> : tensor<11xbf16>}> : () -> tensor<11xbf16>
    %2 = "stablehlo.minimum"(%0, %1) : (tensor<11xbf16>, tensor<11xbf16>) -> tensor<11xbf16>
    %3 = "stablehlo.constant"() <{value = dense<[0xFF80, 0xFF80, -1.000000e+00, -9.183550e-41, -0.000000e+00, 0.000000e+00, 9.183550e-41, 1.000000e+00, 0x7F80, 0xFF80, 0x7FC0]> : tensor<11xbf16>}> : () -> tensor<11xbf16>
    "func.return"(%2, %3) : (tensor<11xbf16>, tensor<11xbf16>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// min_op_test_f16: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<11xf16>, tensor<11xf16>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0xFC00, 0xFC00, -1.000000e+00, -5.960460e-08, 0.000000e+00, 0.000000e+00, 5.960460e-08, 1.000000e+00, 0x7C00, 0x7C00, 0x7E00]> : tensor<11xf16>}> : () -> tensor<11xf16>
    %1 = "stablehlo.constant"() <{value = dense<[0xFC00, -1.000000e+00, -5.960460e-08, -0.000000e+00, -0.000000e+00, 5.960460e-08, 1.000000e+00, 0x7C00, 0x7C00, 0xFC00, 0x7C00]> : tensor<11xf16>}> : () -> tensor<11xf16>
    %2 = "stablehlo.minimum"(%0, %1) : (tensor<11xf16>, tensor<11xf16>) -> tensor<11xf16>
    %3 = "stablehlo.constant"() <{value = dense<[0xFC00, 0xFC00, -1.000000e+00, -5.960460e-08, -0.000000e+00, 0.000000e+00, 5.960460e-08, 1.000000e+00, 0x7C00, 0xFC00, 0x7E00]> : tensor<11xf16>}> : () -> tensor<11xf16>
    "func.return"(%2, %3) : (tensor<11xf16>, tensor<11xf16>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// min_op_test_f32: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<11xf32>, tensor<11xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0xFF800000, 0xFF800000, -1.000000e+00, -1.401300e-45, 0.000000e+00, 0.000000e+00, 1.401300e-45, 1.000000e+00, 0x7F800000, 0x7F800000, 0x7FC00000]> : tensor<11xf32>}> : () -> tensor<11xf32>
    %1 = "stablehlo.constant"() <{value = dense<[0xFF800000, -1.000000e+00, -1.401300e-45, -0.000000e+00, -0.000000e+00, 1.401300e-45, 1.000000e+00, 0x7F800000, 0x7F800000, 0xFF800000, 0x7F800000]> : tensor<11xf32>}> : () -> tensor<11xf32>
    %2 = "stablehlo.minimum"(%0, %1) : (tensor<11xf32>, tensor<11xf32>) -> tensor<11xf32>
    %3 = "stablehlo.constant"() <{value = dense<[0xFF800000, 0xFF800000, -1.000000e+00, -1.401300e-45, -0.000000e+00, 0.000000e+00, 1.401300e-45, 1.000000e+00, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<11xf32>}> : () -> tensor<11xf32>
    "func.return"(%2, %3) : (tensor<11xf32>, tensor<11xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// min_op_test_f64: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<11xf64>, tensor<11xf64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0xFFF0000000000000, 0xFFF0000000000000, -1.000000e+00, -4.940660e-324, 0.000000e+00, 0.000000e+00, 4.940660e-324, 1.000000e+00, 0x7FF0000000000000, 0x7FF0000000000000, 0x7FF8000000000000]> : tensor<11xf64>}> : () -> tensor<11xf64>
    %1 = "stablehlo.constant"() <{value = dense<[0xFFF0000000000000, -1.000000e+00, -4.940660e-324, -0.000000e+00, -0.000000e+00, 4.940660e-324, 1.000000e+00, 0x7FF0000000000000, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF0000000000000]> : tensor<11xf64>}> : () -> tensor<11xf64>
    %2 = "stablehlo.minimum"(%0, %1) : (tensor<11xf64>, tensor<11xf64>) -> tensor<11xf64>
    %3 = "stablehlo.constant"() <{value = dense<[0xFFF0000000000000, 0xFFF0000000000000, -1.000000e+00, -4.940660e-324, -0.000000e+00, 0.000000e+00, 4.940660e-324, 1.000000e+00, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000]> : tensor<11xf64>}> : () -> tensor<11xf64>
    "func.return"(%2, %3) : (tensor<11xf64>, tensor<11xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// min_op_test_c64: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[(1.500000e+00,2.500000e+00), (1.500000e+00,7.500000e+00), (0.000000e+00,1.500000e+00), (0.000000e+00,1.500000e+00)]> : tensor<4xcomplex<f32>>}> : () -> tensor<4xcomplex<f32>>
    %1 = "stablehlo.constant"() <{value = dense<[(7.500000e+00,1.500000e+00), (1.500000e+00,2.500000e+00), (-0.000000e+00,2.500000e+00), (0.000000e+00,1.500000e+00)]> : tensor<4xcomplex<f32>>}> : () -> tensor<4xcomplex<f32>>
    %2 = "stablehlo.minimum"(%0, %1) : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    %3 = "stablehlo.constant"() <{value = dense<[(1.500000e+00,2.500000e+00), (1.500000e+00,2.500000e+00), (0.000000e+00,1.500000e+00), (0.000000e+00,1.500000e+00)]> : tensor<4xcomplex<f32>>}> : () -> tensor<4xcomplex<f32>>
    "func.return"(%2, %3) : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// min_op_test_c128: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[(1.500000e+00,2.500000e+00), (1.500000e+00,7.500000e+00), (0.000000e+00,1.500000e+00), (0.000000e+00,1.500000e+00)]> : tensor<4xcomplex<f64>>}> : () -> tensor<4xcomplex<f64>>
    %1 = "stablehlo.constant"() <{value = dense<[(7.500000e+00,1.500000e+00), (1.500000e+00,2.500000e+00), (-0.000000e+00,2.500000e+00), (0.000000e+00,1.500000e+00)]> : tensor<4xcomplex<f64>>}> : () -> tensor<4xcomplex<f64>>
    %2 = "stablehlo.minimum"(%0, %1) : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>>
    %3 = "stablehlo.constant"() <{value = dense<[(1.500000e+00,2.500000e+00), (1.500000e+00,2.500000e+00), (0.000000e+00,1.500000e+00), (0.000000e+00,1.500000e+00)]> : tensor<4xcomplex<f64>>}> : () -> tensor<4xcomplex<f64>>
    "func.return"(%2, %3) : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
  }) : () -> ()
}) : () -> ()
