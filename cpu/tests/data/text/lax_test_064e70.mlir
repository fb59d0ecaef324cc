module @jit_tanh attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<80xf32>) -> (tensor<80xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.tanh %arg0 : tensor<80xf32>
    %1 = stablehlo.tanh %arg0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<80xf32>
    return %1 : tensor<80xf32>
  }
}
