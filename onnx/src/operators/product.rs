//! Products of matrices.

use super::{Operator, array, binary};
use crate::call::Call;
use ramie_core::{Array, einsum};

pub(super) const OPERATORS: &[Operator] = &[
    array("Einsum", |c| einsum(c.text("equation", ""), &c.arrays())),
    array("Gemm", gemm),
    binary("MatMul", |a, b| a.matmul(b)),
];

/// Computes `alpha · a · b + beta · c`, with `a` and `b` transposed on request.
fn gemm(call: &Call<'_>) -> Array {
    let operand = |i: usize, transposed: &str| {
        let x = call.array(i);
        if call.int(transposed, 0) != 0 {
            x.t()
        } else {
            x
        }
    };
    let scaled = |x: Array, name: &str| match call.float(name, 1.0) {
        1.0 => x,
        factor => x * factor,
    };
    let product = scaled(operand(0, "transA").matmul(operand(1, "transB")), "alpha");
    match call.optional(2) {
        Some(c) => product + scaled(c, "beta"),
        None => product,
    }
}
