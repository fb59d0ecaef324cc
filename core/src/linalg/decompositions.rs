//! Decompositions of matrices.

use super::matrix::{symmetrized, transposed};
use crate::Array;
use crate::prim::linalg::{Cholesky, Geqrf, HouseholderProduct, Qr, TriangularSolve};
use crate::trace::{bind, bind1};

/// The Cholesky decomposition of symmetric positive definite matrices
/// (`jax.numpy.linalg.cholesky`): lower triangular `L` with `A = L Lᵀ`.
///
/// `a` has shape `[.., n, n]`, and is replaced by the mean of itself and its
/// transpose. Where a matrix is not positive definite, `L` is NaN.
///
/// ```no_run
/// use ramie_core::{Array, linalg};
/// let a = Array::from([[4.0f32, 2.0], [2.0, 5.0]]);
/// assert_eq!(linalg::cholesky(&a).to_vec::<f32>(), [2.0, 0.0, 1.0, 2.0]);
/// ```
///
/// # Panics
/// If the matrices are not square, or not of `f32` or `f64`.
#[track_caller]
pub fn cholesky(a: &Array) -> Array {
    cholesky_with(a, false, true)
}

/// [`cholesky`], as `U` with `A = Uᵀ U` where `upper` is set. Without
/// `symmetrize_input` only the lower triangle of `a` is read.
///
/// # Panics
/// As `cholesky`.
#[track_caller]
pub fn cholesky_with(a: &Array, upper: bool, symmetrize_input: bool) -> Array {
    let a = super::inexact(a);
    let a = match symmetrize_input {
        true => symmetrized(&super::expect_square("cholesky", &a)),
        false => a,
    };
    let factor = bind1(Cholesky, &[&a]).tril(0);
    match upper {
        true => transposed(&factor),
        false => factor,
    }
}

/// The solution of triangular systems (`jax.lax.linalg.triangular_solve`): by
/// default `X` with `X A = B` for upper triangular `A`; see [`TriangularSolve`]
/// for the others.
///
/// `a` has shape `[.., m, m]`; `b` has the same batch axes and is `[.., n, m]`,
/// or `[.., m, n]` with `left_side`. It can be one vector for each matrix,
/// `[.., m]`. The other triangle of `a` is not looked at.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_core::linalg::{TriangularSolve, triangular_solve};
/// let a = Array::from([[2.0f32, 0.0], [1.0, 4.0]]);
/// let b = Array::from([2.0f32, 9.0]);
/// let x = triangular_solve(&a, &b, TriangularSolve::new().left_side().lower());
/// assert_eq!(x.to_vec::<f32>(), [1.0, 2.0]);
/// ```
///
/// # Panics
/// If the shapes do not fit, or the types are not both `f32` or both `f64`.
#[track_caller]
pub fn triangular_solve(a: &Array, b: &Array, options: TriangularSolve) -> Array {
    if b.ndim() + 1 != a.ndim() {
        return bind1(options, &[a, b]);
    }
    let axis = if options.left_side { -1 } else { -2 };
    bind1(options, &[a, &b.expand_dims(&[axis])]).squeeze(&[axis])
}

/// Householder's QR decomposition as LAPACK packs it (`jax.lax.linalg.geqrf`):
/// of `a`, `[.., m, n]`, a matrix of that shape with `R` on and above the
/// diagonal and the reflectors below, and their factors, `[.., min(m, n)]`.
///
/// # Panics
/// If `a` has fewer than two axes, or is not of `f32` or `f64`.
#[track_caller]
pub fn geqrf(a: &Array) -> (Array, Array) {
    let mut parts = bind(Geqrf, &[a]).into_iter();
    let mut next = || parts.next().expect("two results");
    (next(), next())
}

/// The product of Householder reflectors
/// (`jax.lax.linalg.householder_product`): orthonormal columns in the shape of
/// `a`, `[.., m, n]`, for reflectors below its diagonal and their `taus`,
/// `[.., k]` with `k <= n <= m`.
///
/// # Panics
/// If the shapes do not fit, or the types are not both `f32` or both `f64`.
#[track_caller]
pub fn householder_product(a: &Array, taus: &Array) -> Array {
    bind1(HouseholderProduct, &[a, taus])
}

/// How many columns `Q` of [`qr`] has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QrMode {
    /// As many as `A` has rows or columns, whichever are fewer: `Q` is
    /// `[.., m, min(m, n)]`, `R` is `[.., min(m, n), n]`.
    Reduced,
    /// As many as rows: `Q` is `[.., m, m]`, `R` is `[.., m, n]`.
    Complete,
}

/// The QR decomposition (`jax.numpy.linalg.qr`) of matrices `[.., m, n]`: `Q`
/// with orthonormal columns and upper triangular `R` with `A = Q R`.
///
/// The diagonal of `R` has the signs that Householder's method gives it, as in
/// JAX.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_core::linalg::{QrMode, qr};
/// let a = Array::from([[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
/// let (q, r) = qr(&a, QrMode::Reduced);
/// assert_eq!((q.shape(), r.shape()), (&[3, 2][..], &[2, 2][..]));
/// assert!(q.matmul(&r).allclose_within(&a, 1e-5, 1e-5).item::<bool>());
/// ```
///
/// # Panics
/// If `a` has fewer than two axes, or is not of `f32` or `f64`.
#[track_caller]
pub fn qr(a: &Array, mode: QrMode) -> (Array, Array) {
    let qr = Qr {
        full_matrices: mode == QrMode::Complete,
    };
    let mut parts = bind(qr, &[&super::inexact(a)]).into_iter();
    let mut next = || parts.next().expect("two results");
    (next(), next())
}
