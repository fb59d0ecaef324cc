//! Results have the same bits for any number of threads.

use crate::{buffer, elements, function};
use ramie_cpu::ElementType::*;
use ramie_cpu::Program;

/// Operations on `%x: tensor<300x1000xf32>` and the zero `%z` that are large enough to be divided, with the type of
/// their result.
const OPERATIONS: &[(&str, &str)] = &[
    ("stablehlo.sine %x : tensor<300x1000xf32>", "300x1000xf32"),
    (
        "stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<300x1000xf32>, tensor<f32>) -> tensor<f32>",
        "f32",
    ),
    (
        "stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<300x1000xf32>, tensor<f32>) -> tensor<300xf32>",
        "300xf32",
    ),
    (
        "stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<300x1000xf32>, tensor<f32>) -> tensor<1000xf32>",
        "1000xf32",
    ),
    (
        "stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<300x1000xf32>, tensor<300x1000xf32>) -> tensor<300x300xf32>",
        "300x300xf32",
    ),
    (
        "stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<300x1000xf32>, tensor<300x1000xf32>) -> tensor<1000x1000xf32>",
        "1000x1000xf32",
    ),
    (
        "stablehlo.dot_general %x, %x, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<300x1000xf32>, tensor<300x1000xf32>) -> tensor<300xf32>",
        "300xf32",
    ),
    (
        "stablehlo.fft %x, type = RFFT, length = [1000] : (tensor<300x1000xf32>) -> tensor<300x501xcomplex<f32>>",
        "300x501xcomplex<f32>",
    ),
    (
        "stablehlo.transpose %x, dims = [1, 0] : (tensor<300x1000xf32>) -> tensor<1000x300xf32>",
        "1000x300xf32",
    ),
    (
        "\"stablehlo.reduce_window\"(%x, %z) <{window_dimensions = array<i64: 1, 1000>, padding = dense<[[0, 0], [999, 0]]> : tensor<2x2xi64>}> ({
         ^bb0(%a: tensor<f32>, %b: tensor<f32>):
           %s = stablehlo.add %a, %b : tensor<f32>
           stablehlo.return %s : tensor<f32>
         }) : (tensor<300x1000xf32>, tensor<f32>) -> tensor<300x1000xf32>",
        "300x1000xf32",
    ),
    (
        "\"stablehlo.sort\"(%x) <{dimension = 1 : i64, is_stable = true}> ({
         ^bb0(%a: tensor<f32>, %b: tensor<f32>):
           %s = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
           stablehlo.return %s : tensor<i1>
         }) : (tensor<300x1000xf32>) -> tensor<300x1000xf32>",
        "300x1000xf32",
    ),
    (
        "stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<30x20x50x10xf32>, tensor<3x3x10x8xf32>) -> tensor<30x20x50x8xf32>",
        "30x20x50x8xf32",
    ),
    (
        "stablehlo.convolution(%image, %outputs) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<30x20x50x10xf32>, tensor<30x20x50x10xf32>) -> tensor<3x3x10x10xf32>",
        "3x3x10x10xf32",
    ),
    (
        "stablehlo.convolution(%first, %kernels) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 1], pad = [[2, 1], [0, 3]], lhs_dilate = [1, 2], rhs_dilate = [1, 2]} {batch_group_count = 1 : i64, feature_group_count = 5 : i64} : (tensor<30x10x20x50xf32>, tensor<20x2x3x3xf32>) -> tensor<30x20x11x98xf32>",
        "30x20x11x98xf32",
    ),
    (
        "stablehlo.convolution(%image, %image) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 10 : i64, feature_group_count = 1 : i64} : (tensor<30x20x50x10xf32>, tensor<30x20x50x10xf32>) -> tensor<3x3x1x10xf32>",
        "3x3x1x10xf32",
    ),
    (
        "\"stablehlo.reduce_window\"(%image, %z) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>, padding = dense<[[0, 0], [1, 1], [0, 0], [0, 0]]> : tensor<4x2xi64>}> ({
         ^bb0(%a: tensor<f32>, %b: tensor<f32>):
           %s = stablehlo.maximum %a, %b : tensor<f32>
           stablehlo.return %s : tensor<f32>
         }) : (tensor<30x20x50x10xf32>, tensor<f32>) -> tensor<30x11x25x10xf32>",
        "30x11x25x10xf32",
    ),
    (
        "\"stablehlo.reduce_window\"(%first, %z) <{window_dimensions = array<i64: 1, 1, 3, 3>, window_strides = array<i64: 1, 1, 1, 2>, padding = dense<[[0, 0], [0, 0], [2, 0], [1, 1]]> : tensor<4x2xi64>}> ({
         ^bb0(%a: tensor<f32>, %b: tensor<f32>):
           %s = stablehlo.add %a, %b : tensor<f32>
           stablehlo.return %s : tensor<f32>
         }) : (tensor<30x10x20x50xf32>, tensor<f32>) -> tensor<30x10x20x25xf32>",
        "30x10x20x25xf32",
    ),
    (
        "\"stablehlo.select_and_scatter\"(%image, %image, %z) <{window_dimensions = array<i64: 1, 3, 3, 1>, padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>}> ({
         ^bb0(%a: tensor<f32>, %b: tensor<f32>):
           %s = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
           stablehlo.return %s : tensor<i1>
         }, {
         ^bb0(%a: tensor<f32>, %b: tensor<f32>):
           %s = stablehlo.add %a, %b : tensor<f32>
           stablehlo.return %s : tensor<f32>
         }) : (tensor<30x20x50x10xf32>, tensor<30x20x50x10xf32>, tensor<f32>) -> tensor<30x20x50x10xf32>",
        "30x20x50x10xf32",
    ),
    (
        "\"stablehlo.scatter\"(%x, %rows, %x) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
         ^bb0(%a: tensor<f32>, %b: tensor<f32>):
           %s = stablehlo.add %a, %b : tensor<f32>
           stablehlo.return %s : tensor<f32>
         }) : (tensor<300x1000xf32>, tensor<300x1xi32>, tensor<300x1000xf32>) -> tensor<300x1000xf32>",
        "300x1000xf32",
    ),
];

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let x: Vec<f32> = (0..300_000).map(|i| (i % 1013) as f32 * 0.37).collect();
    let x = buffer(&[300, 1000], F32, &x);
    for (operation, result) in OPERATIONS {
        let text = function(
            &format!("(%x: tensor<300x1000xf32>) -> tensor<{result}>"),
            &format!(
                "%z = stablehlo.constant dense<0.0> : tensor<f32>
                 %n = stablehlo.iota dim = 0 : tensor<300x1xi32>
                 %seven = stablehlo.constant dense<7> : tensor<300x1xi32>
                 %rows = stablehlo.remainder %n, %seven : tensor<300x1xi32>
                 %image = stablehlo.reshape %x : (tensor<300x1000xf32>) -> tensor<30x20x50x10xf32>
                 %outputs = stablehlo.sine %image : tensor<30x20x50x10xf32>
                 %first = stablehlo.reshape %x : (tensor<300x1000xf32>) -> tensor<30x10x20x50xf32>
                 %few = stablehlo.slice %x [0:1, 0:360] : (tensor<300x1000xf32>) -> tensor<1x360xf32>
                 %kernels = stablehlo.reshape %few : (tensor<1x360xf32>) -> tensor<20x2x3x3xf32>
                 %some = stablehlo.slice %x [0:1, 0:720] : (tensor<300x1000xf32>) -> tensor<1x720xf32>
                 %kernel = stablehlo.reshape %some : (tensor<1x720xf32>) -> tensor<3x3x10x8xf32>
                 %0 = {operation}
                 return %0 : tensor<{result}>"
            ),
        );
        let bits = |threads: usize| -> Vec<u8> {
            let program = Program::compile(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            elements(&program.with_threads(threads).run(&[&x]).unwrap()[0])
        };
        let one = bits(1);
        for threads in [2, 3, 8] {
            assert!(
                bits(threads) == one,
                "{threads} threads give other bits: {operation}"
            );
        }
    }
}
