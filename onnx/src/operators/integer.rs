//! Products and convolutions of quantized integers.

use super::conv::{self, convolve};
use super::quantization::quantized;
use super::{Operator, array};
use crate::call::Call;
use ramie_core::{Array, DType};

pub(super) const OPERATORS: &[Operator] = &[
    array("ConvInteger", |c| {
        let x = centered(&c.array(0), c.optional(2), 1);
        convolve(c, &x, &centered(&c.array(1), c.optional(3), 0))
    })
    .limits(conv::padding),
    array("MatMulInteger", |c| {
        product([&c.array(0), &c.array(1)], [c.optional(2), c.optional(3)])
    }),
    array("QLinearConv", |c| {
        let x = centered(&c.array(0), c.optional(2), 1);
        let sums = convolve(c, &x, &centered(&c.array(3), c.optional(5), 0));
        let sums = match c.optional(8) {
            Some(bias) => &sums + along(&bias, sums.ndim(), 1),
            None => sums,
        };
        rescaled(
            &sums,
            &along(&c.array(1), sums.ndim(), 1),
            &along(&c.array(4), sums.ndim(), 1),
            c,
            6,
        )
    })
    .limits(conv::padding),
    array("QLinearMatMul", |c| {
        let sums = product([&c.array(0), &c.array(3)], [c.optional(2), c.optional(5)]);
        let rows = along(&c.array(1), 2, 0);
        rescaled(&sums, &rows, &along(&c.array(4), 1, 0), c, 6)
    }),
];

/// Adds axes of size 1 to a vector, so that it broadcasts along an axis of an array. Vectors of one
/// element become 0-d, and other arrays are returned unchanged.
fn along(x: &Array, ndim: usize, axis: usize) -> Array {
    match (x.size(), x.ndim()) {
        (1, _) => x.reshape(()),
        (_, 1) => x.expand_dims(&(1..(ndim - axis) as isize).collect::<Vec<_>>()),
        _ => x.clone(),
    }
}

/// Converts to `i32` and subtracts the zero, which may differ along an axis.
fn centered(x: &Array, zero: Option<Array>, axis: usize) -> Array {
    let x = x.astype(DType::I32);
    match zero {
        Some(zero) => &x - along(&zero.astype(DType::I32), x.ndim(), axis),
        None => x,
    }
}

/// Multiplies matrices. There is a zero for each row of the first one, and for each column of the
/// second one, or one for all.
fn product([a, b]: [&Array; 2], [a_zero, b_zero]: [Option<Array>; 2]) -> Array {
    let rows = a.ndim().saturating_sub(2);
    let columns = b.ndim().saturating_sub(1);
    centered(a, a_zero, rows).matmul(centered(b, b_zero, columns))
}

/// Multiplies sums of products with the scales of both operands, and quantizes them with the scale
/// and the zero that are the inputs from `at` on.
fn rescaled(sums: &Array, scale_a: &Array, scale_b: &Array, call: &Call<'_>, at: usize) -> Array {
    let [scale_a, scale_b] = [scale_a, scale_b].map(|scale| scale.astype(DType::F32));
    let scale = call.array(at).astype(DType::F32).reshape(());
    let zero = call.array(at + 1);
    let scaled = (sums.astype(DType::F32) * (scale_a * scale_b / scale)).round();
    quantized(
        &(scaled + zero.astype(DType::F32).reshape(())),
        zero.dtype(),
    )
}
