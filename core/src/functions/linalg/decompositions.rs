//! Matrix decompositions.

use super::hermitian::{svd_of_hermitian, svdvals_of_hermitian};
use super::matrix::{adjoint, symmetrized};
use super::{CholeskyFactor, QrMode, SvdMode, Triangle};
use crate::Array;
use crate::functions::linalg::primitives::{
    Cholesky, Eigh, Geqrf, HouseholderProduct, Qr, Svd, TriangularSolve,
};
use crate::program::trace::{bind, bind1};

/// Computes the Cholesky decomposition of Hermitian positive definite matrices
/// (`jax.numpy.linalg.cholesky`): lower triangular `L` with `A = L Lᴴ`. Real matrices are
/// Hermitian if they are symmetric.
///
/// `a` has shape `[.., n, n]` and is replaced by the mean of itself and its conjugate transpose.
/// If a matrix is not positive definite, its `L` is NaN.
///
/// ```no_run
/// use ramie_core::{Array, linalg};
/// let a = Array::from([[4.0f32, 2.0], [2.0, 5.0]]);
/// assert_eq!(linalg::cholesky(&a).to_vec::<f32>(), [2.0, 0.0, 1.0, 2.0]);
/// ```
///
/// # Panics
/// Panics if the matrices are not square, or if the dtype is not `f32`, `f64`, `c64` or `c128`.
#[track_caller]
pub fn cholesky(a: &Array) -> Array {
    cholesky_with(a, CholeskyFactor::new())
}

/// Same as [`cholesky`], with options: the upper triangular factor, or no symmetrization.
///
/// # Panics
/// Panics in the same cases as `cholesky`.
#[track_caller]
pub fn cholesky_with(a: &Array, factor: CholeskyFactor) -> Array {
    let CholeskyFactor {
        upper,
        unsymmetrized,
    } = factor;
    let a = super::inexact(a);
    let a = if unsymmetrized {
        a
    } else {
        symmetrized(&super::expect_square("cholesky", &a))
    };
    let factor = bind1(Cholesky, &[&a]).tril(0);
    if upper { adjoint(&factor) } else { factor }
}

/// Solves triangular systems (`jax.lax.linalg.triangular_solve`): by default `X A = B` for upper
/// triangular `A`. See [`TriangularSolve`] for the other variants.
///
/// `a` has shape `[.., m, m]`; `b` has the same batch axes and is `[.., n, m]`, or `[.., m, n]`
/// with `left_side`. It can also be one vector for each matrix, `[.., m]`. The other triangle of
/// `a` is not read.
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
/// Panics if the shapes do not fit, or if the dtypes differ or are not `f32`, `f64`, `c64` or
/// `c128`.
#[track_caller]
pub fn triangular_solve(a: &Array, b: &Array, options: TriangularSolve) -> Array {
    if b.ndim() + 1 != a.ndim() {
        return bind1(options, &[a, b]);
    }
    let axis = if options.left_side { -1 } else { -2 };
    bind1(options, &[a, &b.expand_dims(&[axis])]).squeeze(&[axis])
}

/// Computes Householder's QR decomposition in LAPACK's packed form (`jax.lax.linalg.geqrf`). For
/// `a` of shape `[.., m, n]`, returns a matrix of that shape with `R` on and above the diagonal
/// and the reflectors below, and their factors, `[.., min(m, n)]`.
///
/// # Panics
/// Panics if `a` has fewer than two axes, or if its dtype is not `f32`, `f64`, `c64` or `c128`.
#[track_caller]
pub fn geqrf(a: &Array) -> (Array, Array) {
    let mut parts = bind(Geqrf, &[a]).into_iter();
    let mut next = || parts.next().expect("two results");
    (next(), next())
}

/// Computes the product of Householder reflectors (`jax.lax.linalg.householder_product`):
/// orthonormal columns in the shape of `a`, `[.., m, n]`, from the reflectors below its diagonal
/// and their `taus`, `[.., k]`, with `k <= n <= m`.
///
/// # Panics
/// Panics if the shapes do not fit, or if the dtypes differ or are not `f32`, `f64`, `c64` or
/// `c128`.
#[track_caller]
pub fn householder_product(a: &Array, taus: &Array) -> Array {
    bind1(HouseholderProduct, &[a, taus])
}

