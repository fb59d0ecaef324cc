module @jit_logaddexp attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1xi16>, %arg1: tensor<1xi16>) -> (tensor<1xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<1xi16>) -> tensor<1xf32>
    %1 = stablehlo.convert %arg1 : (tensor<1xi16>) -> tensor<1xf32>
    %2 = stablehlo.maximum %0, %1 : tensor<1xf32>
    %3 = stablehlo.subtract %0, %1 : tensor<1xf32>
    %4 = stablehlo.compare NE, %3, %3, FLOAT : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xi1>
    %5 = stablehlo.add %0, %1 : tensor<1xf32>
    %6 = stablehlo.abs %3 : tensor<1xf32>
    %7 = stablehlo.negate %6 : tensor<1xf32>
    %8 = stablehlo.exponential %7 : tensor<1xf32>
    %9 = stablehlo.log_plus_one %8 : tensor<1xf32>
    %10 = stablehlo.add %2, %9 : tensor<1xf32>
    %11 = stablehlo.select %4, %5, %10 : tensor<1xi1>, tensor<1xf32>
    return %11 : tensor<1xf32>
  }
}
