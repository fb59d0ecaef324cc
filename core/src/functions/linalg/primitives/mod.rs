//! Matrix decompositions and solutions of linear systems.
//!
//! Matrices are the last two axes of an operand; all others are batch axes. Supported dtypes are
//! `f32`, `f64`, `c64` and `c128`. No platform-specific library is called: every primitive lowers
//! to XLA's operations, or to loops over them, so that the same program runs on all platforms.

mod cholesky;
mod eigh;
mod jacobi;
mod linear_solve;
mod lu;
mod qr;
mod svd;
mod triangular_solve;
mod tridiagonal_solve;

pub use cholesky::Cholesky;
pub use eigh::Eigh;
pub use linear_solve::LinearSolve;
pub use lu::{Lu, LuPivotsToPermutation};
pub use qr::{Geqrf, HouseholderProduct, Qr};
pub use svd::Svd;
pub use triangular_solve::TriangularSolve;
pub use tridiagonal_solve::TridiagonalSolve;

use crate::prim::{Batched, Primitive, batched, in_front};
use crate::program::class::Class;
use crate::program::trace::bind;
use crate::typing::Dims;
use crate::{Array, Aval, ShapeError};
use smallvec::SmallVec;

/// Returns the numbers of rows and columns of an operand's matrices.
fn matrix(x: Aval) -> Result<(usize, usize), ShapeError> {
    Class::Lapack.check(x.dtype())?;
    match x.shape() {
        [.., rows, columns] => Ok((*rows, *columns)),
        _ => Err(ShapeError::new(format!("{x} is not a matrix"))
            .help("matrices are the last two axes: pass an array with at least two axes")),
    }
}

/// Returns the number of rows of an operand's square matrices.
fn square(x: Aval) -> Result<usize, ShapeError> {
    match matrix(x)? {
        (rows, columns) if rows == columns => Ok(rows),
        (rows, columns) => Err(ShapeError::new(format!(
            "expects square matrices, got {rows} rows and {columns} columns"
        ))
        .help("qr, svd, pinv and lstsq accept matrices of any shape")),
    }
}

/// Returns the type of an operand with other sizes for its last two axes.
fn with_last(x: Aval, last: &[usize]) -> Aval {
    let mut shape = x.shape()[..x.ndim() - 2].to_vec();
    shape.extend_from_slice(last);
    x.with_shape(&shape)
}

/// Returns the type of real results of an operation on such an operand.
fn real(x: Aval) -> Aval {
    x.with_dtype(x.dtype().real())
}

/// Implements the batching rule if all examples share one system: their right-hand sides, the
/// matrices `b` with the batch axis `at`, are concatenated along axis `to` of one example.
fn batch_side_by_side(
    b: &Array,
    at: usize,
    to: usize,
    solve: impl FnOnce(&Array) -> Array,
) -> Batched {
    let b = b.move_axis(at as isize, to as isize + 1);
    let mut merged: Dims = b.shape().into();
    merged[to] *= merged.remove(to + 1);
    batched(solve(&b.reshape(&merged)).reshape(b.shape()), Some(to + 1))
}

/// Implements the batching rule of operations on matrices along the last axes: moves the batch
/// axis to the front.
fn batch_in_front<P: Primitive + Clone>(
    primitive: &P,
    args: &[Array],
    axes: &[Option<usize>],
    size: usize,
) -> Batched {
    let moved = in_front(args, axes, size);
    let refs: SmallVec<[&Array; 2]> = moved.iter().collect();
    let outs = bind(primitive.clone(), &refs);
    let axes = SmallVec::from_elem(Some(0), outs.len());
    (outs, axes)
}
