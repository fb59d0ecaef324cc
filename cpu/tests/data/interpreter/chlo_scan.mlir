// scan_cumsum_1d: equal, equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<4xi32>, tensor<i32>, tensor<4xi32>, tensor<i32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[1, 2, 3, 4]> : tensor<4xi32>}> : () -> tensor<4xi32>
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %2:2 = "chlo.scan"(%0, %1) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>):
      %5 = "stablehlo.add"(%arg0, %arg1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%5, %5) : (tensor<i32>, tensor<i32>) -> ()
    }) : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
    %3 = "stablehlo.constant"() <{value = dense<[1, 3, 6, 10]> : tensor<4xi32>}> : () -> tensor<4xi32>
    %4 = "stablehlo.constant"() <{value = dense<10> : tensor<i32>}> : () -> tensor<i32>
    "func.return"(%2#0, %2#1, %3, %4) : (tensor<4xi32>, tensor<i32>, tensor<4xi32>, tensor<i32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// scan_cumsum_dim1: equal, equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2x3xi32>, tensor<2xi32>, tensor<2x3xi32>, tensor<2xi32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>}> : () -> tensor<2x3xi32>
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<2xi32>}> : () -> tensor<2xi32>
    %2:2 = "chlo.scan"(%0, %1) <{dimension = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg0: tensor<2xi32>, %arg1: tensor<2xi32>):
      %5 = "stablehlo.add"(%arg0, %arg1) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
      "stablehlo.return"(%5, %5) : (tensor<2xi32>, tensor<2xi32>) -> ()
    }) : (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>)
    %3 = "stablehlo.constant"() <{value = dense<[[1, 3, 6], [4, 9, 15]]> : tensor<2x3xi32>}> : () -> tensor<2x3xi32>
    %4 = "stablehlo.constant"() <{value = dense<[6, 15]> : tensor<2xi32>}> : () -> tensor<2xi32>
    "func.return"(%2#0, %2#1, %3, %4) : (tensor<2x3xi32>, tensor<2xi32>, tensor<2x3xi32>, tensor<2xi32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// scan_cummax: equal, equal, equal, equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<5xi32>, tensor<5xi32>, tensor<i32>, tensor<i32>, tensor<5xi32>, tensor<5xi32>, tensor<i32>, tensor<i32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[3, 1, 4, 1, 5]> : tensor<5xi32>}> : () -> tensor<5xi32>
    %1 = "stablehlo.constant"() <{value = dense<[0, 1, 2, 3, 4]> : tensor<5xi32>}> : () -> tensor<5xi32>
    %2 = "stablehlo.constant"() <{value = dense<-2147483648> : tensor<i32>}> : () -> tensor<i32>
    %3 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %4:4 = "chlo.scan"(%0, %1, %2, %3) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 2, 2>, resultSegmentSizes = array<i32: 2, 2>}> ({
    ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<i32>):
      %9 = "stablehlo.maximum"(%arg2, %arg0) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %10 = "stablehlo.compare"(%arg2, %arg0) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %11 = "stablehlo.compare"(%arg2, %arg0) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %12 = "stablehlo.maximum"(%arg3, %arg1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %13 = "stablehlo.select"(%11, %12, %arg1) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      %14 = "stablehlo.select"(%10, %arg3, %13) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%9, %14, %9, %14) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    }) : (tensor<5xi32>, tensor<5xi32>, tensor<i32>, tensor<i32>) -> (tensor<5xi32>, tensor<5xi32>, tensor<i32>, tensor<i32>)
    %5 = "stablehlo.constant"() <{value = dense<[3, 3, 4, 4, 5]> : tensor<5xi32>}> : () -> tensor<5xi32>
    %6 = "stablehlo.constant"() <{value = dense<[0, 0, 2, 2, 4]> : tensor<5xi32>}> : () -> tensor<5xi32>
    %7 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
    %8 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    "func.return"(%4#0, %4#1, %4#2, %4#3, %5, %6, %7, %8) : (tensor<5xi32>, tensor<5xi32>, tensor<i32>, tensor<i32>, tensor<5xi32>, tensor<5xi32>, tensor<i32>, tensor<i32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// scan_cumsum_reverse: equal, equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<4xi32>, tensor<i32>, tensor<4xi32>, tensor<i32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[1, 2, 3, 4]> : tensor<4xi32>}> : () -> tensor<4xi32>
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %2:2 = "chlo.scan"(%0, %1) <{dimension = 0 : i64, is_reverse = true, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>):
      %5 = "stablehlo.add"(%arg0, %arg1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%5, %5) : (tensor<i32>, tensor<i32>) -> ()
    }) : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
    %3 = "stablehlo.constant"() <{value = dense<[10, 9, 7, 4]> : tensor<4xi32>}> : () -> tensor<4xi32>
    %4 = "stablehlo.constant"() <{value = dense<10> : tensor<i32>}> : () -> tensor<i32>
    "func.return"(%2#0, %2#1, %3, %4) : (tensor<4xi32>, tensor<i32>, tensor<4xi32>, tensor<i32>) -> ()
  }) : () -> ()
}) : () -> ()
