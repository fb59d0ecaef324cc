//! QR decompositions with column pivoting.

use crate::call::{Elements, Operand, Output, on_host};
use crate::host::pivots::pivots;
use crate::operand::matrices;
use ramie_core::linalg::{QrMode, qr_with};
use ramie_core::{Array, DType};

/// Computes the QR decomposition of matrices `[.., m, n]` with column pivoting
/// (`jax.scipy.linalg.qr` with `pivoting=True`). Returns `Q` with orthonormal columns, upper
/// triangular `R`, and indices `p`, `[.., n]`, of type `i32`, with `A[:, p] = Q R`.
///
/// Each step takes the column with the largest distance to the span of the columns before it. The
/// magnitudes on the diagonal of `R` therefore decrease, and small ones at the end indicate a low
/// rank. [`qr_with`](ramie_core::linalg::qr_with) defines the shapes of `Q` and `R`, and the derivatives.
///
/// ```
/// use ramie_core::Array;
/// use ramie_core::linalg::QrMode;
/// use ramie_linalg::qr_pivoted;
/// let a = Array::from([[1.0f32, 3.0], [0.0, 4.0]]);
/// let (_, r, p) = qr_pivoted(&a, QrMode::Reduced);
/// assert_eq!(p.to_vec::<i32>(), [1, 0]);
/// assert!((r.to_vec::<f32>()[0] + 5.0).abs() < 1e-5);
/// ```
///
/// # Panics
/// Panics if `a` has fewer than two axes, or if its dtype is not `f32`, `f64`, `c64` or `c128`.
#[track_caller]
pub fn qr_pivoted(a: &Array, mode: QrMode) -> (Array, Array, Array) {
    let a = matrices("qr_pivoted", a);
    let output = Output {
        shape: vec![a.shape()[a.ndim() - 1]],
        dtype: DType::I32,
    };
    let run = |mut operands: Vec<Operand>| {
        let order = match operands.remove(0) {
            Operand::Real(a) => pivots(a),
            Operand::Complex(a) => pivots(a),
        };
        Some(vec![Elements::Index(order)])
    };
    let order = on_host(&[&a.stop_gradient()], vec![output], run).remove(0);
    let permuted = a.take_along_axis(&order.expand_dims(&[-2]), -1);
    let (q, r) = qr_with(&permuted, mode);
    (q, r, order)
}
