module @jit_ldexp attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xf32>, %arg1: tensor<2xi32>) -> (tensor<2xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<2xf32>) -> tensor<2xui32>
    %c = stablehlo.constant dense<2139095040> : tensor<ui32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %2 = stablehlo.and %0, %1 : tensor<2xui32>
    %c_0 = stablehlo.constant dense<0> : tensor<ui32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %4 = stablehlo.compare EQ, %2, %3, UNSIGNED : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xi1>
    %c_1 = stablehlo.constant dense<2147483648> : tensor<ui32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %6 = stablehlo.and %0, %5 : tensor<2xui32>
    %7 = stablehlo.select %4, %6, %0 : tensor<2xi1>, tensor<2xui32>
    %8 = stablehlo.bitcast_convert %7 : (tensor<2xui32>) -> tensor<2xf32>
    %9 = stablehlo.bitcast_convert %8 : (tensor<2xf32>) -> tensor<2xui32>
    %c_2 = stablehlo.constant dense<2147483648> : tensor<ui32>
    %10 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %11 = stablehlo.and %9, %10 : tensor<2xui32>
    %c_3 = stablehlo.constant dense<23> : tensor<ui32>
    %12 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %13 = stablehlo.shift_right_logical %9, %12 : tensor<2xui32>
    %c_4 = stablehlo.constant dense<255> : tensor<ui32>
    %14 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %15 = stablehlo.and %13, %14 : tensor<2xui32>
    %c_5 = stablehlo.constant dense<8388607> : tensor<ui32>
    %16 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %17 = stablehlo.and %9, %16 : tensor<2xui32>
    %c_6 = stablehlo.constant dense<0> : tensor<ui32>
    %18 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %19 = stablehlo.compare EQ, %15, %18, UNSIGNED : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xi1>
    %c_7 = stablehlo.constant dense<255> : tensor<ui32>
    %20 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %21 = stablehlo.compare EQ, %15, %20, UNSIGNED : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xi1>
    %c_8 = stablehlo.constant dense<-512> : tensor<i32>
    %c_9 = stablehlo.constant dense<512> : tensor<i32>
    %22 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %23 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %24 = stablehlo.clamp %22, %arg1, %23 : tensor<2xi32>
    %25 = stablehlo.convert %15 : (tensor<2xui32>) -> tensor<2xi32>
    %26 = stablehlo.add %25, %24 : tensor<2xi32>
    %c_10 = stablehlo.constant dense<2139095040> : tensor<ui32>
    %27 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %28 = stablehlo.or %11, %27 : tensor<2xui32>
    %29 = stablehlo.convert %26 : (tensor<2xi32>) -> tensor<2xui32>
    %c_11 = stablehlo.constant dense<23> : tensor<ui32>
    %30 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %31 = stablehlo.shift_left %29, %30 : tensor<2xui32>
    %32 = stablehlo.or %11, %31 : tensor<2xui32>
    %33 = stablehlo.or %32, %17 : tensor<2xui32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %34 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %35 = stablehlo.compare LE, %26, %34, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_13 = stablehlo.constant dense<255> : tensor<i32>
    %36 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %37 = stablehlo.compare GE, %26, %36, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %38 = stablehlo.select %37, %28, %33 : tensor<2xi1>, tensor<2xui32>
    %39 = stablehlo.select %35, %11, %38 : tensor<2xi1>, tensor<2xui32>
    %40 = stablehlo.select %19, %11, %39 : tensor<2xi1>, tensor<2xui32>
    %41 = stablehlo.select %21, %9, %40 : tensor<2xi1>, tensor<2xui32>
    %42 = stablehlo.bitcast_convert %41 : (tensor<2xui32>) -> tensor<2xf32>
    return %42 : tensor<2xf32>
  }
}
