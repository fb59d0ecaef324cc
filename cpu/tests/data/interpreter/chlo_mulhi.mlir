// mulhi_op_test_si8: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<3xi8>, tensor<3xi8>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[64, -64, -64]> : tensor<3xi8>}> : () -> tensor<3xi8>
    %1 = "stablehlo.constant"() <{value = dense<[4, 4, -4]> : tensor<3xi8>}> : () -> tensor<3xi8>
    %2 = "chlo.mulhi"(%0, %1) : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi8>
    %3 = "stablehlo.constant"() <{value = dense<[1, -1, 1]> : tensor<3xi8>}> : () -> tensor<3xi8>
    "func.return"(%2, %3) : (tensor<3xi8>, tensor<3xi8>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// mulhi_op_test_ui8: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xui8>, tensor<2xui8>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[240, 128]> : tensor<2xui8>}> : () -> tensor<2xui8>
    %1 = "stablehlo.constant"() <{value = dense<[16, 2]> : tensor<2xui8>}> : () -> tensor<2xui8>
    %2 = "chlo.mulhi"(%0, %1) : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xui8>
    %3 = "stablehlo.constant"() <{value = dense<[15, 1]> : tensor<2xui8>}> : () -> tensor<2xui8>
    "func.return"(%2, %3) : (tensor<2xui8>, tensor<2xui8>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// mulhi_op_test_si16: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xi16>, tensor<2xi16>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[16384, -16384]> : tensor<2xi16>}> : () -> tensor<2xi16>
    %1 = "stablehlo.constant"() <{value = dense<8> : tensor<2xi16>}> : () -> tensor<2xi16>
    %2 = "chlo.mulhi"(%0, %1) : (tensor<2xi16>, tensor<2xi16>) -> tensor<2xi16>
    %3 = "stablehlo.constant"() <{value = dense<[2, -2]> : tensor<2xi16>}> : () -> tensor<2xi16>
    "func.return"(%2, %3) : (tensor<2xi16>, tensor<2xi16>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// mulhi_op_test_ui16: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xui16>, tensor<2xui16>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[61440, 32768]> : tensor<2xui16>}> : () -> tensor<2xui16>
    %1 = "stablehlo.constant"() <{value = dense<[16, 2]> : tensor<2xui16>}> : () -> tensor<2xui16>
    %2 = "chlo.mulhi"(%0, %1) : (tensor<2xui16>, tensor<2xui16>) -> tensor<2xui16>
    %3 = "stablehlo.constant"() <{value = dense<[15, 1]> : tensor<2xui16>}> : () -> tensor<2xui16>
    "func.return"(%2, %3) : (tensor<2xui16>, tensor<2xui16>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// mulhi_op_test_si32: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xi32>, tensor<2xi32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[268435456, -268435456]> : tensor<2xi32>}> : () -> tensor<2xi32>
    %1 = "stablehlo.constant"() <{value = dense<16> : tensor<2xi32>}> : () -> tensor<2xi32>
    %2 = "chlo.mulhi"(%0, %1) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %3 = "stablehlo.constant"() <{value = dense<[1, -1]> : tensor<2xi32>}> : () -> tensor<2xi32>
    "func.return"(%2, %3) : (tensor<2xi32>, tensor<2xi32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// mulhi_op_test_ui32: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xui32>, tensor<2xui32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[4026531840, 2147483648]> : tensor<2xui32>}> : () -> tensor<2xui32>
    %1 = "stablehlo.constant"() <{value = dense<[16, 2]> : tensor<2xui32>}> : () -> tensor<2xui32>
    %2 = "chlo.mulhi"(%0, %1) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %3 = "stablehlo.constant"() <{value = dense<[15, 1]> : tensor<2xui32>}> : () -> tensor<2xui32>
    "func.return"(%2, %3) : (tensor<2xui32>, tensor<2xui32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// mulhi_op_test_si64: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xi64>, tensor<2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[1152921504606846976, -1152921504606846976]> : tensor<2xi64>}> : () -> tensor<2xi64>
    %1 = "stablehlo.constant"() <{value = dense<16> : tensor<2xi64>}> : () -> tensor<2xi64>
    %2 = "chlo.mulhi"(%0, %1) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    %3 = "stablehlo.constant"() <{value = dense<[1, -1]> : tensor<2xi64>}> : () -> tensor<2xi64>
    "func.return"(%2, %3) : (tensor<2xi64>, tensor<2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// mulhi_op_test_ui64: equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xui64>, tensor<2xui64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[17293822569102704640, 9223372036854775808]> : tensor<2xui64>}> : () -> tensor<2xui64>
    %1 = "stablehlo.constant"() <{value = dense<[16, 2]> : tensor<2xui64>}> : () -> tensor<2xui64>
    %2 = "chlo.mulhi"(%0, %1) : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xui64>
    %3 = "stablehlo.constant"() <{value = dense<[15, 1]> : tensor<2xui64>}> : () -> tensor<2xui64>
    "func.return"(%2, %3) : (tensor<2xui64>, tensor<2xui64>) -> ()
  }) : () -> ()
}) : () -> ()
