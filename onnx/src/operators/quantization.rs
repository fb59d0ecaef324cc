//! Quantization to integers, and back.

use super::elementwise::saturated;
use super::{Operator, array, values};
use crate::call::{Call, Value};
use crate::file::Node;
use ramie_core::dtypes::iinfo;
use ramie_core::{Array, DType, where_};

pub(super) const OPERATORS: &[Operator] = &[
    array("DequantizeLinear", |c| {
        let (x, axis) = (c.array(0), c.int("axis", 1));
        let scale = spread(c, &c.array(1), &x, axis);
        let wide = if x.dtype().is_float() {
            scale.dtype()
        } else {
            DType::I32
        };
        let x = match c.optional(2) {
            Some(zero) => x.astype(wide) - spread(c, &zero.astype(wide), &x, axis),
            None => x,
        };
        let y = x.astype(scale.dtype()) * &scale;
        y.astype(c.dtype("output_dtype").unwrap_or(scale.dtype()))
    })
    .limits(limits),
    values("DynamicQuantizeLinear", dynamic),
    array("QuantizeLinear", |c| {
        let (x, axis) = (c.array(0), c.int("axis", 1));
        let zero = c.optional(2);
        let given = zero.as_ref().map(Array::dtype);
        let dtype = given.or(c.dtype("output_dtype")).unwrap_or(DType::U8);
        let scaled = &x / spread(c, &c.array(1), &x, axis);
        let scaled = if dtype.is_float() {
            scaled
        } else {
            scaled.round()
        };
        let shifted = match zero {
            Some(zero) => scaled + spread(c, &zero.astype(x.dtype()), &x, axis),
            None => scaled,
        };
        match c.int("saturate", 1) {
            0 if dtype.is_float() => shifted.astype(dtype),
            _ => quantized(&shifted, dtype),
        }
    })
    .limits(limits),
];

fn limits(node: &Node, _: i64) -> Result<(), String> {
    node.dtype("output_dtype").map(drop)
}

/// Converts to a narrow dtype. Numbers beyond its range become its ends.
pub(super) fn quantized(x: &Array, dtype: DType) -> Array {
    if dtype.is_float() {
        return saturated(x, dtype);
    }
    let info = iinfo(dtype);
    x.clip(info.min as f64, info.max as f64).astype(dtype)
}

/// Spreads scales or zeros over an array: one for all elements, one for each along an axis, or one
/// for each block along it.
fn spread(call: &Call<'_>, scale: &Array, x: &Array, axis: i64) -> Array {
    if scale.size() == 1 {
        return scale.reshape(());
    }
    let axis = call.axis_of(axis, x.ndim());
    match scale.ndim() {
        1 => scale.broadcast_in_dim(x.shape(), &[axis]),
        _ => {
            let block = call.int("block_size", 0).max(1) as usize;
            let repeated = scale.repeat(block, axis as isize);
            repeated.slice_in_dim(0, x.shape()[axis], 1, axis as isize)
        }
    }
}

/// Quantizes to `u8` with the scale and zero of the largest and smallest elements.
fn dynamic(call: &Call<'_>) -> Vec<Value> {
    let x = call.array(0);
    let (low, high) = (x.min().minimum(0.0), x.max().maximum(0.0));
    let scale = (high - &low) / 255.0;
    // An array of zeros has no range.
    let scale = where_(scale.eq(0), 1, &scale);
    let zero = (-low / &scale).round().clip(0.0, 255.0);
    let y = quantized(&((x / &scale).round() + &zero), DType::U8);
    vec![y.into(), scale.into(), zero.astype(DType::U8).into()]
}