/// Computes the QR decomposition (`jax.numpy.linalg.qr`) of matrices `[.., m, n]`: `Q` with
/// orthonormal columns and upper triangular `R` with `A = Q R`, in the form [`QrMode::Reduced`].
///
/// The signs of the diagonal of `R` result from Householder's method, as in JAX.
///
/// ```no_run
/// use ramie_core::{Array, linalg};
/// let a = Array::from([[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
/// let (q, r) = linalg::qr(&a);
/// assert_eq!((q.shape(), r.shape()), (&[3, 2][..], &[2, 2][..]));
/// assert!(q.matmul(&r).allclose_with(&a, (1e-5, 1e-5)).item::<bool>());
/// ```
///
/// # Panics
/// Panics if `a` has fewer than two axes, or if its dtype is not `f32`, `f64`, `c64` or `c128`.
#[track_caller]
pub fn qr(a: &Array) -> (Array, Array) {
    qr_with(a, QrMode::Reduced)
}

/// Same as [`qr`], with a choice of the columns of `Q`.
///
/// # Panics
/// Panics in the same cases as `qr`.
#[track_caller]
pub fn qr_with(a: &Array, mode: QrMode) -> (Array, Array) {
    let qr = Qr {
        full_matrices: mode == QrMode::Complete,
    };
    let mut parts = bind(qr, &[&super::inexact(a)]).into_iter();
    let mut next = || parts.next().expect("two results");
    (next(), next())
}

/// Computes the eigenvalues, in increasing order, and the orthonormal eigenvectors, as columns,
/// of Hermitian matrices `[.., n, n]` (`jax.numpy.linalg.eigh`). Returns real `w`, `[.., n]`, and
/// `V`, `[.., n, n]`, with `A V = V diag(w)`. Real matrices are Hermitian if they are symmetric.
///
/// `a` is replaced by the mean of itself and its conjugate transpose. Eigenvectors are unique up
/// to a factor of magnitude 1, and for equal eigenvalues up to a rotation. The first element of a
/// complex eigenvector is real, as in JAX on CPUs; signs may differ. Derivatives are correct if the
/// eigenvalues are distinct. A matrix with non-finite elements gives NaN.
///
/// ```no_run
/// use ramie_core::{Array, linalg};
/// let (w, v) = linalg::eigh(&Array::from([[2.0f32, 1.0], [1.0, 2.0]]));
/// assert!(w.allclose(&Array::from([1.0f32, 3.0])).item::<bool>());
/// assert_eq!(v.shape(), [2, 2]);
/// ```
///
/// # Panics
/// Panics if the matrices are not square, or if the dtype is not `f32`, `f64`, `c64` or `c128`.
#[track_caller]
pub fn eigh(a: &Array) -> (Array, Array) {
    let a = super::expect_square("eigh", &super::inexact(a));
    eigh_of(&symmetrized(&a), true)
}

/// Same as [`eigh`], for the Hermitian matrices given by one triangle of `a`
/// (`jax.lax.linalg.eigh` with `lower` and `symmetrize_input=False`). The other triangle and the
/// imaginary parts of the diagonal are not read.
///
/// # Panics
/// Panics in the same cases as `eigh`.
#[track_caller]
pub fn eigh_with(a: &Array, triangle: Triangle) -> (Array, Array) {
    let a = super::expect_square("eigh", &super::inexact(a));
    eigh_of(&a, triangle == Triangle::Lower)
}

#[track_caller]
fn eigh_of(a: &Array, lower: bool) -> (Array, Array) {
    let mut parts = bind(Eigh { lower }, &[a]).into_iter();
    let mut next = || parts.next().expect("two results");
    let vectors = next();
    (next(), vectors)
}

