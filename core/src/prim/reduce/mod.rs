//! Primitives that combine the elements along axes.

mod sum;

pub use sum::*;

use crate::{Aval, Dims, ShapeError};

/// The shape without the reduced axes, which are increasing and in range.
pub(crate) fn reduced_shape(operand: Aval, axes: &[usize]) -> Result<Dims, ShapeError> {
    let ordered =
        axes.is_sorted_by(|a, b| a < b) && axes.last().is_none_or(|&a| a < operand.ndim());
    crate::ensure_shape!(
        ordered,
        "axes {axes:?} are not increasing axes of {operand}"
    );
    Ok((0..operand.ndim())
        .filter(|d| !axes.contains(d))
        .map(|d| operand.shape()[d])
        .collect())
}

/// The axes of a reduction over a batch: those of one example, moved past the
/// batch axis, and the batch axis of the result.
pub(crate) fn batched_axes(axes: &[usize], batch_axis: usize) -> (Dims, usize) {
    let moved: Dims = axes
        .iter()
        .map(|&a| a + usize::from(a >= batch_axis))
        .collect();
    let before = moved.iter().filter(|&&a| a < batch_axis).count();
    (moved, batch_axis - before)
}
