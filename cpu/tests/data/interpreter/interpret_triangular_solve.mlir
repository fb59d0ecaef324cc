// triangular_solve_op_test_real_3x3_diagonal_left_lower: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x1xf32>, tensor<3x1xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[2.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 4.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 5.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00], [8.000000e+00], [9.000000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[3.500000e+00], [2.000000e+00], [1.800000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    "func.return"(%2, %3) : (tensor<3x1xf32>, tensor<3x1xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_diagonal_left_upper: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x1xf32>, tensor<3x1xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[2.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 4.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 5.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00], [8.000000e+00], [9.000000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[3.500000e+00], [2.000000e+00], [1.800000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    "func.return"(%2, %3) : (tensor<3x1xf32>, tensor<3x1xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_diagonal_right_lower: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<1x3xf32>, tensor<1x3xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[2.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 4.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 5.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00, 8.000000e+00, 9.000000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[3.500000e+00, 2.000000e+00, 1.800000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    "func.return"(%2, %3) : (tensor<1x3xf32>, tensor<1x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_diagonal_right_upper: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<1x3xf32>, tensor<1x3xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[2.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 4.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 5.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00, 8.000000e+00, 9.000000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[3.500000e+00, 2.000000e+00, 1.800000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    "func.return"(%2, %3) : (tensor<1x3xf32>, tensor<1x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_diagonal_left_lower_unit_diagonal: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x1xf32>, tensor<3x1xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[2.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 4.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 5.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00], [8.000000e+00], [9.000000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[7.000000e+00], [8.000000e+00], [9.000000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    "func.return"(%2, %3) : (tensor<3x1xf32>, tensor<3x1xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_diagonal_left_upper_unit_diagonal: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x1xf32>, tensor<3x1xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[2.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 4.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 5.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00], [8.000000e+00], [9.000000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[7.000000e+00], [8.000000e+00], [9.000000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    "func.return"(%2, %3) : (tensor<3x1xf32>, tensor<3x1xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_diagonal_right_lower_unit_diagonal: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<1x3xf32>, tensor<1x3xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[2.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 4.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 5.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00, 8.000000e+00, 9.000000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[7.000000e+00, 8.000000e+00, 9.000000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    "func.return"(%2, %3) : (tensor<1x3xf32>, tensor<1x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_diagonal_right_upper_unit_diagonal: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<1x3xf32>, tensor<1x3xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[2.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 4.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 5.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00, 8.000000e+00, 9.000000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[7.000000e+00, 8.000000e+00, 9.000000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    "func.return"(%2, %3) : (tensor<1x3xf32>, tensor<1x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_diagonal_left_lower_transpose: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x1xf32>, tensor<3x1xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[2.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 4.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 5.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00], [8.000000e+00], [9.000000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[3.500000e+00], [2.000000e+00], [1.800000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    "func.return"(%2, %3) : (tensor<3x1xf32>, tensor<3x1xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_diagonal_left_upper_transpose: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x1xf32>, tensor<3x1xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[2.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 4.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 5.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00], [8.000000e+00], [9.000000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[3.500000e+00], [2.000000e+00], [1.800000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    "func.return"(%2, %3) : (tensor<3x1xf32>, tensor<3x1xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_diagonal_right_lower_transpose: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<1x3xf32>, tensor<1x3xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[2.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 4.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 5.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00, 8.000000e+00, 9.000000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[3.500000e+00, 2.000000e+00, 1.800000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    "func.return"(%2, %3) : (tensor<1x3xf32>, tensor<1x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_diagonal_right_upper_transpose: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<1x3xf32>, tensor<1x3xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[2.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 4.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 5.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00, 8.000000e+00, 9.000000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[3.500000e+00, 2.000000e+00, 1.800000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    "func.return"(%2, %3) : (tensor<1x3xf32>, tensor<1x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_diagonal_left_lower_unit_diagonal_transpose: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x1xf32>, tensor<3x1xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[2.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 4.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 5.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00], [8.000000e+00], [9.000000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = true}> : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[7.000000e+00], [8.000000e+00], [9.000000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    "func.return"(%2, %3) : (tensor<3x1xf32>, tensor<3x1xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_diagonal_left_upper_unit_diagonal_transpose: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x1xf32>, tensor<3x1xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[2.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 4.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 5.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00], [8.000000e+00], [9.000000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = true}> : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[7.000000e+00], [8.000000e+00], [9.000000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    "func.return"(%2, %3) : (tensor<3x1xf32>, tensor<3x1xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_diagonal_right_lower_unit_diagonal_transpose: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<1x3xf32>, tensor<1x3xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[2.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 4.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 5.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00, 8.000000e+00, 9.000000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = true}> : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[7.000000e+00, 8.000000e+00, 9.000000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    "func.return"(%2, %3) : (tensor<1x3xf32>, tensor<1x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_diagonal_right_upper_unit_diagonal_transpose: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<1x3xf32>, tensor<1x3xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[2.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 4.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 5.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00, 8.000000e+00, 9.000000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = true}> : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[7.000000e+00, 8.000000e+00, 9.000000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    "func.return"(%2, %3) : (tensor<1x3xf32>, tensor<1x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_triangular_left_lower: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x1xf32>, tensor<3x1xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1.000000e+00, 0.000000e+00, 0.000000e+00], [2.000000e+00, 3.000000e+00, 0.000000e+00], [4.000000e+00, 5.000000e+00, 6.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00], [8.000000e+00], [9.000000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[7.000000e+00], [-2.000000e+00], [-1.500000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    "func.return"(%2, %3) : (tensor<3x1xf32>, tensor<3x1xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_triangular_left_upper: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x1xf32>, tensor<3x1xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1.000000e+00, 2.000000e+00, 4.000000e+00], [0.000000e+00, 3.000000e+00, 5.000000e+00], [0.000000e+00, 0.000000e+00, 6.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00], [8.000000e+00], [9.000000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[6.666670e-01], [1.666670e-01], [1.500000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    "func.return"(%2, %3) : (tensor<3x1xf32>, tensor<3x1xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_triangular_right_lower: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<1x3xf32>, tensor<1x3xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1.000000e+00, 0.000000e+00, 0.000000e+00], [2.000000e+00, 3.000000e+00, 0.000000e+00], [4.000000e+00, 5.000000e+00, 6.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00, 8.000000e+00, 9.000000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[6.666670e-01, 1.666670e-01, 1.500000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    "func.return"(%2, %3) : (tensor<1x3xf32>, tensor<1x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_triangular_right_upper: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<1x3xf32>, tensor<1x3xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1.000000e+00, 2.000000e+00, 4.000000e+00], [0.000000e+00, 3.000000e+00, 5.000000e+00], [0.000000e+00, 0.000000e+00, 6.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00, 8.000000e+00, 9.000000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[7.000000e+00, -2.000000e+00, -1.500000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    "func.return"(%2, %3) : (tensor<1x3xf32>, tensor<1x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_triangular_left_lower_transpose: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x1xf32>, tensor<3x1xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1.000000e+00, 0.000000e+00, 0.000000e+00], [2.000000e+00, 3.000000e+00, 0.000000e+00], [4.000000e+00, 5.000000e+00, 6.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00], [8.000000e+00], [9.000000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[6.666670e-01], [1.666670e-01], [1.500000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    "func.return"(%2, %3) : (tensor<3x1xf32>, tensor<3x1xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_triangular_left_upper_transpose: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x1xf32>, tensor<3x1xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1.000000e+00, 2.000000e+00, 4.000000e+00], [0.000000e+00, 3.000000e+00, 5.000000e+00], [0.000000e+00, 0.000000e+00, 6.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00], [8.000000e+00], [9.000000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[7.000000e+00], [-2.000000e+00], [-1.500000e+00]]> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
    "func.return"(%2, %3) : (tensor<3x1xf32>, tensor<3x1xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_triangular_right_lower_transpose: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<1x3xf32>, tensor<1x3xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1.000000e+00, 0.000000e+00, 0.000000e+00], [2.000000e+00, 3.000000e+00, 0.000000e+00], [4.000000e+00, 5.000000e+00, 6.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00, 8.000000e+00, 9.000000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[7.000000e+00, -2.000000e+00, -1.500000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    "func.return"(%2, %3) : (tensor<1x3xf32>, tensor<1x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_real_3x3_triangular_right_upper_transpose: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<1x3xf32>, tensor<1x3xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1.000000e+00, 2.000000e+00, 4.000000e+00], [0.000000e+00, 3.000000e+00, 5.000000e+00], [0.000000e+00, 0.000000e+00, 6.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[7.000000e+00, 8.000000e+00, 9.000000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[6.666670e-01, 1.666670e-01, 1.500000e+00]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    "func.return"(%2, %3) : (tensor<1x3xf32>, tensor<1x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_spec_example: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x3xf32>, tensor<3x3xf32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1.000000e+00, 0.000000e+00, 0.000000e+00], [2.000000e+00, 4.000000e+00, 0.000000e+00], [3.000000e+00, 5.000000e+00, 6.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[2.000000e+00, 0.000000e+00, 0.000000e+00], [4.000000e+00, 8.000000e+00, 0.000000e+00], [6.000000e+00, 1.000000e+01, 1.200000e+01]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %3 = "stablehlo.constant"() <{value = dense<[[2.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 2.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 2.000000e+00]]> : tensor<3x3xf32>}> : () -> tensor<3x3xf32>
    "func.return"(%2, %3) : (tensor<3x3xf32>, tensor<3x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_complex_example: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x1xcomplex<f32>>, tensor<3x1xcomplex<f32>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[(1.000000e+00,1.000000e+00), (0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)], [(2.000000e+00,-2.000000e+00), (3.000000e+00,4.000000e+00), (0.000000e+00,0.000000e+00)], [(4.000000e+00,-3.000000e+00), (5.000000e+00,5.000000e+00), (6.000000e+00,-8.000000e+00)]]> : tensor<3x3xcomplex<f32>>}> : () -> tensor<3x3xcomplex<f32>>
    %1 = "stablehlo.constant"() <{value = dense<[[(7.000000e+00,-2.000000e+00)], [(8.000000e+00,4.000000e+00)], [(9.000000e+00,-5.000000e+00)]]> : tensor<3x1xcomplex<f32>>}> : () -> tensor<3x1xcomplex<f32>>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xcomplex<f32>>, tensor<3x1xcomplex<f32>>) -> tensor<3x1xcomplex<f32>>
    %3 = "stablehlo.constant"() <{value = dense<[[(2.500000e+00,-4.500000e+00)], [(4.320000e+00,2.400000e-01)], [(-2.900000e-01,-0.76999998)]]> : tensor<3x1xcomplex<f32>>}> : () -> tensor<3x1xcomplex<f32>>
    "func.return"(%2, %3) : (tensor<3x1xcomplex<f32>>, tensor<3x1xcomplex<f32>>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// triangular_solve_op_test_complex_example_adjoint: within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3x1xcomplex<f32>>, tensor<3x1xcomplex<f32>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[(1.000000e+00,1.000000e+00), (0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)], [(2.000000e+00,-2.000000e+00), (3.000000e+00,4.000000e+00), (0.000000e+00,0.000000e+00)], [(4.000000e+00,-3.000000e+00), (5.000000e+00,5.000000e+00), (6.000000e+00,-8.000000e+00)]]> : tensor<3x3xcomplex<f32>>}> : () -> tensor<3x3xcomplex<f32>>
    %1 = "stablehlo.constant"() <{value = dense<[[(7.000000e+00,-2.000000e+00)], [(8.000000e+00,4.000000e+00)], [(9.000000e+00,-5.000000e+00)]]> : tensor<3x1xcomplex<f32>>}> : () -> tensor<3x1xcomplex<f32>>
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<3x3xcomplex<f32>>, tensor<3x1xcomplex<f32>>) -> tensor<3x1xcomplex<f32>>
    %3 = "stablehlo.constant"() <{value = dense<[[(7.180000e+00,2.67999911)], [(-8.000000e-02,3.160000e+00)], [(1.400000e-01,-1.020000e+00)]]> : tensor<3x1xcomplex<f32>>}> : () -> tensor<3x1xcomplex<f32>>
    "func.return"(%2, %3) : (tensor<3x1xcomplex<f32>>, tensor<3x1xcomplex<f32>>) -> ()
  }) : () -> ()
}) : () -> ()
