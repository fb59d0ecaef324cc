// iota_op_test_si4_dim_0: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x4xi4>, tensor<3x4xi4>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3x4xi4>
    %1 = "stablehlo.constant"() <{value = dense<[[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2]]> : tensor<3x4xi4>}> : () -> tensor<3x4xi4>
    "func.return"(%0, %1) : (tensor<3x4xi4>, tensor<3x4xi4>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_si4_dim_1: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x4xi4>, tensor<3x4xi4>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<3x4xi4>
    %1 = "stablehlo.constant"() <{value = dense<[[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]]> : tensor<3x4xi4>}> : () -> tensor<3x4xi4>
    "func.return"(%0, %1) : (tensor<3x4xi4>, tensor<3x4xi4>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_si8_dim_0: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x4xi8>, tensor<3x4xi8>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3x4xi8>
    %1 = "stablehlo.constant"() <{value = dense<[[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2]]> : tensor<3x4xi8>}> : () -> tensor<3x4xi8>
    "func.return"(%0, %1) : (tensor<3x4xi8>, tensor<3x4xi8>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_si8_dim_1: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x4xi8>, tensor<3x4xi8>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<3x4xi8>
    %1 = "stablehlo.constant"() <{value = dense<[[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]]> : tensor<3x4xi8>}> : () -> tensor<3x4xi8>
    "func.return"(%0, %1) : (tensor<3x4xi8>, tensor<3x4xi8>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_si16_dim_0: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x4xi16>, tensor<3x4xi16>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3x4xi16>
    %1 = "stablehlo.constant"() <{value = dense<[[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2]]> : tensor<3x4xi16>}> : () -> tensor<3x4xi16>
    "func.return"(%0, %1) : (tensor<3x4xi16>, tensor<3x4xi16>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_si16_dim_1: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x4xi16>, tensor<3x4xi16>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<3x4xi16>
    %1 = "stablehlo.constant"() <{value = dense<[[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]]> : tensor<3x4xi16>}> : () -> tensor<3x4xi16>
    "func.return"(%0, %1) : (tensor<3x4xi16>, tensor<3x4xi16>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_si32_dim_0: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x4xi32>, tensor<3x4xi32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3x4xi32>
    %1 = "stablehlo.constant"() <{value = dense<[[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2]]> : tensor<3x4xi32>}> : () -> tensor<3x4xi32>
    "func.return"(%0, %1) : (tensor<3x4xi32>, tensor<3x4xi32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_si32_dim_1: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x4xi32>, tensor<3x4xi32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<3x4xi32>
    %1 = "stablehlo.constant"() <{value = dense<[[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]]> : tensor<3x4xi32>}> : () -> tensor<3x4xi32>
    "func.return"(%0, %1) : (tensor<3x4xi32>, tensor<3x4xi32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_si64_dim_0: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x4xi64>, tensor<3x4xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3x4xi64>
    %1 = "stablehlo.constant"() <{value = dense<[[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2]]> : tensor<3x4xi64>}> : () -> tensor<3x4xi64>
    "func.return"(%0, %1) : (tensor<3x4xi64>, tensor<3x4xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_si64_dim_1: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x4xi64>, tensor<3x4xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<3x4xi64>
    %1 = "stablehlo.constant"() <{value = dense<[[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]]> : tensor<3x4xi64>}> : () -> tensor<3x4xi64>
    "func.return"(%0, %1) : (tensor<3x4xi64>, tensor<3x4xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_ui64_dim_0: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2x3x2xui64>, tensor<2x3x2xui64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2x3x2xui64>
    %1 = "stablehlo.constant"() <{value = dense<[[[0, 0], [0, 0], [0, 0]], [[1, 1], [1, 1], [1, 1]]]> : tensor<2x3x2xui64>}> : () -> tensor<2x3x2xui64>
    "func.return"(%0, %1) : (tensor<2x3x2xui64>, tensor<2x3x2xui64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_ui64_dim_1: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2x3x2xui64>, tensor<2x3x2xui64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2x3x2xui64>
    %1 = "stablehlo.constant"() <{value = dense<[[[0, 0], [1, 1], [2, 2]], [[0, 0], [1, 1], [2, 2]]]> : tensor<2x3x2xui64>}> : () -> tensor<2x3x2xui64>
    "func.return"(%0, %1) : (tensor<2x3x2xui64>, tensor<2x3x2xui64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_ui64_dim_2: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2x3x2xui64>, tensor<2x3x2xui64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 2 : i64}> : () -> tensor<2x3x2xui64>
    %1 = "stablehlo.constant"() <{value = dense<[[[0, 1], [0, 1], [0, 1]], [[0, 1], [0, 1], [0, 1]]]> : tensor<2x3x2xui64>}> : () -> tensor<2x3x2xui64>
    "func.return"(%0, %1) : (tensor<2x3x2xui64>, tensor<2x3x2xui64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_bf16_dim_0: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x4xbf16>, tensor<3x4xbf16>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3x4xbf16>
    %1 = "stablehlo.constant"() <{value = dense<[[0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00], [2.000000e+00, 2.000000e+00, 2.000000e+00, 2.000000e+00]]> : tensor<3x4xbf16>}> : () -> tensor<3x4xbf16>
    "func.return"(%0, %1) : (tensor<3x4xbf16>, tensor<3x4xbf16>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_bf16_dim_1: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x4xbf16>, tensor<3x4xbf16>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<3x4xbf16>
    %1 = "stablehlo.constant"() <{value = dense<[[0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00], [0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00], [0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00]]> : tensor<3x4xbf16>}> : () -> tensor<3x4xbf16>
    "func.return"(%0, %1) : (tensor<3x4xbf16>, tensor<3x4xbf16>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_f16_dim_0: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x4xf16>, tensor<3x4xf16>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3x4xf16>
    %1 = "stablehlo.constant"() <{value = dense<[[0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00], [2.000000e+00, 2.000000e+00, 2.000000e+00, 2.000000e+00]]> : tensor<3x4xf16>}> : () -> tensor<3x4xf16>
    "func.return"(%0, %1) : (tensor<3x4xf16>, tensor<3x4xf16>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_f16_dim_1: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x4xf16>, tensor<3x4xf16>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<3x4xf16>
    %1 = "stablehlo.constant"() <{value = dense<[[0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00], [0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00], [0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00]]> : tensor<3x4xf16>}> : () -> tensor<3x4xf16>
    "func.return"(%0, %1) : (tensor<3x4xf16>, tensor<3x4xf16>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_f32_dim_0: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x4xf32>, tensor<3x4xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3x4xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00], [2.000000e+00, 2.000000e+00, 2.000000e+00, 2.000000e+00]]> : tensor<3x4xf32>}> : () -> tensor<3x4xf32>
    "func.return"(%0, %1) : (tensor<3x4xf32>, tensor<3x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_f32_dim_1: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x4xf32>, tensor<3x4xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<3x4xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00], [0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00], [0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00]]> : tensor<3x4xf32>}> : () -> tensor<3x4xf32>
    "func.return"(%0, %1) : (tensor<3x4xf32>, tensor<3x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_f64_dim_0: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x4xf64>, tensor<3x4xf64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3x4xf64>
    %1 = "stablehlo.constant"() <{value = dense<[[0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00], [2.000000e+00, 2.000000e+00, 2.000000e+00, 2.000000e+00]]> : tensor<3x4xf64>}> : () -> tensor<3x4xf64>
    "func.return"(%0, %1) : (tensor<3x4xf64>, tensor<3x4xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_f64_dim_1: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x4xf64>, tensor<3x4xf64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<3x4xf64>
    %1 = "stablehlo.constant"() <{value = dense<[[0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00], [0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00], [0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00]]> : tensor<3x4xf64>}> : () -> tensor<3x4xf64>
    "func.return"(%0, %1) : (tensor<3x4xf64>, tensor<3x4xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_c64_dim_0: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3x4xcomplex<f32>>
    %1 = "stablehlo.constant"() <{value = dense<[[(0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)], [(1.000000e+00,0.000000e+00), (1.000000e+00,0.000000e+00), (1.000000e+00,0.000000e+00), (1.000000e+00,0.000000e+00)], [(2.000000e+00,0.000000e+00), (2.000000e+00,0.000000e+00), (2.000000e+00,0.000000e+00), (2.000000e+00,0.000000e+00)]]> : tensor<3x4xcomplex<f32>>}> : () -> tensor<3x4xcomplex<f32>>
    "func.return"(%0, %1) : (tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_c64_dim_1: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<3x4xcomplex<f32>>
    %1 = "stablehlo.constant"() <{value = dense<[[(0.000000e+00,0.000000e+00), (1.000000e+00,0.000000e+00), (2.000000e+00,0.000000e+00), (3.000000e+00,0.000000e+00)], [(0.000000e+00,0.000000e+00), (1.000000e+00,0.000000e+00), (2.000000e+00,0.000000e+00), (3.000000e+00,0.000000e+00)], [(0.000000e+00,0.000000e+00), (1.000000e+00,0.000000e+00), (2.000000e+00,0.000000e+00), (3.000000e+00,0.000000e+00)]]> : tensor<3x4xcomplex<f32>>}> : () -> tensor<3x4xcomplex<f32>>
    "func.return"(%0, %1) : (tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_c128_dim_0: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x4xcomplex<f64>>, tensor<3x4xcomplex<f64>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3x4xcomplex<f64>>
    %1 = "stablehlo.constant"() <{value = dense<[[(0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)], [(1.000000e+00,0.000000e+00), (1.000000e+00,0.000000e+00), (1.000000e+00,0.000000e+00), (1.000000e+00,0.000000e+00)], [(2.000000e+00,0.000000e+00), (2.000000e+00,0.000000e+00), (2.000000e+00,0.000000e+00), (2.000000e+00,0.000000e+00)]]> : tensor<3x4xcomplex<f64>>}> : () -> tensor<3x4xcomplex<f64>>
    "func.return"(%0, %1) : (tensor<3x4xcomplex<f64>>, tensor<3x4xcomplex<f64>>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// iota_op_test_c128_dim_1: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x4xcomplex<f64>>, tensor<3x4xcomplex<f64>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<3x4xcomplex<f64>>
    %1 = "stablehlo.constant"() <{value = dense<[[(0.000000e+00,0.000000e+00), (1.000000e+00,0.000000e+00), (2.000000e+00,0.000000e+00), (3.000000e+00,0.000000e+00)], [(0.000000e+00,0.000000e+00), (1.000000e+00,0.000000e+00), (2.000000e+00,0.000000e+00), (3.000000e+00,0.000000e+00)], [(0.000000e+00,0.000000e+00), (1.000000e+00,0.000000e+00), (2.000000e+00,0.000000e+00), (3.000000e+00,0.000000e+00)]]> : tensor<3x4xcomplex<f64>>}> : () -> tensor<3x4xcomplex<f64>>
    "func.return"(%0, %1) : (tensor<3x4xcomplex<f64>>, tensor<3x4xcomplex<f64>>) -> ()
  }) : () -> ()
}) : () -> ()
