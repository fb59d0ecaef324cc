module @jit__geomspace attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x2xf32>, %arg1: tensor<2x2xf32>) -> (tensor<2x2x2xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.sign %arg0 : tensor<2x2xf32>
    %1 = stablehlo.divide %arg0, %0 : tensor<2x2xf32>
    %2 = stablehlo.log %1 : tensor<2x2xf32>
    %cst = stablehlo.constant dense<0.434294492> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<2x2xf32>
    %5 = stablehlo.divide %arg1, %0 : tensor<2x2xf32>
    %6 = stablehlo.log %5 : tensor<2x2xf32>
    %cst_0 = stablehlo.constant dense<0.434294492> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %8 = stablehlo.multiply %6, %7 : tensor<2x2xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+01> : tensor<f32>
    %9 = call @_logspace(%4, %8, %cst_1) : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x2x2xf32>
    %10 = stablehlo.broadcast_in_dim %0, dims = [1, 2] : (tensor<2x2xf32>) -> tensor<1x2x2xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<1x2x2xf32>) -> tensor<2x2x2xf32>
    %12 = stablehlo.multiply %11, %9 : tensor<2x2x2xf32>
    %13 = stablehlo.transpose %12, dims = [1, 2, 0] : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
    return %13 : tensor<2x2x2xf32>
  }
  func.func private @_logspace(%arg0: tensor<2x2xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f32>) -> tensor<2x2x2xf32> {
    %0 = call @_linspace(%arg0, %arg1) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2x2xf32>
    %1 = stablehlo.convert %arg2 : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<2x2x2xf32>
    %3 = stablehlo.power %2, %0 : tensor<2x2x2xf32>
    return %3 : tensor<2x2x2xf32>
  }
  func.func private @_linspace(%arg0: tensor<2x2xf32>, %arg1: tensor<2x2xf32>) -> tensor<2x2x2xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<2xf32>
    %1 = stablehlo.reshape %0 : (tensor<2xf32>) -> tensor<2x1x1xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x1x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x1x1xf32>
    %4 = stablehlo.reshape %arg0 : (tensor<2x2xf32>) -> tensor<1x2x2xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x1x1xf32>
    %6 = stablehlo.subtract %5, %3 : tensor<2x1x1xf32>
    %7 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] : (tensor<1x2x2xf32>) -> tensor<2x2x2xf32>
    %8 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<2x1x1xf32>) -> tensor<2x2x2xf32>
    %9 = stablehlo.multiply %7, %8 : tensor<2x2x2xf32>
    %10 = stablehlo.reshape %arg1 : (tensor<2x2xf32>) -> tensor<1x2x2xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x2x2xf32>
    %12 = stablehlo.divide %10, %11 : tensor<1x2x2xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<1x2x2xf32>) -> tensor<2x2x2xf32>
    %14 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<2x1x1xf32>) -> tensor<2x2x2xf32>
    %15 = stablehlo.multiply %13, %14 : tensor<2x2x2xf32>
    %16 = stablehlo.add %9, %15 : tensor<2x2x2xf32>
    return %16 : tensor<2x2x2xf32>
  }
}
