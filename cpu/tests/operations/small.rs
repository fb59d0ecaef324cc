//! Operations on small arrays and on constants, which run together.

use crate::{buffer, elements, function, run};
use ramie_cpu::ElementType::*;
use std::fmt::Write;

#[test]
fn unconnected_operations_do_not_mix() {
    const N: usize = 150;
    let list = |each: &dyn Fn(usize) -> String| (0..N).map(each).collect::<Vec<_>>().join(", ");
    let parameters = list(&|i| format!("%x{i}: tensor<3xi32>"));
    let types = list(&|_| "tensor<3xi32>".into());
    let mut body = String::new();
    for i in 0..N {
        // Each fourth array also depends on the one before it.
        let other = if i % 4 == 3 { i - 1 } else { i };
        writeln!(
            body,
            "%c{i} = stablehlo.constant dense<{}> : tensor<3xi32>
             %y{i} = stablehlo.multiply %x{i}, %c{i} : tensor<3xi32>
             %z{i} = stablehlo.add %y{i}, %y{other} : tensor<3xi32>",
            i % 7
        )
        .unwrap();
    }
    let results = list(&|i| format!("%z{i}"));
    let text = function(
        &format!("({parameters}) -> ({types})"),
        &format!("{body}return {results} : {types}"),
    );
    let numbers = |i: usize| [0, 1, 2].map(|k| (10 * i + k) as i32);
    let arguments: Vec<_> = (0..N).map(|i| buffer(&[3], I32, &numbers(i))).collect();
    let results = run(&text, &arguments);
    for (i, result) in results.iter().enumerate() {
        let other = if i % 4 == 3 { i - 1 } else { i };
        let product = |i: usize, k: usize| numbers(i)[k] * (i % 7) as i32;
        let expected = [0, 1, 2].map(|k| product(i, k) + product(other, k));
        assert_eq!(elements::<i32>(result), expected, "result {i}");
    }
}

#[test]
fn operations_on_constants_have_the_values_of_operations_on_arrays() {
    let text = function(
        "(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf32>)",
        "%a = stablehlo.constant dense<2.0> : tensor<f32>
         %b = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
         %0 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
         %1 = stablehlo.negate %0 : tensor<2x3xf32>
         %2 = stablehlo.multiply %1, %b : tensor<2x3xf32>
         %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
         %4 = stablehlo.reshape %1 : (tensor<2x3xf32>) -> tensor<6xf32>
         %5 = stablehlo.reshape %4 : (tensor<6xf32>) -> tensor<2x3xf32>
         %6 = stablehlo.divide %x, %5 : tensor<2x3xf32>
         return %1, %3, %6 : tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf32>",
    );
    let x = buffer(&[2, 3], F32, &[1f32, -2.0, 3.0, 0.0, 5.0, 6.0]);
    let results = run(&text, &[x]);
    assert_eq!(elements::<f32>(&results[0]), [-2f32; 6]);
    let products = [-2f32, -8.0, -4.0, -10.0, -6.0, -12.0];
    assert_eq!(elements::<f32>(&results[1]), products);
    let quotients = [-0.5f32, 1.0, -1.5, -0.0, -2.5, -3.0];
    assert_eq!(elements::<f32>(&results[2]), quotients);
}

#[test]
fn views_follow_operands_in_another_order_of_memory() {
    let text = function(
        "(%x: tensor<2x3xi32>) -> tensor<2x3xi32>",
        "%z = stablehlo.constant dense<0> : tensor<i32>
         %0:2 = stablehlo.while(%i = %z, %y = %x) : tensor<i32>, tensor<2x3xi32>
         cond {
           %n = stablehlo.constant dense<3> : tensor<i32>
           %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
           stablehlo.return %1 : tensor<i1>
         } do {
           %one = stablehlo.constant dense<1> : tensor<i32>
           %1 = stablehlo.add %i, %one : tensor<i32>
           %2 = stablehlo.transpose %y, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
           %3 = stablehlo.reshape %2 : (tensor<3x2xi32>) -> tensor<2x3xi32>
           stablehlo.return %1, %3 : tensor<i32>, tensor<2x3xi32>
         }
         %4 = stablehlo.reverse %0#1, dims = [1] : tensor<2x3xi32>
         return %4 : tensor<2x3xi32>",
    );
    let x = buffer(&[2, 3], I32, &[0, 1, 2, 3, 4, 5]);
    // Transposed and reshaped: 0 3 1 4 2 5, then 0 4 3 2 1 5, then 0 2 4 1 3 5.
    assert_eq!(elements::<i32>(&run(&text, &[x])[0]), [4, 2, 0, 5, 3, 1]);
}

#[test]
fn reductions_of_single_elements_use_the_initial_value() {
    let text = function(
        "(%x: tensor<1x3x1xf32>, %z: tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>)",
        "%0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 2] : (tensor<1x3x1xf32>, tensor<f32>) -> tensor<3xf32>
         %1 = \"stablehlo.reduce\"(%x, %z) <{dimensions = array<i64: 0, 2>}> ({
         ^bb0(%a: tensor<f32>, %b: tensor<f32>):
           %s = stablehlo.subtract %a, %b : tensor<f32>
           stablehlo.return %s : tensor<f32>
         }) : (tensor<1x3x1xf32>, tensor<f32>) -> tensor<3xf32>
         return %0, %1 : tensor<3xf32>, tensor<3xf32>",
    );
    let x = buffer(&[1, 3, 1], F32, &[1f32, 2.0, 3.0]);
    let results = run(&text, &[x, buffer(&[], F32, &[10f32])]);
    assert_eq!(elements::<f32>(&results[0]), [11f32, 12.0, 13.0]);
    assert_eq!(elements::<f32>(&results[1]), [9f32, 8.0, 7.0]);
}
