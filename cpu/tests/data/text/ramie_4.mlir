module @_lambda_ attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%0: tensor<256x64xf32>, %1: tensor<256x256xf32>) -> (tensor<64x256xf32>) {
    %2 = "stablehlo.dot_general"(%0, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<256x64xf32>, tensor<256x256xf32>) -> tensor<64x256xf32> loc(#loc0)
    %3 = "stablehlo.optimization_barrier"(%2) : (tensor<64x256xf32>) -> tensor<64x256xf32> loc(#loc0)
    return %3 : tensor<64x256xf32>
  }
}
#loc0 = loc("core/tests/operations/dot.rs":421:7)
