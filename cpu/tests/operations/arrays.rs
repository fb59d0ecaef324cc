//! Operations that rearrange, index and sort.

use crate::{buffer, elements, function, run};
use ramie_cpu::ElementType::*;

#[test]
fn padding_may_be_negative_and_interior() {
    let text = function(
        "(%x: tensor<4xi32>, %v: tensor<i32>) -> tensor<6xi32>",
        "%0 = stablehlo.pad %x, %v, low = [-1], high = [0], interior = [1] : (tensor<4xi32>, tensor<i32>) -> tensor<6xi32>
         return %0 : tensor<6xi32>",
    );
    let results = run(
        &text,
        &[buffer(&[4], I32, &[1, 2, 3, 4]), buffer(&[], I32, &[9])],
    );
    assert_eq!(elements::<i32>(&results[0]), [9, 2, 9, 3, 9, 4]);
}

#[test]
fn views_of_views_keep_their_elements() {
    let text = function(
        "(%x: tensor<2x3xf32>) -> tensor<4xf32>",
        "%0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
         %1 = stablehlo.reverse %0, dims = [0] : tensor<3x2xf32>
         %2 = stablehlo.slice %1 [0:3:2, 0:2] : (tensor<3x2xf32>) -> tensor<2x2xf32>
         %3 = stablehlo.reshape %2 : (tensor<2x2xf32>) -> tensor<4xf32>
         return %3 : tensor<4xf32>",
    );
    let results = run(&text, &[buffer(&[2, 3], F32, &[1f32, 2., 3., 4., 5., 6.])]);
    assert_eq!(elements::<f32>(&results[0]), [3., 6., 1., 4.]);
}

#[test]
fn dynamic_slices_clamp_their_starts() {
    let text = function(
        "(%x: tensor<4xi32>, %u: tensor<2xi32>, %i: tensor<i32>) -> (tensor<2xi32>, tensor<4xi32>)",
        "%0 = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<4xi32>, tensor<i32>) -> tensor<2xi32>
         %1 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xi32>, tensor<2xi32>, tensor<i32>) -> tensor<4xi32>
         return %0, %1 : tensor<2xi32>, tensor<4xi32>",
    );
    let x = buffer(&[4], I32, &[1, 2, 3, 4]);
    for (start, slice, updated) in [(9, [3, 4], [1, 2, 7, 8]), (-5, [1, 2], [7, 8, 3, 4])] {
        let results = run(
            &text,
            &[
                x.clone(),
                buffer(&[2], I32, &[7, 8]),
                buffer(&[], I32, &[start]),
            ],
        );
        assert_eq!(elements::<i32>(&results[0]), slice);
        assert_eq!(elements::<i32>(&results[1]), updated);
    }
    assert_eq!(elements::<i32>(&x), [1, 2, 3, 4], "arguments do not change");
}

#[test]
fn gather_clamps_and_scatter_drops() {
    let gather = function(
        "(%x: tensor<3xi32>, %i: tensor<3x1xi32>) -> tensor<3xi32>",
        "%0 = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<3xi32>, tensor<3x1xi32>) -> tensor<3xi32>
         return %0 : tensor<3xi32>",
    );
    let (x, i) = (
        buffer(&[3], I32, &[5, 6, 7]),
        buffer(&[3, 1], I32, &[-1, 1, 9]),
    );
    assert_eq!(
        elements::<i32>(&run(&gather, &[x.clone(), i.clone()])[0]),
        [5, 6, 7]
    );
    let scatter = function(
        "(%x: tensor<3xi32>, %i: tensor<3x1xi32>, %u: tensor<3xi32>) -> tensor<3xi32>",
        "%0 = \"stablehlo.scatter\"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
         ^bb0(%a: tensor<i32>, %b: tensor<i32>):
           %1 = stablehlo.subtract %a, %b : tensor<i32>
           stablehlo.return %1 : tensor<i32>
         }) : (tensor<3xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<3xi32>
         return %0 : tensor<3xi32>",
    );
    let results = run(&scatter, &[x, i, buffer(&[3], I32, &[10, 20, 30])]);
    assert_eq!(elements::<i32>(&results[0]), [5, -14, 7]);
}

