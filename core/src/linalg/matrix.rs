//! Matrices along the last two axes: what decompositions are put together from.

use crate::prim::dot::{DotDimensionNumbers, Precision};
use crate::{Array, DType, Dims};

/// Rows and columns.
pub(crate) fn matrix_shape(x: &Array) -> (usize, usize) {
    match x.shape() {
        [.., rows, columns] => (*rows, *columns),
        _ => unreachable!("{} is no matrix", x.aval()),
    }
}

/// The matrices transposed.
pub(crate) fn transposed(x: &Array) -> Array {
    x.swap_axes(-2, -1)
}

/// The product of matrices of one batch, as exactly as the platform can.
pub(crate) fn product(a: &Array, b: &Array) -> Array {
    let rank = a.ndim();
    let batch: Dims = (0..rank - 2).collect();
    let numbers = DotDimensionNumbers::new([&[rank - 1], &[rank - 2]], [&batch, &batch]);
    a.dot_general_with(b, numbers, Some(Precision::Highest), None)
}

/// The identity matrix.
pub(crate) fn identity(n: usize, dtype: DType) -> Array {
    Array::eye(n, dtype)
}

/// The mean of the matrices and their transposes.
pub(crate) fn symmetrized(x: &Array) -> Array {
    (x + transposed(x)) / 2
}
