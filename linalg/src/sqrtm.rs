//! Square roots of matrices.

use crate::call::{Elements, Operand, Output, on_host};
use crate::host::square_root;
use crate::operand::{size, square_matrices};
use ramie_core::lax::{Precision, custom_linear_solve};
use ramie_core::options::Contraction;
use ramie_core::typing::TransposeSolve;
use ramie_core::{Array, custom_jvp};

/// Computes the principal square root of square matrices `[.., n, n]` (`jax.scipy.linalg.sqrtm`):
/// complex `S` with `S S = A`, whose eigenvalues have no negative real part.
///
/// The imaginary part is zero if `A` is real and has no negative eigenvalue. A singular matrix may
/// have no square root, which gives infinities or NaN, and so do elements that are not finite.
/// Derivatives solve a Sylvester equation; they are infinite or NaN if `A` is singular.
///
/// ```
/// use ramie_core::Array;
/// use ramie_linalg::sqrtm;
/// let root = sqrtm(&Array::from([[5.0f64, 4.0], [4.0, 5.0]])).real();
/// assert!(root.allclose(&Array::from([[2.0f64, 1.0], [1.0, 2.0]])).item::<bool>());
/// ```
///
/// # Panics
/// Panics if the matrices are not square, or if the dtype is not `f32`, `f64`, `c64` or `c128`.
#[track_caller]
pub fn sqrtm(a: &Array) -> Array {
    let f = custom_jvp(
        |a: Array| {
            let dtype = a.dtype().complex();
            matrix_on_host(&[&a], dtype, |mut operands| match operands.remove(0) {
                Operand::Real(a) => square_root::of_real(a).map(Elements::from),
                Operand::Complex(a) => square_root::of_complex(a).map(Elements::from),
            })
        },
        |a: Array, tangent: Array| {
            let root = sqrtm(&a);
            let dot = sylvester(&root, &tangent.astype(root.dtype()));
            (root, dot)
        },
    );
    f(square_matrices("sqrtm", a))
}

/// Solves `S X + X S = B`.
#[track_caller]
fn sylvester(s: &Array, b: &Array) -> Array {
    let exact = || Contraction::new().precision(Precision::HIGHEST);
    let apply = |x: Array| s.matmul_with(&x, exact()) + x.matmul_with(s, exact());
    let solve = |s: &Array, b: &Array| {
        matrix_on_host(&[s, b], s.dtype(), |operands| {
            let mut operands = operands.into_iter().map(Operand::complex);
            let (s, b) = (operands.next()?, operands.next()?);
            square_root::sylvester(s, &b).map(Elements::from)
        })
    };
    let transposed = s.swap_axes(-2, -1);
    custom_linear_solve(
        apply,
        b.clone(),
        |_, b| solve(s, &b),
        TransposeSolve::By(&|_, b| solve(&transposed, &b)),
    )
}

/// Calls a function with a result in the shape of the operands.
#[track_caller]
fn matrix_on_host(
    operands: &[&Array],
    dtype: ramie_core::DType,
    f: impl Fn(Vec<Operand>) -> Option<Elements> + Send + Sync + 'static,
) -> Array {
    let n = size(operands[0]);
    let shape = vec![n, n];
    let run = move |operands| f(operands).map(|elements| vec![elements]);
    on_host(operands, vec![Output { shape, dtype }], run).remove(0)
}