#[test]
fn sorts_by_any_comparator() {
    let sort = |compare: &str| {
        function(
            "(%x: tensor<6xi32>, %y: tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>)",
            &format!(
                "%0:2 = \"stablehlo.sort\"(%x, %y) <{{dimension = 0 : i64, is_stable = true}}> ({{
                 ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
                   {compare}
                   stablehlo.return %9 : tensor<i1>
                 }}) : (tensor<6xi32>, tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>)
                 return %0#0, %0#1 : tensor<6xi32>, tensor<6xi32>"
            ),
        )
    };
    let arguments = [
        buffer(&[6], I32, &[3, 1, 3, 2, 1, 3]),
        buffer(&[6], I32, &[0, 1, 2, 3, 4, 5]),
    ];
    let by = |compare: &str| -> Vec<i32> { elements(&run(&sort(compare), &arguments)[1]) };
    let descending =
        "%9 = stablehlo.compare GT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>";
    assert_eq!(by(descending), [0, 2, 5, 3, 1, 4]);
    let two_keys =
        "%1 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
         %2 = stablehlo.compare EQ, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
         %3 = stablehlo.compare GT, %c, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
         %4 = stablehlo.and %2, %3 : tensor<i1>
         %9 = stablehlo.or %1, %4 : tensor<i1>";
    assert_eq!(by(two_keys), [4, 1, 3, 5, 2, 0]);
    // No comparison of keys: the region decides.
    let inverted =
        "%1 = stablehlo.compare GE, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
         %9 = stablehlo.not %1 : tensor<i1>";
    assert_eq!(by(inverted), [1, 4, 3, 0, 2, 5]);
}

#[test]
fn empty_arrays_pass_everywhere() {
    let text = function(
        "(%x: tensor<0x3xf32>, %v: tensor<f32>) -> (tensor<3xf32>, tensor<3x0xf32>, tensor<0x2xf32>)",
        "%0 = stablehlo.reduce(%x init: %v) applies stablehlo.add across dimensions = [0] : (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>
         %1 = stablehlo.transpose %x, dims = [1, 0] : (tensor<0x3xf32>) -> tensor<3x0xf32>
         %2 = stablehlo.exponential %1 : tensor<3x0xf32>
         %c = stablehlo.constant dense<1.0> : tensor<3x2xf32>
         %3 = stablehlo.dot_general %x, %c, contracting_dims = [1] x [0] : (tensor<0x3xf32>, tensor<3x2xf32>) -> tensor<0x2xf32>
         return %0, %2, %3 : tensor<3xf32>, tensor<3x0xf32>, tensor<0x2xf32>",
    );
    let results = run(
        &text,
        &[buffer::<f32>(&[0, 3], F32, &[]), buffer(&[], F32, &[4f32])],
    );
    assert_eq!(elements::<f32>(&results[0]), [4.0; 3]);
    assert!(results[1].bytes().is_empty() && results[2].bytes().is_empty());
}

#[test]
fn bits_of_narrow_integers_are_an_axis() {
    let text = function(
        "(%x: tensor<2xui8>) -> (tensor<2x2xi4>, tensor<2xui8>, tensor<2x2xui4>)",
        "%0 = stablehlo.bitcast_convert %x : (tensor<2xui8>) -> tensor<2x2xi4>
         %1 = stablehlo.bitcast_convert %0 : (tensor<2x2xi4>) -> tensor<2xui8>
         %2 = stablehlo.bitcast_convert %0 : (tensor<2x2xi4>) -> tensor<2x2xui4>
         return %0, %1, %2 : tensor<2x2xi4>, tensor<2xui8>, tensor<2x2xui4>",
    );
    let results = run(&text, &[buffer(&[2], U8, &[0x21u8, 0xf8])]);
    assert_eq!(elements::<i8>(&results[0]), [1, 2, -8, -1]);
    assert_eq!(elements::<u8>(&results[1]), [0x21, 0xf8]);
    assert_eq!(elements::<u8>(&results[2]), [1, 2, 8, 15]);
}
