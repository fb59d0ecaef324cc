//! Products whose results other operations read in another order of axes.

use crate::{buffer, elements, function, run};
use ramie_cpu::Buffer;
use ramie_cpu::ElementType::*;

/// Small integers, whose products and sums are exact.
fn numbers(shape: &[usize], modulus: usize) -> Buffer {
    let number = |i: usize| (i * 7 % modulus) as f32 - (modulus / 2) as f32;
    let all: Vec<f32> = (0..shape.iter().product()).map(number).collect();
    buffer(shape, F32, &all)
}

/// Checks that a product, reshaped and transposed, has the same elements where that is its only use, and where the
/// program also returns it.
fn check(arguments: &[Buffer], product: [&str; 2], reshaped: &str, order: &str, transposed: &str) {
    let [operation, ty] = product;
    let parameters = format!("%a: {}, %b: {}", arguments[0].ty(), arguments[1].ty());
    let body = format!(
        "%0 = {operation}
         %1 = stablehlo.reshape %0 : ({ty}) -> {reshaped}
         %2 = stablehlo.transpose %1, dims = [{order}] : ({reshaped}) -> {transposed}"
    );
    let alone = function(
        &format!("({parameters}) -> {transposed}"),
        &format!("{body}\nreturn %2 : {transposed}"),
    );
    let both = function(
        &format!("({parameters}) -> ({transposed}, {ty})"),
        &format!("{body}\nreturn %2, %0 : {transposed}, {ty}"),
    );
    let (alone, both) = (run(&alone, arguments), run(&both, arguments));
    assert_eq!(
        elements::<f32>(&alone[0]),
        elements::<f32>(&both[0]),
        "{operation}, {order}"
    );
}

#[test]
fn results_are_written_in_the_order_of_a_transposition() {
    for (batch, heads, length, width) in [(2, 3, 5, 4), (2, 4, 40, 32), (1, 2, 1, 70)] {
        let (b, h, l, w) = (batch, heads, length, width);
        let scores = numbers(&[b, h, l, l], 11);
        let values = numbers(&[b, h, l, w], 5);
        let ty = format!("tensor<{b}x{h}x{l}x{w}xf32>");
        let operation = format!(
            "stablehlo.dot_general %a, %b, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : ({}, {}) -> {ty}",
            scores.ty(),
            values.ty()
        );
        let divided = format!("tensor<{b}x{h}x1x{l}x{w}xf32>");
        for (order, result) in [
            ("0, 3, 1, 2, 4", format!("tensor<{b}x{l}x{h}x1x{w}xf32>")),
            ("0, 4, 2, 1, 3", format!("tensor<{b}x{w}x1x{h}x{l}xf32>")),
            ("1, 2, 0, 4, 3", format!("tensor<{h}x1x{b}x{w}x{l}xf32>")),
            ("3, 0, 1, 2, 4", format!("tensor<{l}x{b}x{h}x1x{w}xf32>")),
        ] {
            let arguments = [scores.clone(), values.clone()];
            check(&arguments, [&operation, &ty], &divided, order, &result);
        }
    }
}

#[test]
fn small_results_of_long_sums_are_written_transposed() {
    for (rows, depth, columns) in [(24, 1100, 16), (6, 4, 10), (128, 2048, 12)] {
        let (a, b) = (numbers(&[depth, rows], 11), numbers(&[depth, columns], 5));
        let ty = format!("tensor<{rows}x{columns}xf32>");
        let operation = format!(
            "stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : ({}, {}) -> {ty}",
            a.ty(),
            b.ty()
        );
        let divided = format!("tensor<2x{}x{}x2xf32>", rows / 2, columns / 2);
        let (r, c) = (rows / 2, columns / 2);
        for (order, result) in [
            ("2, 3, 0, 1", format!("tensor<{c}x2x2x{r}xf32>")),
            ("0, 2, 1, 3", format!("tensor<2x{c}x{r}x2xf32>")),
        ] {
            let arguments = [a.clone(), b.clone()];
            check(&arguments, [&operation, &ty], &divided, order, &result);
        }
    }
}
