module @cumlogsumexp attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%0: tensor<4xf32>) -> (tensor<4xf32>) {
    %1 = stablehlo.constant dense<0xFF800000> : tensor<f32> loc(#loc0)
    %15 = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 4>, window_strides = array<i64: 1>, base_dilations = array<i64: 1>, window_dilations = array<i64: 1>, padding = dense<[[0, 3]]> : tensor<1x2xi64>}> ({
    ^bb0(%2: tensor<f32>, %3: tensor<f32>):
      %5 = stablehlo.maximum %2, %3 : tensor<f32> loc(#loc0)
      %6 = stablehlo.subtract %2, %3 : tensor<f32> loc(#loc0)
      %7 = stablehlo.abs %6 : tensor<f32> loc(#loc0)
      %8 = stablehlo.negate %7 : tensor<f32> loc(#loc0)
      %9 = stablehlo.exponential %8 : tensor<f32> loc(#loc0)
      %10 = stablehlo.log_plus_one %9 : tensor<f32> loc(#loc0)
      %11 = stablehlo.add %5, %10 : tensor<f32> loc(#loc0)
      %12 = stablehlo.compare NE, %6, %6, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1> loc(#loc0)
      %13 = stablehlo.add %2, %3 : tensor<f32> loc(#loc0)
      %14 = "stablehlo.select"(%12, %13, %11) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      stablehlo.return %14 : tensor<f32>
    }) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32> loc(#loc0)
    return %15 : tensor<4xf32>
  }
}
#loc0 = loc("core/src/execution/eager.rs":347:19)
