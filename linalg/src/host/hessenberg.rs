//! Reduction to Hessenberg form.

use super::matrix::{Matrix, add_multiple, dot};
use super::reflector::reflector;
use super::scalar::Scalar;

/// Returns `H`, which is zero below the first subdiagonal, and unitary `Q` with `A = Q H Qᴴ`. If
/// `vectors` is false, `Q` has no rows.
pub(crate) fn hessenberg<T: Scalar>(mut h: Matrix<T>, vectors: bool) -> (Matrix<T>, Matrix<T>) {
    let n = h.rows;
    let mut q = if vectors {
        Matrix::identity(n)
    } else {
        Matrix::zeros(0, n)
    };
    // The last reflector only makes an element of the subdiagonal real.
    for k in 0..n.saturating_sub(1) {
        let mut v: Vec<T> = (k + 1..n).map(|i| h[(i, k)]).collect();
        let (tau, beta) = reflector(&mut v);
        h[(k + 1, k)] = beta;
        for i in k + 2..n {
            h[(i, k)] = T::ZERO;
        }
        if tau == T::ZERO {
            continue;
        }
        from_left(&mut h, &v, tau.conj(), k + 1);
        from_right(&mut h, &v, tau, k + 1);
        from_right(&mut q, &v, tau, k + 1);
    }
    (h, q)
}

/// Subtracts `τ v (vᴴ A)` from the rows and columns of `A` from the given one.
fn from_left<T: Scalar>(a: &mut Matrix<T>, v: &[T], tau: T, first: usize) {
    let mut sums = vec![T::ZERO; a.columns - first];
    for (i, v) in v.iter().enumerate() {
        add_multiple(&mut sums, v.conj(), &a.row(first + i)[first..]);
    }
    for (i, v) in v.iter().enumerate() {
        add_multiple(&mut a.row_mut(first + i)[first..], -(tau * *v), &sums);
    }
}

/// Subtracts `τ (A v) vᴴ` from the columns of `A` from the given one.
fn from_right<T: Scalar>(a: &mut Matrix<T>, v: &[T], tau: T, first: usize) {
    let conjugate: Vec<T> = v.iter().map(|v| v.conj()).collect();
    for i in 0..a.rows {
        let row = &mut a.row_mut(i)[first..];
        let factor = -(tau * dot(row, v));
        add_multiple(row, factor, &conjugate);
    }
}
