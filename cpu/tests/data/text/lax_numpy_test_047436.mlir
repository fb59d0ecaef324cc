module @jit_arcsinh attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32> {jax.result_info = "result[0]"}, tensor<2x3x4xf32> {jax.result_info = "result[1]"}) {
    %0 = chlo.asinh %arg0 : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
    %1 = stablehlo.abs %arg0 : tensor<2x3x4xf32>
    %cst = stablehlo.constant dense<2.16840434E-19> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3x4xf32>
    %3 = stablehlo.multiply %1, %2 : tensor<2x3x4xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<7.37869762E+19> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x3x4xf32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x3x4xf32>
    %6 = stablehlo.clamp %4, %3, %5 : tensor<2x3x4xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x3x4xf32>
    %8 = stablehlo.divide %7, %6 : tensor<2x3x4xf32>
    %9 = stablehlo.multiply %arg0, %8 : tensor<2x3x4xf32>
    %10 = chlo.square %9 : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
    %11 = chlo.square %8 : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
    %12 = stablehlo.add %10, %11 : tensor<2x3x4xf32>
    %13 = stablehlo.rsqrt %12 : tensor<2x3x4xf32>
    %14 = stablehlo.multiply %8, %13 : tensor<2x3x4xf32>
    %15 = stablehlo.multiply %arg1, %14 : tensor<2x3x4xf32>
    return %0, %15 : tensor<2x3x4xf32>, tensor<2x3x4xf32>
  }
}
