//! Schur decompositions and Hessenberg forms.

use crate::call::{Elements, Operand, Output, on_host};
use crate::host::complex_schur::complex_schur;
use crate::host::matrix::Matrix;
use crate::host::real_schur::real_schur;
use crate::host::scalar::Scalar;
use crate::host::{hessenberg as form, triangular::triangular_form};
use crate::operand::{size, square_matrices, without_derivative};
use num_complex::Complex64;
use ramie_core::{Array, DType};

/// The kind of Schur decomposition of real matrices in [`schur_with`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchurOutput {
    /// Real `T` with 2×2 blocks on the diagonal for pairs of complex eigenvalues.
    Real,
    /// Complex upper triangular `T`.
    Complex,
}

/// Computes the Schur decomposition of square matrices `[.., n, n]` (`jax.scipy.linalg.schur`).
/// Returns `T` and unitary `Z`, each `[.., n, n]`, with `A = Z T Zᴴ`.
///
/// For complex matrices `T` is upper triangular. For real ones it is real and has a 2×2 block on
/// the diagonal for each pair of complex eigenvalues, `[[a, b], [c, a]]` with `b c < 0`. A matrix
/// with elements that are not finite gives NaN.
///
/// ```
/// use ramie_core::Array;
/// use ramie_linalg::schur;
/// let a = Array::from([[1.0f64, 2.0], [3.0, 2.0]]);
/// let (t, z) = schur(&a);
/// let product = z.matmul(&t).matmul(z.swap_axes(-2, -1));
/// assert!(product.allclose(&a).item::<bool>());
/// assert_eq!(t.tril(-1).abs().max().item::<f64>(), 0.0);
/// ```
///
/// # Panics
/// Panics if the matrices are not square, or if the dtype is not `f32`, `f64`, `c64` or `c128`.
/// Derivatives panic.
#[track_caller]
pub fn schur(a: &Array) -> (Array, Array) {
    schur_with(a, SchurOutput::Real)
}

/// Same as [`schur`]; with [`SchurOutput::Complex`] the results are complex, and `T` is upper
/// triangular.
///
/// # Panics
/// Panics in the same cases as `schur`.
#[track_caller]
pub fn schur_with(a: &Array, output: SchurOutput) -> (Array, Array) {
    let a = square_matrices("schur", a);
    let dtype = match output {
        SchurOutput::Real => a.dtype(),
        SchurOutput::Complex => a.dtype().complex(),
    };
    let run = move |a: Array| {
        pair_on_host(&[&a], dtype, move |mut operands| match operands.remove(0) {
            Operand::Real(mut a) => {
                let scale = a.moderate();
                let (t, z) = real_schur(a, true)?;
                Some(match output {
                    SchurOutput::Real => scaled(t, z, scale),
                    SchurOutput::Complex => {
                        let (t, z) = triangular_form(t.to_complex(), z.to_complex());
                        scaled(t, z, scale)
                    }
                })
            }
            Operand::Complex(mut a) => {
                let scale = a.moderate();
                let (t, z) = complex_schur(a, true)?;
                Some(scaled(t, z, scale))
            }
        })
    };
    without_derivative("schur", run, a)
}

/// Converts a real Schur decomposition to a complex one (`jax.scipy.linalg.rsf2csf`): `T` becomes
/// complex and upper triangular, and `Z T Zᴴ` stays the same. Both are `[.., n, n]`.
///
/// ```
/// use ramie_core::Array;
/// use ramie_linalg::{rsf2csf, schur};
/// let (t, z) = schur(&Array::from([[0.0f32, -4.0], [1.0, 0.0]]));
/// let (t, _) = rsf2csf(&t, &z);
/// assert!((t.imag().to_vec::<f32>()[0] - 2.0).abs() < 1e-6);
/// ```
///
/// # Panics
/// Panics if the shapes or dtypes differ, and in the same cases as [`schur`].
#[track_caller]
pub fn rsf2csf(t: &Array, z: &Array) -> (Array, Array) {
    let (t, z) = (square_matrices("rsf2csf", t), square_matrices("rsf2csf", z));
    if t.shape() != z.shape() || t.dtype() != z.dtype() {
        panic!(
            "rsf2csf: t and z must have the same shape and dtype, got {} and {}\n  \
             help: pass the two results of schur",
            t.aval(),
            z.aval()
        );
    }
    let run = |both: Array| {
        let parts = both.unstack(0);
        let dtype = both.dtype().complex();
        pair_on_host(&[&parts[0], &parts[1]], dtype, |operands| {
            let mut operands = operands.into_iter().map(Operand::complex);
            let (t, z) = triangular_form(operands.next()?, operands.next()?);
            Some(scaled(t, z, 1.0))
        })
    };
    without_derivative("rsf2csf", run, ramie_core::stack(&[&t, &z], 0))
}

/// Computes the Hessenberg form of square matrices `[.., n, n]` (`jax.scipy.linalg.hessenberg` with
/// `calc_q`). Returns `H`, which is zero below the first subdiagonal, and unitary `Q`, each
/// `[.., n, n]`, with `A = Q H Qᴴ`.
///
/// ```
/// use ramie_core::Array;
/// use ramie_linalg::hessenberg;
/// let a = Array::from([[1.0f64, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 10.0]]);
/// let (h, q) = hessenberg(&a);
/// let product = q.matmul(&h).matmul(q.swap_axes(-2, -1));
/// assert!(product.allclose(&a).item::<bool>());
/// ```
///
/// # Panics
/// Panics in the same cases as [`schur`].
#[track_caller]
pub fn hessenberg(a: &Array) -> (Array, Array) {
    let run = |a: Array| {
        pair_on_host(&[&a], a.dtype(), |mut operands| {
            Some(match operands.remove(0) {
                Operand::Real(mut a) => {
                    let scale = a.moderate();
                    let (h, q) = form::hessenberg(a, true);
                    scaled(h, q, scale)
                }
                Operand::Complex(mut a) => {
                    let scale = a.moderate();
                    let (h, q) = form::hessenberg(a, true);
                    scaled(h, q, scale)
                }
            })
        })
    };
    without_derivative("hessenberg", run, square_matrices("hessenberg", a))
}

/// Returns the elements of both matrices; the first is multiplied by the square of `scale`.
fn scaled<T: Scalar>(mut t: Matrix<T>, z: Matrix<T>, scale: f64) -> [Elements; 2]
where
    Elements: From<Matrix<T>>,
{
    t.scale(scale);
    t.scale(scale);
    [t.into(), z.into()]
}

impl From<Matrix<f64>> for Elements {
    fn from(matrix: Matrix<f64>) -> Elements {
        Elements::Real(matrix.elements)
    }
}
impl From<Matrix<Complex64>> for Elements {
    fn from(matrix: Matrix<Complex64>) -> Elements {
        Elements::Complex(matrix.elements)
    }
}

/// Calls a function with two results in the shape of the operands.
#[track_caller]
fn pair_on_host(
    operands: &[&Array],
    dtype: DType,
    f: impl Fn(Vec<Operand>) -> Option<[Elements; 2]> + Send + Sync + 'static,
) -> (Array, Array) {
    let n = size(operands[0]);
    let output = Output {
        shape: vec![n, n],
        dtype,
    };
    let outputs = vec![output.clone(), output];
    let run = move |operands| f(operands).map(|parts| parts.into_iter().collect());
    let mut parts = on_host(operands, outputs, run).into_iter();
    let mut next = || parts.next().expect("two results");
    (next(), next())
}
