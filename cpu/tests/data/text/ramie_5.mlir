module @erf attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%0: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
    %1 = chlo.erf %0 : tensor<2x3xf32> -> tensor<2x3xf32> loc(#loc0)
    %2 = stablehlo.constant dense<-1.0e0> : tensor<2x3xf32> loc(#loc0)
    %3 = stablehlo.constant dense<1.0e0> : tensor<2x3xf32> loc(#loc0)
    %4 = stablehlo.constant dense<3.832507e0> : tensor<2x3xf32> loc(#loc0)
    %5 = "stablehlo.clamp"(%2, %1, %3) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc(#loc0)
    %6 = stablehlo.abs %0 : tensor<2x3xf32> loc(#loc0)
    %7 = stablehlo.compare LT, %6, %4, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1> loc(#loc0)
    %8 = stablehlo.sign %0 : tensor<2x3xf32> loc(#loc0)
    %9 = "stablehlo.select"(%7, %5, %8) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc(#loc0)
    return %9 : tensor<2x3xf32>
  }
}
#loc0 = loc("core/src/execution/eager.rs":347:19)
