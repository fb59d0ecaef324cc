//! Decompositions of matrices and solutions of linear systems.
//!
//! Matrices lie along the last two axes of an operand, all others are a batch.
//! Elements are `f32`, `f64`, `c64` or `c128`. No platform's own library is called: every
//! primitive lowers to operations that XLA has, or to loops over them, so that
//! one program runs on all platforms.

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

use super::elementwise::Class;
use super::{Batched, Primitive, batched, move_batch_axis};
use crate::trace::bind;
use crate::{Array, Aval, Dims, ShapeError};
use smallvec::SmallVec;

/// The rows and columns of the matrices of an operand.
fn matrix(x: Aval) -> Result<(usize, usize), ShapeError> {
    Class::Lapack.check(x.dtype())?;
    match x.shape() {
        [.., rows, columns] => Ok((*rows, *columns)),
        _ => Err(ShapeError::new(format!("{x} is no matrix"))
            .help("matrices lie along the last two axes: give an array of at least two")),
    }
}

/// The rows of the square matrices of an operand.
fn square(x: Aval) -> Result<usize, ShapeError> {
    match matrix(x)? {
        (rows, columns) if rows == columns => Ok(rows),
        (rows, columns) => Err(ShapeError::new(format!(
            "expects square matrices, got {rows} rows and {columns} columns"
        ))
        .help("qr, svd, pinv and lstsq take matrices of any shape")),
    }
}

/// The shape of an operand with other axes in place of its last two.
fn with_last(x: Aval, last: &[usize]) -> Aval {
    let mut shape = x.shape()[..x.ndim() - 2].to_vec();
    shape.extend_from_slice(last);
    x.with_shape(&shape)
}

/// The type of real results of an operation on such an operand.
fn real(x: Aval) -> Aval {
    x.with_dtype(x.dtype().real())
}

/// The batching rule of one system for all examples, whose right-hand sides,
/// the matrices `b` with the batch axis `at`, stand side by side along axis `to`
/// of one example.
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

/// The batching rule of all operations on matrices along the last axes: one
/// more batch axis in front.
fn batch_in_front<P: Primitive + Clone>(
    primitive: &P,
    args: &[Array],
    axes: &[Option<usize>],
    size: usize,
) -> Batched {
    let moved: SmallVec<[Array; 2]> = args
        .iter()
        .zip(axes)
        .map(|(x, axis)| move_batch_axis(x, *axis, 0, size))
        .collect();
    let refs: SmallVec<[&Array; 2]> = moved.iter().collect();
    let outs = bind(primitive.clone(), &refs);
    let axes = SmallVec::from_elem(Some(0), outs.len());
    (outs, axes)
}
