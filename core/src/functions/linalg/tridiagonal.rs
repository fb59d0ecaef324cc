//! Tridiagonal systems.

use crate::Array;
use crate::functions::linalg::primitives::TridiagonalSolve;
use crate::program::trace::bind1;

/// Solves tridiagonal systems `A X = B` (`jax.lax.linalg.tridiagonal_solve`) by elimination with
/// partial pivoting.
///
/// `dl`, `d` and `du` are the diagonals below, on and above the main diagonal, all of shape
/// `[.., m]`: row `i` of the matrix contains `dl[i]`, `d[i]` and `du[i]`. The first element of
/// `dl` and the last element of `du` are outside the matrix and not read. `b` is `[.., m, k]`, or
/// one vector for each matrix, `[.., m]`. A singular matrix gives NaN.
///
/// ```
/// use ramie_core::{Array, linalg};
/// // The second differences of x are -1, and its ends stay at zero.
/// let (one, two) = (Array::from([-1.0f32; 3]), Array::from([2.0f32; 3]));
/// let x = linalg::tridiagonal_solve(&one, &two, &one, &Array::from([1.0f32; 3]));
/// assert!(x.allclose(Array::from([1.5f32, 2.0, 1.5])).item::<bool>());
/// ```
///
/// # Panics
/// Panics if the shapes do not fit, or if the dtypes differ or are not `f32`, `f64`, `c64` or
/// `c128`.
#[track_caller]
pub fn tridiagonal_solve(dl: &Array, d: &Array, du: &Array, b: &Array) -> Array {
    if b.ndim() != d.ndim() {
        return bind1(TridiagonalSolve, &[dl, d, du, b]);
    }
    bind1(TridiagonalSolve, &[dl, d, du, &b.expand_dims(&[-1])]).squeeze(&[-1])
}
