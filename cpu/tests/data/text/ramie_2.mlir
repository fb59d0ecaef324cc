module @jit attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%0: tensor<4xui32>) -> (tensor<7xbf16>) {
    %1 = func.call @_normal(%0) : (tensor<4xui32>) -> tensor<7xbf16> loc(#loc1)
    return %1 : tensor<7xbf16>
  }
  func.func private @_normal(%0: tensor<4xui32>) -> (tensor<7xbf16>) {
    %1 = "stablehlo.reshape"(%0) : (tensor<4xui32>) -> tensor<2x2xui32> loc(#loc0)
    %2 = "stablehlo.bitcast_convert"(%1) : (tensor<2x2xui32>) -> tensor<2xui64> loc(#loc0)
    %3:2 = "stablehlo.rng_bit_generator"(%2) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui8>) loc(#loc0)
    %4 = "stablehlo.bitcast_convert"(%3#0) : (tensor<2xui64>) -> tensor<2x2xui32> loc(#loc0)
    %5 = "stablehlo.reshape"(%4) : (tensor<2x2xui32>) -> tensor<4xui32> loc(#loc0)
    %6 = "stablehlo.convert"(%3#1) : (tensor<7xui8>) -> tensor<7xui16> loc(#loc0)
    %7 = stablehlo.constant dense<1> : tensor<ui16> loc(#loc0)
    %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<ui16>) -> tensor<7xui16> loc(#loc0)
    %9 = stablehlo.shift_right_logical %6, %8 : tensor<7xui16> loc(#loc0)
    %10 = stablehlo.constant dense<16256> : tensor<ui16> loc(#loc0)
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<ui16>) -> tensor<7xui16> loc(#loc0)
    %12 = stablehlo.or %9, %11 : tensor<7xui16> loc(#loc0)
    %13 = "stablehlo.bitcast_convert"(%12) : (tensor<7xui16>) -> tensor<7xbf16> loc(#loc0)
    %14 = stablehlo.constant dense<1.0e0> : tensor<bf16> loc(#loc0)
    %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<7xbf16> loc(#loc0)
    %16 = stablehlo.subtract %13, %15 : tensor<7xbf16> loc(#loc0)
    %17 = stablehlo.constant dense<-9.9609375e-1> : tensor<bf16> loc(#loc0)
    %18 = stablehlo.subtract %14, %17 : tensor<bf16> loc(#loc0)
    %19 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<7xbf16> loc(#loc0)
    %20 = stablehlo.multiply %16, %19 : tensor<7xbf16> loc(#loc0)
    %21 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<7xbf16> loc(#loc0)
    %22 = stablehlo.add %20, %21 : tensor<7xbf16> loc(#loc0)
    %23 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<7xbf16> loc(#loc0)
    %24 = stablehlo.maximum %23, %22 : tensor<7xbf16> loc(#loc0)
    %25 = chlo.erf_inv %24 : tensor<7xbf16> -> tensor<7xbf16> loc(#loc0)
    %26 = stablehlo.constant dense<1.4140625e0> : tensor<bf16> loc(#loc0)
    %27 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<7xbf16> loc(#loc0)
    %28 = stablehlo.multiply %25, %27 : tensor<7xbf16> loc(#loc0)
    return %28 : tensor<7xbf16>
  }
}
#loc0 = loc("core/tests/operations/samplers.rs":79:21)
#loc1 = loc("core/src/execution/eager.rs":347:19)
