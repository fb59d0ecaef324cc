//! The pretty and the generic form of an operation give the same operation.

use crate::{normalize, operation};

/// Arguments, pretty form, generic form.
pub const FORMS: &[(&str, &str, &str)] = &[
    (
        "%a: tensor<3xf32>",
        "%0 = stablehlo.tanh %a : tensor<3xf32>",
        r#"%0 = "stablehlo.tanh"(%a) : (tensor<3xf32>) -> tensor<3xf32>"#,
    ),
    (
        "%a: tensor<3xf32>",
        "%0 = stablehlo.exponential %a {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<3xf32>",
        r#"%0 = "stablehlo.exponential"(%a) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<3xf32>) -> tensor<3xf32>"#,
    ),
    (
        "%a: tensor<3xi4>",
        "%0 = stablehlo.convert %a : (tensor<3xi4>) -> tensor<3xf8E4M3FN>",
        r#"%0 = "stablehlo.convert"(%a) : (tensor<3xi4>) -> tensor<3xf8E4M3FN>"#,
    ),
    (
        "%a: tensor<2x0xui8>, %b: tensor<2x0xui8>",
        "%0 = stablehlo.add %a, %b : tensor<2x0xui8>",
        r#"%0 = "stablehlo.add"(%a, %b) : (tensor<2x0xui8>, tensor<2x0xui8>) -> tensor<2x0xui8>"#,
    ),
    (
        "%a: tensor<f32>, %b: tensor<3xf32>",
        "%0 = stablehlo.clamp %a, %b, %a : (tensor<f32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>",
        r#"%0 = "stablehlo.clamp"(%a, %b, %a) : (tensor<f32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>"#,
    ),
    (
        "",
        "%0 = stablehlo.constant dense<[1, -2]> : tensor<2xi64>",
        r#"%0 = "stablehlo.constant"() <{value = dense<[1, -2]> : tensor<2xi64>}> : () -> tensor<2xi64>"#,
    ),
    (
        "",
        "%0 = stablehlo.constant {a} dense<0x7FC00000> : tensor<f32>",
        r#"%0 = stablehlo.constant() <{value = dense<0x7FC00000> : tensor<f32>}> {a} : () -> tensor<f32>"#,
    ),
    (
        "%a: tensor<3xf32>, %b: tensor<3xf32>",
        "%0 = stablehlo.complex %a, %b : tensor<3xcomplex<f32>>",
        r#"%0 = "stablehlo.complex"(%a, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xcomplex<f32>>"#,
    ),
    (
        "%a: tensor<3xf32>, %b: tensor<3xf32>",
        "%0 = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>",
        r#"%0 = "stablehlo.compare"(%a, %b) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>"#,
    ),
    (
        "%a: tensor<3xf32>",
        "%0 = stablehlo.compare EQ, %a, %a : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>",
        r#"%0 = "stablehlo.compare"(%a, %a) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>"#,
    ),
    (
        "%p: tensor<i1>, %a: tensor<3xf32>",
        "%0 = stablehlo.select %p, %a, %a : tensor<i1>, tensor<3xf32>",
        r#"%0 = "stablehlo.select"(%p, %a, %a) : (tensor<i1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>"#,
    ),
    (
        "%a: tensor<3xf32>",
        "%0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>",
        r#"%0 = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 1>}> : (tensor<3xf32>) -> tensor<2x3xf32>"#,
    ),
    (
        "%a: tensor<f32>",
        "%0 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<3xf32>",
        r#"%0 = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>"#,
    ),
    (
        "",
        "%0 = stablehlo.iota dim = 1 : tensor<2x3xi32>",
        r#"%0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2x3xi32>"#,
    ),
    (
        "%a: tensor<6xf32>",
        "%0 = stablehlo.reshape %a : (tensor<6xf32>) -> tensor<2x3xf32>",
        r#"%0 = "stablehlo.reshape"(%a) : (tensor<6xf32>) -> tensor<2x3xf32>"#,
    ),
    (
        "%a: tensor<2x3xf32>",
        "%0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>",
        r#"%0 = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>"#,
    ),
    (
        "%a: tensor<2x3xf32>",
        "%0 = stablehlo.reverse %a, dims = [0, 1] : tensor<2x3xf32>",
        r#"%0 = "stablehlo.reverse"(%a) <{dimensions = array<i64: 0, 1>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>"#,
    ),
    (
        "%a: tensor<9x3xf32>",
        "%0 = stablehlo.slice %a [1:9:2, 0:3] : (tensor<9x3xf32>) -> tensor<4x3xf32>",
        r#"%0 = "stablehlo.slice"(%a) <{start_indices = array<i64: 1, 0>, limit_indices = array<i64: 9, 3>, strides = array<i64: 2, 1>}> : (tensor<9x3xf32>) -> tensor<4x3xf32>"#,
    ),
    (
        "%a: tensor<f32>",
        "%0 = stablehlo.slice %a [] : (tensor<f32>) -> tensor<f32>",
        r#"%0 = "stablehlo.slice"(%a) <{start_indices = array<i64>, limit_indices = array<i64>, strides = array<i64>}> : (tensor<f32>) -> tensor<f32>"#,
    ),
    (
        "%a: tensor<4x4xf32>, %i: tensor<i32>",
        "%0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [2, 3] : (tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>",
        r#"%0 = "stablehlo.dynamic_slice"(%a, %i, %i) <{slice_sizes = array<i64: 2, 3>}> : (tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>"#,
    ),
    (
        "%a: tensor<4xf32>, %b: tensor<2xf32>, %i: tensor<i32>",
        "%0 = stablehlo.dynamic_update_slice %a, %b, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>",
        r#"%0 = "stablehlo.dynamic_update_slice"(%a, %b, %i) : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>"#,
    ),
    (
        "%a: tensor<1x2xf32>, %b: tensor<3x2xf32>",
        "%0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1x2xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>",
        r#"%0 = "stablehlo.concatenate"(%a, %b) <{dimension = 0 : i64}> : (tensor<1x2xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>"#,
    ),
    (
        "%a: tensor<4xf32>, %b: tensor<f32>",
        "%0 = stablehlo.pad %a, %b, low = [-1], high = [2], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>",
        r#"%0 = "stablehlo.pad"(%a, %b) <{edge_padding_low = array<i64: -1>, edge_padding_high = array<i64: 2>, interior_padding = array<i64: 0>}> : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>"#,
    ),
    (
        "%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>",
        "%0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, DEFAULT] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
        r#"%0 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>"#,
    ),
    (
        "%a: tensor<3x4xbf16>, %b: tensor<4x5xbf16>",
        "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<3x4xbf16>, tensor<4x5xbf16>) -> tensor<3x5xf32>",
        r#"%0 = "stablehlo.dot_general"(%a, %b) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<3x4xbf16>, tensor<4x5xbf16>) -> tensor<3x5xf32>"#,
    ),
    (
        "%a: tensor<3xf32>",
        "%0 = stablehlo.dot %a, %a, precision = [HIGH, HIGH] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>",
        r#"%0 = "stablehlo.dot"(%a, %a) <{precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGH>]}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>"#,
    ),
    (
        "%a: tensor<1x8x8x3xf32>, %b: tensor<3x3x3x4xf32>",
        "%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, f, 1, 0], window = {stride = [2, 1], pad = [[1, 1], [0, 2]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x4x8x4xf32>",
        r#"%0 = "stablehlo.convolution"(%a, %b) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 1, output_spatial_dimensions = [3, 2]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<[[1, 1], [0, 2]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, true>, window_strides = array<i64: 2, 1>}> : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x4x8x4xf32>"#,
    ),
    (
        "%a: tensor<3x3xf32>, %b: tensor<3x3xf32>",
        "%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f]x[i, o]->[b, f], window = {pad = []} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>",
        r#"%0 = "stablehlo.convolution"(%a, %b) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f]x[i, o]->[b, f]>, feature_group_count = 1 : i64, padding = dense<> : tensor<0x2xi64>}> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>"#,
    ),
    (
        "%a: tensor<4x5xf32>, %b: tensor<f32>",
        "%0 = stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [1] : (tensor<4x5xf32>, tensor<f32>) -> tensor<4xf32>",
        r#"%0 = "stablehlo.reduce"(%a, %b) <{dimensions = array<i64: 1>}> ({
            ^bb0(%x: tensor<f32>, %y: tensor<f32>):
              %1 = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
              "stablehlo.return"(%1) : (tensor<f32>) -> ()
            }) : (tensor<4x5xf32>, tensor<f32>) -> tensor<4xf32>"#,
    ),
    (
        "%a: tensor<4xf32>, %i: tensor<4xi32>, %b: tensor<f32>, %c: tensor<i32>",
        "%0:2 = stablehlo.reduce(%a init: %b), (%i init: %c) across dimensions = [0] {a} : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
           reducer(%x: tensor<f32>, %z: tensor<f32>) (%y: tensor<i32>, %w: tensor<i32>)  {
            stablehlo.return %z, %y : tensor<f32>, tensor<i32>
          }",
        r#"%0, %1 = "stablehlo.reduce"(%a, %i, %b, %c) <{dimensions = array<i64: 0>}> ({
            ^bb0(%x: tensor<f32>, %y: tensor<i32>, %z: tensor<f32>, %w: tensor<i32>):
              "stablehlo.return"(%z, %y) : (tensor<f32>, tensor<i32>) -> ()
            }) {a} : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)"#,
    ),
    (
        "%a: tensor<i32>, %b: tensor<f32>",
        "%0:2 = stablehlo.while(%x = %a, %y = %b) : tensor<i32>, tensor<f32> attributes {a = 1}
           cond {
             %c = stablehlo.compare LT, %x, %a, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
             stablehlo.return %c : tensor<i1>
           } do {
             stablehlo.return %x, %y : tensor<i32>, tensor<f32>
           }",
        r#"%0:2 = "stablehlo.while"(%a, %b) ({
            ^bb0(%x: tensor<i32>, %y: tensor<f32>):
              %1 = "stablehlo.compare"(%x, %a) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
              "stablehlo.return"(%1) : (tensor<i1>) -> ()
            }, {
            ^bb0(%x: tensor<i32>, %y: tensor<f32>):
              "stablehlo.return"(%x, %y) : (tensor<i32>, tensor<f32>) -> ()
            }) {a = 1 : i64} : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)"#,
    ),
    (
        "%a: tensor<f32>",
        "%0 = call @g(%a) : (tensor<f32>) -> tensor<f32>",
        r#"%0 = "func.call"(%a) <{callee = @g}> : (tensor<f32>) -> tensor<f32>"#,
    ),
    (
        "%a: tensor<f32>",
        "%0 = func.call @\"g\"(%a) {a} : (tensor<f32>) -> tensor<f32>",
        r#"%0 = "func.call"(%a) <{callee = @g}> {a} : (tensor<f32>) -> tensor<f32>"#,
    ),
    (
        "%a: tensor<f32>",
        "%0 = stablehlo.composite \"my.op\" %a {composite_attributes = {k = 3 : i64, s = false}, decomposition = @g, version = 1 : i32} : (tensor<f32>) -> tensor<f32>",
        r#"%0 = "stablehlo.composite"(%a) <{composite_attributes = {k = 3 : i64, s = false}, decomposition = @g, name = "my.op", version = 1 : i32}> : (tensor<f32>) -> tensor<f32>"#,
    ),
    (
        "%a: tensor<2x3xf32>",
        "%0 = stablehlo.custom_call @Target(%a) {api_version = 4 : i32, backend_config = {x = 1.5 : f32}, operand_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tuple<tensor<f32>>",
        r#"%0 = "stablehlo.custom_call"(%a) <{api_version = 4 : i32, backend_config = {x = 1.5 : f32}, call_target_name = "Target", operand_layouts = [dense<[1, 0]> : tensor<2xindex>]}> : (tensor<2x3xf32>) -> tuple<tensor<f32>>"#,
    ),
    (
        "%a: tensor<4x8xf32>",
        "%0 = stablehlo.fft %a, type = RFFT, length = [8] : (tensor<4x8xf32>) -> tensor<4x5xcomplex<f32>>",
        r#"%0 = "stablehlo.fft"(%a) <{fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 8>}> : (tensor<4x8xf32>) -> tensor<4x5xcomplex<f32>>"#,
    ),
    (
        "%a: tensor<2xui64>",
        "%state, %bits = stablehlo.rng_bit_generator %a, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)",
        r#"%0:2 = "stablehlo.rng_bit_generator"(%a) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)"#,
    ),
    (
        "%a: tensor<f32>, %s: tensor<1xi64>",
        "%0 = stablehlo.rng %a, %a, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<3xf32>",
        r#"%0 = "stablehlo.rng"(%a, %a, %s) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<3xf32>"#,
    ),
    (
        "%t: tuple<tensor<f32>, tuple<tensor<2xi1>>>",
        "%0 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<f32>, tuple<tensor<2xi1>>>) -> tuple<tensor<2xi1>>",
        r#"%0 = "stablehlo.get_tuple_element"(%t) <{index = 1 : i32}> : (tuple<tensor<f32>, tuple<tensor<2xi1>>>) -> tuple<tensor<2xi1>>"#,
    ),
    (
        "%a: tensor<f32>, %b: tensor<2xi1>",
        "%0 = stablehlo.tuple %a, %b : tuple<tensor<f32>, tensor<2xi1>>",
        r#"%0 = "stablehlo.tuple"(%a, %b) : (tensor<f32>, tensor<2xi1>) -> tuple<tensor<f32>, tensor<2xi1>>"#,
    ),
    (
        "%a: tensor<3xf32>",
        "%0 = stablehlo.reduce_precision %a, format = e5m10 : tensor<3xf32>",
        r#"%0 = "stablehlo.reduce_precision"(%a) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : (tensor<3xf32>) -> tensor<3xf32>"#,
    ),
    (
        "%a: tensor<3xf32>, %b: tensor<i1>",
        "%0:2 = stablehlo.optimization_barrier %a, %b : tensor<3xf32>, tensor<i1>",
        r#"%0:2 = "stablehlo.optimization_barrier"(%a, %b) : (tensor<3xf32>, tensor<i1>) -> (tensor<3xf32>, tensor<i1>)"#,
    ),
    (
        "",
        "stablehlo.optimization_barrier()",
        r#""stablehlo.optimization_barrier"() : () -> ()"#,
    ),
    (
        "%a: tensor<3x3xf32>",
        "%0 = stablehlo.cholesky %a, lower = true : tensor<3x3xf32>",
        r#"%0 = "stablehlo.cholesky"(%a) <{lower = true}> : (tensor<3x3xf32>) -> tensor<3x3xf32>"#,
    ),
    (
        "%a: !stablehlo.token, %b: !stablehlo.token",
        "%0 = stablehlo.after_all %a, %b : !stablehlo.token",
        r#"%0 = "stablehlo.after_all"(%a, %b) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token"#,
    ),
    (
        "",
        "%0 = stablehlo.replica_id : tensor<ui32>",
        r#"%0 = "stablehlo.replica_id"() : () -> tensor<ui32>"#,
    ),
    (
        "%a: tensor<2x3xf32>",
        "%0 = stablehlo.get_dimension_size %a, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>",
        r#"%0 = "stablehlo.get_dimension_size"(%a) <{dimension = 1 : i64}> : (tensor<2x3xf32>) -> tensor<i32>"#,
    ),
    (
        "%a: tensor<2x3xf32>",
        "%0 = stablehlo.einsum %a, %a, config = \"ab,ab->a\" : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>",
        r#"%0 = "stablehlo.einsum"(%a, %a) <{einsum_config = "ab,ab->a"}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>"#,
    ),
    (
        "%a: tensor<3xf32>",
        "%0 = chlo.erf_inv %a : tensor<3xf32> -> tensor<3xf32>",
        r#"%0 = "chlo.erf_inv"(%a) : (tensor<3xf32>) -> tensor<3xf32>"#,
    ),
    (
        "%a: tensor<3xf32>",
        "%0 = chlo.next_after %a, %a : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>",
        r#"%0 = "chlo.next_after"(%a, %a) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>"#,
    ),
    (
        "%a: tensor<3xf32>, %b: tensor<f32>",
        "%0 = chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64>} : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>",
        r#"%0 = "chlo.broadcast_add"(%a, %b) <{broadcast_dimensions = array<i64>}> : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>"#,
    ),
    (
        "%a: tensor<5xf32>",
        "%values, %indices = chlo.top_k(%a, k = 2, is_stable = false) : tensor<5xf32> -> (tensor<2xf32>, tensor<2xi32>)",
        r#"%0:2 = "chlo.top_k"(%a) <{k = 2 : i64, is_stable = false}> : (tensor<5xf32>) -> (tensor<2xf32>, tensor<2xi32>)"#,
    ),
    (
        "%a: tensor<2x3xf32>, %b: tensor<3xf32>",
        "%0, %1 = chlo.scan(%a) inits (%b) dimension=0 attributes {is_reverse = true} {
           ^bb0(%x: tensor<3xf32>, %y: tensor<3xf32>):
             stablehlo.return %x, %y : tensor<3xf32>, tensor<3xf32>
           } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)",
        r#"%0, %1 = "chlo.scan"(%a, %b) <{dimension = 0 : i64, is_reverse = true, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
           ^bb0(%x: tensor<3xf32>, %y: tensor<3xf32>):
             stablehlo.return %x, %y : tensor<3xf32>, tensor<3xf32>
           }) : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)"#,
    ),
    (
        "%a: tensor<4x8xf32>",
        r#"%0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<4x8xf32>"#,
        r#"%0 = "sdy.sharding_constraint"(%a) <{sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>"#,
    ),
    (
        "%a: tensor<4xf32>",
        r#"%0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<2xf32>) {
             sdy.return %b : tensor<2xf32>
           } : (tensor<4xf32>) -> tensor<4xf32>"#,
        r#"%0 = "sdy.manual_computation"(%a) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}> ({
           ^bb0(%b: tensor<2xf32>):
             "sdy.return"(%b) : (tensor<2xf32>) -> ()
           }) : (tensor<4xf32>) -> tensor<4xf32>"#,
    ),
];

#[test]
fn pretty_and_generic_forms_are_equal() {
    for (arguments, pretty, generic) in FORMS {
        let mut operations = [pretty, generic].map(|text| operation(arguments, text));
        operations.iter_mut().for_each(normalize);
        let [pretty, generic] = operations.map(|o| format!("{o:#?}"));
        assert_eq!(pretty, generic);
    }
}

#[test]
fn missing_fields_of_structures_have_defaults() {
    use ramie_cpu::text::Attribute;
    let value = crate::attribute("#stablehlo.gather<offset_dims = [1], start_index_map = [0, 2],>");
    let Attribute::Structure { name, fields } = value else {
        panic!("not a structure");
    };
    assert_eq!(name, "gather");
    let names: Vec<&str> = fields.0.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "offset_dims",
            "collapsed_slice_dims",
            "operand_batching_dims",
            "start_indices_batching_dims",
            "start_index_map",
            "index_vector_dim"
        ]
    );
    assert_eq!(
        fields.get("collapsed_slice_dims"),
        Some(&Attribute::List(vec![]))
    );
    assert_eq!(fields.get("index_vector_dim"), Some(&Attribute::Integer(0)));
}
