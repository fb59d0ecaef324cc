//! Primitives that reduce arrays along axes.

mod arg;
pub(crate) mod computation;
mod general;
mod product;
mod table;

pub use arg::*;
pub use general::*;
pub use table::*;

use crate::dtypes::Scalar;
use crate::types::narrow::NarrowFloat;
use crate::typing::Dims;
use crate::{Aval, DType, ShapeError};

/// Returns the shape without the reduced axes, which must be increasing and in range.
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

/// Returns the axes of a batched reduction: those of one example, shifted by the batch axis, and
/// the batch axis of the result.
pub(crate) fn batched_axes(axes: &[usize], batch_axis: usize) -> (Dims, usize) {
    let moved: Dims = axes
        .iter()
        .map(|&a| a + usize::from(a >= batch_axis))
        .collect();
    let before = moved.iter().filter(|&&a| a < batch_axis).count();
    (moved, batch_axis - before)
}

/// Returns the format of a dtype without infinities, whose extreme values replace them.
fn finite(dtype: DType) -> Option<NarrowFloat> {
    NarrowFloat::of(dtype).filter(|f| !f.has_infinity())
}

/// Returns the smallest value of a dtype, which is the identity of `max`: minus infinity if the
/// dtype has it, and for both parts of complex numbers.
pub(crate) fn lowest(dtype: DType) -> Scalar {
    if let Some(format) = finite(dtype) {
        return Scalar::Float(format.min());
    }
    match dtype {
        DType::Bool => Scalar::Bool(false),
        d if d.is_complex() => Scalar::Complex(f64::NEG_INFINITY, f64::NEG_INFINITY),
        d if d.is_float() => Scalar::Float(f64::NEG_INFINITY),
        d if d.is_unsigned() => Scalar::Uint(0),
        d => Scalar::Int(i64::MIN >> (64 - d.bits())),
    }
}

/// Returns the largest value of a dtype, which is the identity of `min`: infinity if the dtype
/// has it, and for both parts of complex numbers.
pub(crate) fn highest(dtype: DType) -> Scalar {
    if let Some(format) = finite(dtype) {
        return Scalar::Float(format.max());
    }
    match dtype {
        DType::Bool => Scalar::Bool(true),
        d if d.is_complex() => Scalar::Complex(f64::INFINITY, f64::INFINITY),
        d if d.is_float() => Scalar::Float(f64::INFINITY),
        d if d.is_unsigned() => Scalar::Uint(u64::MAX >> (64 - d.bits())),
        d => Scalar::Int(i64::MAX >> (64 - d.bits())),
    }
}
