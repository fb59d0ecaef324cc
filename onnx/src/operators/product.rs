//! Products of matrices.

use super::{Operator, array, binary};
use crate::call::Call;
use ramie_core::{Array, DType, einsum};

pub(super) const OPERATORS: &[Operator] = &[
    array("Einsum", |c| einsum(c.text("equation", ""), &c.arrays())),
    array("Gemm", gemm),
    binary("MatMul", |a, b| a.matmul(b)),
    array("MatMulInteger", |c| {
        let [a, b] = [0, 1].map(|i| c.array(i).astype(DType::I32));
        let [a_zero, b_zero] = [2, 3].map(|i| c.optional(i).map(|z| z.astype(DType::I32)));
        // One zero for each row of the first operand, and for each column of the second.
        let a = a_zero.map_or(a.clone(), |z| {
            if z.ndim() == 1 {
                &a - z.expand_dims(&[1])
            } else {
                &a - z
            }
        });
        let b = b_zero.map_or(b.clone(), |z| &b - z);
        a.matmul(b)
    }),
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
