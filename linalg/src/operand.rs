//! Checks and conversions of operands.

use ramie_core::{Array, DType, custom_jvp};

/// Converts integers and booleans to floats, and checks dtype and rank.
#[track_caller]
pub(crate) fn matrices(operation: &str, a: &Array) -> Array {
    let a = if a.dtype().is_inexact() {
        a.clone()
    } else {
        a.astype(DType::F32)
    };
    let dtype = a.dtype();
    if !matches!(dtype, DType::F32 | DType::F64 | DType::C64 | DType::C128) {
        panic!(
            "{operation}: expects f32, f64, c64 or c128, got {}\n  \
             help: convert the operand with astype(DType::F32)",
            a.aval()
        );
    }
    if a.ndim() < 2 {
        panic!(
            "{operation}: expects matrices along the last two axes, got shape {:?}\n  \
             help: add axes with reshape or expand_dims",
            a.shape()
        );
    }
    a
}

/// Same as [`matrices`], for square matrices.
#[track_caller]
pub(crate) fn square_matrices(operation: &str, a: &Array) -> Array {
    let a = matrices(operation, a);
    let [.., rows, columns] = *a.shape() else {
        unreachable!("matrices have two axes")
    };
    if rows != columns {
        panic!(
            "{operation}: expects square matrices along the last two axes, got shape {:?}\n  \
             help: use qr, svd or pinv, which accept matrices of any shape",
            a.shape()
        );
    }
    a
}

/// Returns the number of rows.
pub(crate) fn size(a: &Array) -> usize {
    a.shape()[a.ndim() - 2]
}

/// Applies a function whose derivative is an error.
#[track_caller]
pub(crate) fn without_derivative(
    operation: &'static str,
    f: impl Fn(Array) -> (Array, Array) + Send + Sync + 'static,
    a: Array,
) -> (Array, Array) {
    let rule = move |_: Array, _: Array| -> ((Array, Array), (Array, Array)) {
        panic!(
            "{operation}: the derivative is not implemented\n  \
             help: differentiate eig, eigvals or sqrtm instead, or pass a.stop_gradient()"
        )
    };
    custom_jvp(f, rule)(a)
}
