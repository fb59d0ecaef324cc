module @jit__f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xf32>, %arg1: tensor<i32>, %arg2: tensor<2xf32>, %arg3: tensor<2xf32>) -> (tensor<2xf32> {jax.result_info = "result[0]"}) {
    %0:4 = stablehlo.optimization_barrier %arg0, %arg1, %arg2, %arg3 : tensor<2xf32>, tensor<i32>, tensor<2xf32>, tensor<2xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.clamp %c, %0#1, %c_0 : tensor<i32>
    %2 = "stablehlo.case"(%1) ({
      %4 = stablehlo.cosine %0#2 : tensor<2xf32>
      stablehlo.return %4 : tensor<2xf32>
    }, {
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2xf32>
      stablehlo.return %4 : tensor<2xf32>
    }) : (tensor<i32>) -> tensor<2xf32>
    %3 = "stablehlo.case"(%1) ({
      %4 = stablehlo.multiply %0#3, %2 : tensor<2xf32>
      stablehlo.return %4 : tensor<2xf32>
    }, {
      %4 = stablehlo.multiply %0#0, %0#3 : tensor<2xf32>
      stablehlo.return %4 : tensor<2xf32>
    }) : (tensor<i32>) -> tensor<2xf32>
    return %3 : tensor<2xf32>
  }
}