/// Computes the eigenvalues of Hermitian matrices, which are real, in increasing order
/// (`jax.numpy.linalg.eigvalsh`): `[.., n]`.
///
/// # Panics
/// Panics in the same cases as [`eigh`].
#[track_caller]
pub fn eigvalsh(a: &Array) -> Array {
    eigh(a).0
}

/// A singular value decomposition, `A = U diag(s) Vᴴ`, of matrices `[.., m, n]`.
#[derive(Clone, Debug)]
pub struct SvdFactors {
    /// Left singular vectors as columns, `[.., m, min(m, n)]` or `[.., m, m]`.
    pub u: Array,
    /// Singular values in decreasing order, `[.., min(m, n)]`. Always real.
    pub s: Array,
    /// Conjugates of the right singular vectors as rows, `[.., min(m, n), n]` or `[.., n, n]`:
    /// `Vᴴ`, which is `Vᵀ` for real matrices.
    pub vt: Array,
}

super::tree_of_arrays!(SvdFactors { u, s, vt });

/// Computes the singular value decomposition (`jax.numpy.linalg.svd`) of matrices `[.., m, n]`,
/// with square `U` and `V`. Use [`svd_with`] for the singular vectors that belong to a singular
/// value.
///
/// Pairs of singular vectors are unique up to a factor of magnitude 1. Derivatives are correct if
/// the singular values are distinct. A matrix with non-finite elements gives NaN.
///
/// ```no_run
/// use ramie_core::{Array, linalg};
/// let svd = linalg::svd(&Array::from([[3.0f32, 0.0], [0.0, 4.0], [0.0, 0.0]]));
/// assert!(svd.s.allclose(&Array::from([4.0f32, 3.0])).item::<bool>());
/// assert_eq!(svd.u.shape(), [3, 3]);
/// ```
///
/// # Panics
/// Panics if `a` has fewer than two axes, or if its dtype is not `f32`, `f64`, `c64` or `c128`.
/// Derivatives panic if singular vectors were added to complete a basis, that is, if the matrices
/// are not square.
#[track_caller]
pub fn svd(a: &Array) -> SvdFactors {
    svd_with(a, SvdMode::Full)
}

/// Same as [`svd`], in another form.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_core::linalg::{SvdMode, svd_with};
/// let svd = svd_with(&Array::from([[3.0f32, 0.0], [0.0, 4.0], [0.0, 0.0]]), SvdMode::Reduced);
/// assert_eq!(svd.u.shape(), [3, 2]);
/// ```
///
/// # Panics
/// Panics in the same cases as `svd`, and with [`SvdMode::Hermitian`] if the matrices are not
/// square.
#[track_caller]
pub fn svd_with(a: &Array, mode: SvdMode) -> SvdFactors {
    if mode == SvdMode::Hermitian {
        return svd_of_hermitian(a);
    }
    let svd = Svd {
        full_matrices: mode == SvdMode::Full,
        compute_uv: true,
    };
    let mut parts = bind(svd, &[&super::inexact(a)]).into_iter();
    let mut next = || parts.next().expect("three results");
    let (s, u, vt) = (next(), next(), next());
    SvdFactors { u, s, vt }
}

/// Computes the singular values of matrices in decreasing order (`jax.numpy.linalg.svdvals`):
/// `[.., min(m, n)]`.
///
/// # Panics
/// Panics if `a` has fewer than two axes, or if its dtype is not `f32`, `f64`, `c64` or `c128`.
#[track_caller]
pub fn svdvals(a: &Array) -> Array {
    let svd = Svd {
        full_matrices: true,
        compute_uv: false,
    };
    bind1(svd, &[&super::inexact(a)])
}

/// Same as [`svdvals`]; [`SvdMode::Hermitian`] computes them from the eigenvalues.
///
/// # Panics
/// Panics in the same cases as `svdvals`, and with [`SvdMode::Hermitian`] if the matrices are not
/// square.
#[track_caller]
pub fn svdvals_with(a: &Array, mode: SvdMode) -> Array {
    match mode {
        SvdMode::Hermitian => svdvals_of_hermitian(a),
        SvdMode::Full | SvdMode::Reduced => svdvals(a),
    }
}
