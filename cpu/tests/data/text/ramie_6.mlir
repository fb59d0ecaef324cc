module @gather attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%0: tensor<4xcomplex<f32>>, %1: tensor<1xi32>) -> (tensor<complex<f32>>) {
    %2 = "stablehlo.gather"(%0, %1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 0>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<4xcomplex<f32>>, tensor<1xi32>) -> tensor<complex<f32>> loc(#loc0)
    %3 = stablehlo.constant dense<[3]> : tensor<1xi32> loc(#loc0)
    %4 = stablehlo.constant dense<0> : tensor<1xi32> loc(#loc0)
    %5 = stablehlo.compare GE, %1, %4, SIGNED : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1> loc(#loc0)
    %6 = stablehlo.compare LE, %1, %3, SIGNED : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1> loc(#loc0)
    %7 = stablehlo.and %5, %6 : tensor<1xi1> loc(#loc0)
    %8 = stablehlo.constant dense<true> : tensor<i1> loc(#loc0)
    %13 = "stablehlo.reduce"(%7, %8) <{dimensions = array<i64: 0>}> ({
    ^bb0(%9: tensor<i1>, %10: tensor<i1>):
      %12 = stablehlo.and %9, %10 : tensor<i1> loc(#loc0)
      stablehlo.return %12 : tensor<i1>
    }) : (tensor<1xi1>, tensor<i1>) -> tensor<i1> loc(#loc0)
    %14 = stablehlo.constant dense<(0x7FC00000, 0.0e0)> : tensor<complex<f32>> loc(#loc0)
    %15 = "stablehlo.select"(%13, %2, %14) : (tensor<i1>, tensor<complex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>> loc(#loc0)
    return %15 : tensor<complex<f32>>
  }
}
#loc0 = loc("core/src/execution/eager.rs":347:19)
