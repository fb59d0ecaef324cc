// fft_op_test_fft_1d_c128: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[(1.000000e+00,2.000000e+00), (3.000000e+00,-4.000000e+00)]> : tensor<2xcomplex<f64>>}> : () -> tensor<2xcomplex<f64>>
    %1 = "stablehlo.fft"(%0) <{fft_length = array<i64: 2>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<2xcomplex<f64>>) -> tensor<2xcomplex<f64>>
    %2 = "stablehlo.constant"() <{value = dense<[(4.000000e+00,-2.000000e+00), (-2.000000e+00,6.000000e+00)]> : tensor<2xcomplex<f64>>}> : () -> tensor<2xcomplex<f64>>
    "func.return"(%1, %2) : (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// fft_op_test_fft_2d_c128: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[(1.000000e+00,2.000000e+00), (3.000000e+00,-4.000000e+00)], [(-5.000000e+00,6.000000e+00), (-7.000000e+00,-8.000000e+00)]]> : tensor<2x2xcomplex<f64>>}> : () -> tensor<2x2xcomplex<f64>>
    %1 = "stablehlo.fft"(%0) <{fft_length = array<i64: 2, 2>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %2 = "stablehlo.constant"() <{value = dense<[[(-8.000000e+00,-4.000000e+00), (0.000000e+00,2.000000e+01)], [(1.600000e+01,0.000000e+00), (-4.000000e+00,-8.000000e+00)]]> : tensor<2x2xcomplex<f64>>}> : () -> tensor<2x2xcomplex<f64>>
    "func.return"(%1, %2) : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// fft_op_test_fft_3d_c128: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2x2x2xcomplex<f64>>, tensor<2x2x2xcomplex<f64>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[[(1.000000e+00,2.000000e+00), (3.000000e+00,-4.000000e+00)], [(-5.000000e+00,6.000000e+00), (-7.000000e+00,-8.000000e+00)]], [[(-1.000000e+00,-2.000000e+00), (-3.000000e+00,4.000000e+00)], [(5.000000e+00,-6.000000e+00), (7.000000e+00,8.000000e+00)]]]> : tensor<2x2x2xcomplex<f64>>}> : () -> tensor<2x2x2xcomplex<f64>>
    %1 = "stablehlo.fft"(%0) <{fft_length = array<i64: 2, 2, 2>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<2x2x2xcomplex<f64>>) -> tensor<2x2x2xcomplex<f64>>
    %2 = "stablehlo.constant"() <{value = dense<[[[(0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)], [(0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)]], [[(-1.600000e+01,-8.000000e+00), (0.000000e+00,4.000000e+01)], [(3.200000e+01,0.000000e+00), (-8.000000e+00,-1.600000e+01)]]]> : tensor<2x2x2xcomplex<f64>>}> : () -> tensor<2x2x2xcomplex<f64>>
    "func.return"(%1, %2) : (tensor<2x2x2xcomplex<f64>>, tensor<2x2x2xcomplex<f64>>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// fft_op_test_ifft_1d_c128: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[(4.000000e+00,-2.000000e+00), (-2.000000e+00,6.000000e+00)]> : tensor<2xcomplex<f64>>}> : () -> tensor<2xcomplex<f64>>
    %1 = "stablehlo.fft"(%0) <{fft_length = array<i64: 2>, fft_type = #stablehlo<fft_type IFFT>}> : (tensor<2xcomplex<f64>>) -> tensor<2xcomplex<f64>>
    %2 = "stablehlo.constant"() <{value = dense<[(1.000000e+00,2.000000e+00), (3.000000e+00,-4.000000e+00)]> : tensor<2xcomplex<f64>>}> : () -> tensor<2xcomplex<f64>>
    "func.return"(%1, %2) : (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// fft_op_test_ifft_2d_c128: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[(-8.000000e+00,-4.000000e+00), (1.600000e+01,0.000000e+00)], [(0.000000e+00,2.000000e+01), (-4.000000e+00,-8.000000e+00)]]> : tensor<2x2xcomplex<f64>>}> : () -> tensor<2x2xcomplex<f64>>
    %1 = "stablehlo.fft"(%0) <{fft_length = array<i64: 2, 2>, fft_type = #stablehlo<fft_type IFFT>}> : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %2 = "stablehlo.constant"() <{value = dense<[[(1.000000e+00,2.000000e+00), (-5.000000e+00,6.000000e+00)], [(3.000000e+00,-4.000000e+00), (-7.000000e+00,-8.000000e+00)]]> : tensor<2x2xcomplex<f64>>}> : () -> tensor<2x2xcomplex<f64>>
    "func.return"(%1, %2) : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// fft_op_test_ifft_3d_c128: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2x2x2xcomplex<f64>>, tensor<2x2x2xcomplex<f64>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[[(0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)], [(0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)]], [[(-1.600000e+01,-8.000000e+00), (3.200000e+01,0.000000e+00)], [(0.000000e+00,4.000000e+01), (-8.000000e+00,-1.600000e+01)]]]> : tensor<2x2x2xcomplex<f64>>}> : () -> tensor<2x2x2xcomplex<f64>>
    %1 = "stablehlo.fft"(%0) <{fft_length = array<i64: 2, 2, 2>, fft_type = #stablehlo<fft_type IFFT>}> : (tensor<2x2x2xcomplex<f64>>) -> tensor<2x2x2xcomplex<f64>>
    %2 = "stablehlo.constant"() <{value = dense<[[[(1.000000e+00,2.000000e+00), (-5.000000e+00,6.000000e+00)], [(3.000000e+00,-4.000000e+00), (-7.000000e+00,-8.000000e+00)]], [[(-1.000000e+00,-2.000000e+00), (5.000000e+00,-6.000000e+00)], [(-3.000000e+00,4.000000e+00), (7.000000e+00,8.000000e+00)]]]> : tensor<2x2x2xcomplex<f64>>}> : () -> tensor<2x2x2xcomplex<f64>>
    "func.return"(%1, %2) : (tensor<2x2x2xcomplex<f64>>, tensor<2x2x2xcomplex<f64>>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// fft_op_test_rfft_1d_f64: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf64>}> : () -> tensor<4xf64>
    %1 = "stablehlo.fft"(%0) <{fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type RFFT>}> : (tensor<4xf64>) -> tensor<3xcomplex<f64>>
    %2 = "stablehlo.constant"() <{value = dense<[(1.000000e+01,0.000000e+00), (-2.000000e+00,2.000000e+00), (-2.000000e+00,0.000000e+00)]> : tensor<3xcomplex<f64>>}> : () -> tensor<3xcomplex<f64>>
    "func.return"(%1, %2) : (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// fft_op_test_rfft_2d_f64: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<4x3xcomplex<f64>>, tensor<4x3xcomplex<f64>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00, 7.000000e+00, 8.000000e+00], [9.000000e+00, 1.000000e+01, 1.100000e+01, 1.200000e+01], [1.300000e+01, 1.400000e+01, 1.500000e+01, 1.600000e+01]]> : tensor<4x4xf64>}> : () -> tensor<4x4xf64>
    %1 = "stablehlo.fft"(%0) <{fft_length = array<i64: 4, 4>, fft_type = #stablehlo<fft_type RFFT>}> : (tensor<4x4xf64>) -> tensor<4x3xcomplex<f64>>
    %2 = "stablehlo.constant"() <{value = dense<[[(1.360000e+02,0.000000e+00), (-8.000000e+00,8.000000e+00), (-8.000000e+00,0.000000e+00)], [(-3.200000e+01,3.200000e+01), (0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)], [(-3.200000e+01,0.000000e+00), (0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)], [(-3.200000e+01,-3.200000e+01), (0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)]]> : tensor<4x3xcomplex<f64>>}> : () -> tensor<4x3xcomplex<f64>>
    "func.return"(%1, %2) : (tensor<4x3xcomplex<f64>>, tensor<4x3xcomplex<f64>>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// fft_op_test_rfft_3d_f64: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2x2x3xcomplex<f64>>, tensor<2x2x3xcomplex<f64>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00, 7.000000e+00, 8.000000e+00]], [[9.000000e+00, 1.000000e+01, 1.100000e+01, 1.200000e+01], [1.300000e+01, 1.400000e+01, 1.500000e+01, 1.600000e+01]]]> : tensor<2x2x4xf64>}> : () -> tensor<2x2x4xf64>
    %1 = "stablehlo.fft"(%0) <{fft_length = array<i64: 2, 2, 4>, fft_type = #stablehlo<fft_type RFFT>}> : (tensor<2x2x4xf64>) -> tensor<2x2x3xcomplex<f64>>
    %2 = "stablehlo.constant"() <{value = dense<[[[(1.360000e+02,0.000000e+00), (-8.000000e+00,8.000000e+00), (-8.000000e+00,0.000000e+00)], [(-3.200000e+01,0.000000e+00), (0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)]], [[(-6.400000e+01,0.000000e+00), (0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)], [(0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)]]]> : tensor<2x2x3xcomplex<f64>>}> : () -> tensor<2x2x3xcomplex<f64>>
    "func.return"(%1, %2) : (tensor<2x2x3xcomplex<f64>>, tensor<2x2x3xcomplex<f64>>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// fft_op_test_irfft_1d_c128: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<4xf64>, tensor<4xf64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[(1.000000e+01,0.000000e+00), (-2.000000e+00,2.000000e+00), (-2.000000e+00,0.000000e+00)]> : tensor<3xcomplex<f64>>}> : () -> tensor<3xcomplex<f64>>
    %1 = "stablehlo.fft"(%0) <{fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type IRFFT>}> : (tensor<3xcomplex<f64>>) -> tensor<4xf64>
    %2 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf64>}> : () -> tensor<4xf64>
    "func.return"(%1, %2) : (tensor<4xf64>, tensor<4xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// fft_op_test_irfft_2d_c128: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<4x4xf64>, tensor<4x4xf64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[(1.360000e+02,0.000000e+00), (-8.000000e+00,8.000000e+00), (-8.000000e+00,0.000000e+00)], [(-3.200000e+01,3.200000e+01), (0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)], [(-3.200000e+01,0.000000e+00), (0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)], [(-3.200000e+01,-3.200000e+01), (0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)]]> : tensor<4x3xcomplex<f64>>}> : () -> tensor<4x3xcomplex<f64>>
    %1 = "stablehlo.fft"(%0) <{fft_length = array<i64: 4, 4>, fft_type = #stablehlo<fft_type IRFFT>}> : (tensor<4x3xcomplex<f64>>) -> tensor<4x4xf64>
    %2 = "stablehlo.constant"() <{value = dense<[[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00, 7.000000e+00, 8.000000e+00], [9.000000e+00, 1.000000e+01, 1.100000e+01, 1.200000e+01], [1.300000e+01, 1.400000e+01, 1.500000e+01, 1.600000e+01]]> : tensor<4x4xf64>}> : () -> tensor<4x4xf64>
    "func.return"(%1, %2) : (tensor<4x4xf64>, tensor<4x4xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// fft_op_test_irfft_3d_c128: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2x2x4xf64>, tensor<2x2x4xf64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[[(1.360000e+02,0.000000e+00), (-8.000000e+00,8.000000e+00), (-8.000000e+00,0.000000e+00)], [(-3.200000e+01,0.000000e+00), (0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)]], [[(-6.400000e+01,0.000000e+00), (0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)], [(0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)]]]> : tensor<2x2x3xcomplex<f64>>}> : () -> tensor<2x2x3xcomplex<f64>>
    %1 = "stablehlo.fft"(%0) <{fft_length = array<i64: 2, 2, 4>, fft_type = #stablehlo<fft_type IRFFT>}> : (tensor<2x2x3xcomplex<f64>>) -> tensor<2x2x4xf64>
    %2 = "stablehlo.constant"() <{value = dense<[[[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00, 7.000000e+00, 8.000000e+00]], [[9.000000e+00, 1.000000e+01, 1.100000e+01, 1.200000e+01], [1.300000e+01, 1.400000e+01, 1.500000e+01, 1.600000e+01]]]> : tensor<2x2x4xf64>}> : () -> tensor<2x2x4xf64>
    "func.return"(%1, %2) : (tensor<2x2x4xf64>, tensor<2x2x4xf64>) -> ()
  }) : () -> ()
}) : () -> ()
