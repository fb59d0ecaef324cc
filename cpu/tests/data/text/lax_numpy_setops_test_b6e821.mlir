module @jit__unique_sorted_mask attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xf16>) -> (tensor<6xf16> {jax.result_info = "result[0]"}, tensor<6xi1> {jax.result_info = "result[1]"}, tensor<6xi32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<6xf16>) -> tensor<6x1xf16>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<6x1xf16>) -> tensor<1x6xf16>
    %2 = stablehlo.reverse %1, dims = [0] : tensor<1x6xf16>
    %3 = call @lexsort(%2) : (tensor<1x6xf16>) -> tensor<6xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %5 = stablehlo.compare LT, %3, %4, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
    %c_0 = stablehlo.constant dense<6> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %7 = stablehlo.add %3, %6 : tensor<6xi32>
    %8 = stablehlo.select %5, %7, %3 : tensor<6xi1>, tensor<6xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %10 = "stablehlo.gather"(%arg0, %9) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<6xf16>, tensor<6x1xi32>) -> tensor<6xf16>
    %c_1 = stablehlo.constant dense<true> : tensor<i1>
    %11 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i1>) -> tensor<6xi1>
    %12 = stablehlo.slice %10 [1:6] : (tensor<6xf16>) -> tensor<5xf16>
    %13 = stablehlo.slice %10 [0:5] : (tensor<6xf16>) -> tensor<5xf16>
    %14 = stablehlo.compare NE, %12, %13, FLOAT : (tensor<5xf16>, tensor<5xf16>) -> tensor<5xi1>
    %15 = stablehlo.compare NE, %12, %12, FLOAT : (tensor<5xf16>, tensor<5xf16>) -> tensor<5xi1>
    %16 = stablehlo.compare NE, %13, %13, FLOAT : (tensor<5xf16>, tensor<5xf16>) -> tensor<5xi1>
    %17 = stablehlo.and %15, %16 : tensor<5xi1>
    %18 = stablehlo.not %17 : tensor<5xi1>
    %19 = stablehlo.and %14, %18 : tensor<5xi1>
    %c_2 = stablehlo.constant dense<false> : tensor<i1>
    %20 = stablehlo.reduce(%19 init: %c_2) applies stablehlo.or across dimensions = [] : (tensor<5xi1>, tensor<i1>) -> tensor<5xi1>
    %c_3 = stablehlo.constant dense<1> : tensor<i32>
    %21 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %22 = "stablehlo.scatter"(%11, %21, %20) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg1: tensor<i1>, %arg2: tensor<i1>):
      stablehlo.return %arg2 : tensor<i1>
    }) : (tensor<6xi1>, tensor<1xi32>, tensor<5xi1>) -> tensor<6xi1>
    return %10, %22, %3 : tensor<6xf16>, tensor<6xi1>, tensor<6xi32>
  }
  func.func private @lexsort(%arg0: tensor<1x6xf16>) -> tensor<6xi32> {
    %0 = stablehlo.iota dim = 0 : tensor<6xi32>
    %1 = stablehlo.slice %arg0 [0:1, 0:6] : (tensor<1x6xf16>) -> tensor<1x6xf16>
    %2 = stablehlo.reshape %1 : (tensor<1x6xf16>) -> tensor<6xf16>
    %3:2 = "stablehlo.sort"(%2, %0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f16>, %arg2: tensor<f16>, %arg3: tensor<i32>, %arg4: tensor<i32>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f16>
      %4 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f16>
      %5 = stablehlo.select %4, %cst_0, %arg1 : tensor<i1>, tensor<f16>
      %6 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7E00> : tensor<f16>
      %7 = stablehlo.select %6, %cst_1, %5 : tensor<i1>, tensor<f16>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f16>
      %8 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f16>
      %9 = stablehlo.select %8, %cst_3, %arg2 : tensor<i1>, tensor<f16>
      %10 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7E00> : tensor<f16>
      %11 = stablehlo.select %10, %cst_4, %9 : tensor<i1>, tensor<f16>
      %12 = stablehlo.compare LT, %7, %11, TOTALORDER : (tensor<f16>, tensor<f16>) -> tensor<i1>
      stablehlo.return %12 : tensor<i1>
    }) : (tensor<6xf16>, tensor<6xi32>) -> (tensor<6xf16>, tensor<6xi32>)
    return %3#1 : tensor<6xi32>
  }
}
