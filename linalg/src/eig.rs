//! Eigenvalues and eigenvectors.

use crate::call::{Elements, Operand, Output, on_host};
use crate::host::eigen;
use crate::operand::{size, square_matrices};
use ramie_core::lax::Precision;
use ramie_core::linalg::{diagonal, solve};
use ramie_core::options::Contraction;
use ramie_core::{Array, DType, custom_jvp, where_};

/// Computes the eigenvalues and the eigenvectors of square matrices `[.., n, n]`
/// (`jax.numpy.linalg.eig`). Returns complex `w`, `[.., n]`, and `V`, `[.., n, n]`, with
/// `A V = V diag(w)`.
///
/// Eigenvectors are the columns of `V`. They have norm 1, and their element of largest magnitude is
/// real and positive. The eigenvalues are in no particular order; those of a real matrix are in
/// conjugate pairs, the one with positive imaginary part first. A defective matrix has fewer
/// eigenvectors than rows, so that columns of `V` are equal up to rounding. For Hermitian matrices
/// use [`eigh`](ramie_core::linalg::eigh), which runs on every device and is more accurate.
///
/// Derivatives are those of `jax.lax.linalg.eig` with `enable_eigvec_derivs`. They are correct if
/// the eigenvalues are distinct. A matrix with elements that are not finite gives NaN.
///
/// ```
/// use ramie_core::Array;
/// use ramie_linalg::eig;
/// // A rotation by a quarter turn.
/// let (w, v) = eig(&Array::from([[0.0f32, -1.0], [1.0, 0.0]]));
/// assert_eq!(w.imag().to_vec::<f32>(), [1.0, -1.0]);
/// assert_eq!(v.shape(), [2, 2]);
/// ```
///
/// # Panics
/// Panics if the matrices are not square, or if the dtype is not `f32`, `f64`, `c64` or `c128`.
#[track_caller]
pub fn eig(a: &Array) -> (Array, Array) {
    let f = custom_jvp(
        |a: Array| {
            let mut parts = decompose(&a, true).into_iter();
            let mut next = || parts.next().expect("two results");
            (next(), next())
        },
        |a: Array, tangent: Array| {
            let (w, v) = eig(&a);
            let dots = tangents(&w, &v, &tangent);
            ((w, v), dots)
        },
    );
    f(square_matrices("eig", a))
}

/// Computes the eigenvalues of square matrices `[.., n, n]` (`jax.numpy.linalg.eigvals`): complex
/// numbers, `[.., n]`, in the order of [`eig`].
///
/// Derivatives need the eigenvectors. They are correct if these are linearly independent.
///
/// ```
/// use ramie_core::{Array, jit};
/// use ramie_linalg::eigvals;
/// let radius = jit(|a: Array| eigvals(&a).abs().max());
/// let a = Array::from([[0.0f32, 2.0], [2.0, 0.0]]);
/// assert!((radius(a).item::<f32>() - 2.0).abs() < 1e-6);
/// ```
///
/// # Panics
/// Panics in the same cases as [`eig`].
#[track_caller]
pub fn eigvals(a: &Array) -> Array {
    let f = custom_jvp(
        |a: Array| decompose(&a, false).remove(0),
        |a: Array, tangent: Array| {
            let (w, v) = eig(&a);
            let product = solve(&v, &tangent.astype(v.dtype())) * v.swap_axes(-2, -1);
            (w, product.sum_over(-1))
        },
    );
    f(square_matrices("eigvals", a))
}

/// Returns the eigenvalues, and if `vectors` is true the eigenvectors.
#[track_caller]
fn decompose(a: &Array, vectors: bool) -> Vec<Array> {
    let (n, dtype) = (size(a), a.dtype().complex());
    let shapes = [vec![n], vec![n, n]].into_iter();
    let outputs = shapes.map(|shape| Output { shape, dtype });
    let outputs = outputs.take(1 + usize::from(vectors)).collect();
    on_host(&[a], outputs, move |mut operands| {
        let (values, rows) = match operands.remove(0) {
            Operand::Real(a) => eigen::of_real(a, vectors)?,
            Operand::Complex(a) => eigen::of_complex(a, vectors)?,
        };
        let mut parts = vec![Elements::Complex(values)];
        if vectors {
            parts.push(Elements::Complex(rows.transposed().elements));
        }
        Some(parts)
    })
}

/// Returns the tangents of the eigenvalues and of the eigenvectors.
fn tangents(w: &Array, v: &Array, tangent: &Array) -> (Array, Array) {
    let (n, dtype) = (size(v), v.dtype());
    if n == 0 {
        return (w.zeros_like(), v.zeros_like());
    }
    let exact = || Contraction::new().precision(Precision::HIGHEST);
    let product = solve(v, &tangent.astype(dtype)).matmul_with(v, exact());
    let w_dot = diagonal(&product, 0);
    let identity = Array::eye(n, dtype);
    let differences = w.expand_dims(&[-2]) - w.expand_dims(&[-1]);
    let factors = (differences + &identity).reciprocal() - &identity;
    let dot = v.matmul_with(&(factors * product), exact());
    // A multiple of the eigenvector preserves its norm, and its largest element stays real.
    let chosen = largest(v);
    let along = (v.conj() * &dot).sum_over(-2).real();
    let phase = (&dot * &chosen).sum_over(-2).imag() / (v * &chosen).sum_over(-2).real();
    let multiple = ramie_core::numpy::complex(&-along, &-phase);
    let multiple = multiple.expand_dims(&[-2]);
    (w_dot, dot + v * multiple)
}

/// Returns 1 for the element of each column that was made real, and 0 for the others.
fn largest(v: &Array) -> Array {
    let magnitudes = where_(v.imag().eq(0.0), v.abs(), -1.0).stop_gradient();
    let real: DType = v.dtype().real();
    let chosen = magnitudes.argmax(-2).one_hot_with(size(v), real, -2);
    chosen.astype(v.dtype())
}
