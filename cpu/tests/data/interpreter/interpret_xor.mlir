// xor_op_test_si4: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3xi4>, tensor<3xi4>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[7, -8, -8]> : tensor<3xi4>}> : () -> tensor<3xi4>
    %1 = "stablehlo.constant"() <{value = dense<[0, 7, -8]> : tensor<3xi4>}> : () -> tensor<3xi4>
    %2 = "stablehlo.xor"(%0, %1) : (tensor<3xi4>, tensor<3xi4>) -> tensor<3xi4>
    %3 = "stablehlo.constant"() <{value = dense<[7, -1, 0]> : tensor<3xi4>}> : () -> tensor<3xi4>
    "func.return"(%2, %3) : (tensor<3xi4>, tensor<3xi4>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// xor_op_test_ui4: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3xui4>, tensor<3xui4>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 7, 15]> : tensor<3xui4>}> : () -> tensor<3xui4>
    %1 = "stablehlo.constant"() <{value = dense<15> : tensor<3xui4>}> : () -> tensor<3xui4>
    %2 = "stablehlo.xor"(%0, %1) : (tensor<3xui4>, tensor<3xui4>) -> tensor<3xui4>
    %3 = "stablehlo.constant"() <{value = dense<[15, 8, 0]> : tensor<3xui4>}> : () -> tensor<3xui4>
    "func.return"(%2, %3) : (tensor<3xui4>, tensor<3xui4>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// xor_op_test_si8: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3xi8>, tensor<3xi8>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[127, -128, -128]> : tensor<3xi8>}> : () -> tensor<3xi8>
    %1 = "stablehlo.constant"() <{value = dense<[0, 127, -128]> : tensor<3xi8>}> : () -> tensor<3xi8>
    %2 = "stablehlo.xor"(%0, %1) : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi8>
    %3 = "stablehlo.constant"() <{value = dense<[127, -1, 0]> : tensor<3xi8>}> : () -> tensor<3xi8>
    "func.return"(%2, %3) : (tensor<3xi8>, tensor<3xi8>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// xor_op_test_ui8: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3xui8>, tensor<3xui8>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 127, 255]> : tensor<3xui8>}> : () -> tensor<3xui8>
    %1 = "stablehlo.constant"() <{value = dense<255> : tensor<3xui8>}> : () -> tensor<3xui8>
    %2 = "stablehlo.xor"(%0, %1) : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xui8>
    %3 = "stablehlo.constant"() <{value = dense<[255, 128, 0]> : tensor<3xui8>}> : () -> tensor<3xui8>
    "func.return"(%2, %3) : (tensor<3xui8>, tensor<3xui8>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// xor_op_test_si16: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3xi16>, tensor<3xi16>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[32767, -32768, -32768]> : tensor<3xi16>}> : () -> tensor<3xi16>
    %1 = "stablehlo.constant"() <{value = dense<[0, 32767, -32768]> : tensor<3xi16>}> : () -> tensor<3xi16>
    %2 = "stablehlo.xor"(%0, %1) : (tensor<3xi16>, tensor<3xi16>) -> tensor<3xi16>
    %3 = "stablehlo.constant"() <{value = dense<[32767, -1, 0]> : tensor<3xi16>}> : () -> tensor<3xi16>
    "func.return"(%2, %3) : (tensor<3xi16>, tensor<3xi16>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// xor_op_test_ui16: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3xui16>, tensor<3xui16>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 32767, 65535]> : tensor<3xui16>}> : () -> tensor<3xui16>
    %1 = "stablehlo.constant"() <{value = dense<65535> : tensor<3xui16>}> : () -> tensor<3xui16>
    %2 = "stablehlo.xor"(%0, %1) : (tensor<3xui16>, tensor<3xui16>) -> tensor<3xui16>
    %3 = "stablehlo.constant"() <{value = dense<[65535, 32768, 0]> : tensor<3xui16>}> : () -> tensor<3xui16>
    "func.return"(%2, %3) : (tensor<3xui16>, tensor<3xui16>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// xor_op_test_si32: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3xi32>, tensor<3xi32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[2147483647, -2147483648, -2147483648]> : tensor<3xi32>}> : () -> tensor<3xi32>
    %1 = "stablehlo.constant"() <{value = dense<[0, 2147483647, -2147483648]> : tensor<3xi32>}> : () -> tensor<3xi32>
    %2 = "stablehlo.xor"(%0, %1) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
    %3 = "stablehlo.constant"() <{value = dense<[2147483647, -1, 0]> : tensor<3xi32>}> : () -> tensor<3xi32>
    "func.return"(%2, %3) : (tensor<3xi32>, tensor<3xi32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// xor_op_test_ui32: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3xui32>, tensor<3xui32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 2147483647, 4294967295]> : tensor<3xui32>}> : () -> tensor<3xui32>
    %1 = "stablehlo.constant"() <{value = dense<4294967295> : tensor<3xui32>}> : () -> tensor<3xui32>
    %2 = "stablehlo.xor"(%0, %1) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %3 = "stablehlo.constant"() <{value = dense<[4294967295, 2147483648, 0]> : tensor<3xui32>}> : () -> tensor<3xui32>
    "func.return"(%2, %3) : (tensor<3xui32>, tensor<3xui32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// xor_op_test_si64: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3xi64>, tensor<3xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[9223372036854775807, -9223372036854775808, -9223372036854775808]> : tensor<3xi64>}> : () -> tensor<3xi64>
    %1 = "stablehlo.constant"() <{value = dense<[0, 9223372036854775807, -9223372036854775808]> : tensor<3xi64>}> : () -> tensor<3xi64>
    %2 = "stablehlo.xor"(%0, %1) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
    %3 = "stablehlo.constant"() <{value = dense<[9223372036854775807, -1, 0]> : tensor<3xi64>}> : () -> tensor<3xi64>
    "func.return"(%2, %3) : (tensor<3xi64>, tensor<3xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// xor_op_test_ui64: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3xui64>, tensor<3xui64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[0, 9223372036854775807, 18446744073709551615]> : tensor<3xui64>}> : () -> tensor<3xui64>
    %1 = "stablehlo.constant"() <{value = dense<18446744073709551615> : tensor<3xui64>}> : () -> tensor<3xui64>
    %2 = "stablehlo.xor"(%0, %1) : (tensor<3xui64>, tensor<3xui64>) -> tensor<3xui64>
    %3 = "stablehlo.constant"() <{value = dense<[18446744073709551615, 9223372036854775808, 0]> : tensor<3xui64>}> : () -> tensor<3xui64>
    "func.return"(%2, %3) : (tensor<3xui64>, tensor<3xui64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// xor_op_test_i1: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<4xi1>, tensor<4xi1>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[false, false, true, true]> : tensor<4xi1>}> : () -> tensor<4xi1>
    %1 = "stablehlo.constant"() <{value = dense<[false, true, false, true]> : tensor<4xi1>}> : () -> tensor<4xi1>
    %2 = "stablehlo.xor"(%0, %1) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    %3 = "stablehlo.constant"() <{value = dense<[false, true, true, false]> : tensor<4xi1>}> : () -> tensor<4xi1>
    "func.return"(%2, %3) : (tensor<4xi1>, tensor<4xi1>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// xor_op_test_i1_splat_false: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xi1>, tensor<2xi1>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<false> : tensor<2xi1>}> : () -> tensor<2xi1>
    %1 = "stablehlo.constant"() <{value = dense<[false, true]> : tensor<2xi1>}> : () -> tensor<2xi1>
    %2 = "stablehlo.xor"(%0, %1) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
    %3 = "stablehlo.constant"() <{value = dense<[false, true]> : tensor<2xi1>}> : () -> tensor<2xi1>
    "func.return"(%2, %3) : (tensor<2xi1>, tensor<2xi1>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// xor_op_test_i1_splat_true: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xi1>, tensor<2xi1>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<true> : tensor<2xi1>}> : () -> tensor<2xi1>
    %1 = "stablehlo.constant"() <{value = dense<[false, true]> : tensor<2xi1>}> : () -> tensor<2xi1>
    %2 = "stablehlo.xor"(%0, %1) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
    %3 = "stablehlo.constant"() <{value = dense<[true, false]> : tensor<2xi1>}> : () -> tensor<2xi1>
    "func.return"(%2, %3) : (tensor<2xi1>, tensor<2xi1>) -> ()
  }) : () -> ()
}) : () -> ()
