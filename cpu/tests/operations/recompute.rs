//! Cheap values of large arrays, which later operations compute again.

use crate::{buffer, elements, function};
use ramie_cpu::ElementType::*;
use ramie_cpu::Program;

const SIDE: usize = 128;

/// The values `a` and `b` are used before and after a product. `b` follows from `a` and `x`, and `a` from `x`.
#[test]
fn values_used_before_and_after_a_product_are_not_stored() {
    let array = "tensor<128x128xi32>";
    let text = function(
        &format!("(%x: {array}) -> {array}"),
        &format!(
            "%a = stablehlo.multiply %x, %x : {array}
             %b = stablehlo.multiply %a, %x : {array}
             %c = stablehlo.add %b, %a : {array}
             %d = stablehlo.dot_general %c, %c, contracting_dims = [1] x [0] : ({array}, {array}) -> {array}
             %e = stablehlo.multiply %d, %b : {array}
             %f = stablehlo.add %e, %a : {array}
             %g = stablehlo.subtract %f, %x : {array}
             return %g : {array}"
        ),
    );
    let program = Program::compile(&text).expect("a valid program");
    let x: Vec<i32> = (0..SIDE * SIDE).map(|i| i as i32 * 7919 % 1009).collect();
    let c = |i: usize| x[i].wrapping_pow(3).wrapping_add(x[i].wrapping_pow(2));
    let expected = |i: usize| {
        let (row, column) = (i / SIDE * SIDE, i % SIDE);
        let products = (0..SIDE).map(|k| c(row + k).wrapping_mul(c(k * SIDE + column)));
        let d = products.fold(0, i32::wrapping_add);
        let f = d
            .wrapping_mul(x[i].wrapping_pow(3))
            .wrapping_add(x[i].wrapping_pow(2));
        f.wrapping_sub(x[i])
    };
    let expected: Vec<i32> = (0..SIDE * SIDE).map(expected).collect();
    let results = program
        .run(&[&buffer(&[SIDE, SIDE], I32, &x)])
        .expect("a run");
    assert_eq!(elements::<i32>(&results[0]), expected);
    // At the same time, there are two of `c`, `d` and `g` at most.
    assert_eq!(program.peak(), 2 * 4 * SIDE * SIDE);
}
