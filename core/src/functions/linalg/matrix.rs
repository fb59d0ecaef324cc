//! Helpers for matrices along the last two axes, from which decompositions are assembled.

use crate::prim::dot::{DotDimensionNumbers, Precision};
use crate::prim::index::{Gather, GatherDimensionNumbers};
use crate::typing::Dims;
use crate::{Array, DType, where_};

/// Returns the numbers of rows and columns.
pub(crate) fn matrix_shape(x: &Array) -> (usize, usize) {
    match x.shape() {
        [.., rows, columns] => (*rows, *columns),
        _ => unreachable!("{} is not a matrix", x.aval()),
    }
}

/// Transposes the matrices.
pub(crate) fn transposed(x: &Array) -> Array {
    x.swap_axes(-2, -1)
}

/// Returns the conjugate transposes; for real matrices, the transposes.
pub(crate) fn adjoint(x: &Array) -> Array {
    transposed(x).conj()
}

/// Computes the squared magnitudes, which are real.
pub(crate) fn squared_magnitude(x: &Array) -> Array {
    x.squared_magnitude()
}

/// Converts real numbers `x` to the dtype of `like`.
pub(crate) fn typed_as(x: &Array, like: &Array) -> Array {
    if like.dtype().is_complex() {
        x.astype(like.dtype())
    } else {
        x.clone()
    }
}

/// Multiplies matrices of the same batch shape with the highest precision of the platform.
pub(crate) fn product(a: &Array, b: &Array) -> Array {
    let numbers = DotDimensionNumbers::matrices(a.ndim());
    a.dot_general_with(b, numbers, Precision::HIGHEST)
}

/// Returns the identity matrix.
pub(crate) fn identity(n: usize, dtype: DType) -> Array {
    Array::eye(n, dtype)
}

/// Computes the means of the matrices and their conjugate transposes.
pub(crate) fn symmetrized(x: &Array) -> Array {
    (x + adjoint(x)) / 2
}

/// Permutes the rows, with one permutation for each matrix.
pub(crate) fn permuted(x: &Array, permutation: &Array) -> Array {
    let rank = x.ndim();
    let batch: Dims = (0..rank - 2).collect();
    let numbers = GatherDimensionNumbers::new(&[rank - 1], &[rank - 2], &[rank - 2])
        .batching_dims(&batch, &batch);
    let mut sizes = Dims::from_elem(1, rank);
    sizes[rank - 1] = x.shape()[rank - 1];
    let gather = Gather::new(numbers, &sizes).unique_indices(true);
    x.gather(&permutation.expand_dims(&[-1]), gather)
}
/// Returns the diagonals as a last axis.
pub(crate) fn diagonals(x: &Array) -> Array {
    let (rows, columns) = matrix_shape(x);
    let n = rows.min(columns);
    let square = x.slice_in_dim(0, n, 1, -2).slice_in_dim(0, n, 1, -1);
    let here = identity(n, DType::Bool);
    where_(&here, &square, square.zeros_like()).sum_over(-1)
}

/// Creates matrices with the last axis on their diagonals, and zeros elsewhere.
pub(crate) fn diagonal_matrices(x: &Array) -> Array {
    let n = x.shape()[x.ndim() - 1];
    let rows = x.expand_dims(&[-1]);
    where_(identity(n, DType::Bool), &rows, rows.zeros_like())
}

/// Returns the machine epsilon of a dtype: the distance from 1 to the next number.
pub(crate) fn epsilon(dtype: DType) -> f64 {
    match dtype.real() {
        DType::F64 => f64::EPSILON,
        _ => f64::from(f32::EPSILON),
    }
}
