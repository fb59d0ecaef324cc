//! `concatenate`: joins arrays along an axis.

use crate::extend::ShardingRule;
use crate::prim::operands;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Param, Primitive, batched, in_front, one,
};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::typing::Dims;
use crate::{Array, Aval, ShapeError};
use std::borrow::Borrow;

/// Concatenates arrays along an axis; their other dimensions are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Concatenate {
    /// Axis along which the operands are concatenated.
    pub dimension: usize,
}

impl Primitive for Concatenate {
    fn name(&self) -> &'static str {
        "concatenate"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![("dimension", Param::new(self.dimension))]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(!args.is_empty(), "expects at least one operand");
        let (first, axis) = (args[0], self.dimension);
        crate::ensure_shape!(
            axis < first.ndim(),
            "axis {axis} is out of range for {first}"
        );
        let mut shape: Dims = first.shape().into();
        for (i, arg) in args.iter().enumerate().skip(1) {
            if arg.dtype() != first.dtype() {
                return Err(ShapeError::new(format!(
                    "operand {i} has dtype {}, but the first has {}",
                    arg.dtype(),
                    first.dtype()
                ))
                .help("convert with astype; the function `concatenate` promotes its operands"));
            }
            let fits = arg.ndim() == first.ndim()
                && (0..first.ndim()).all(|d| d == axis || arg.shape()[d] == first.shape()[d]);
            if !fits {
                return Err(ShapeError::new(format!(
                    "operand {i} of shape {:?} cannot be concatenated with {:?} along axis {axis}",
                    arg.shape(),
                    first.shape()
                ))
                .help("all dimensions except that of the axis must agree"));
            }
            shape[axis] += arg.shape()[axis];
        }
        one(first.with_shape(&shape))
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Linear(Box::new(|cts, operands| {
            let mut start = 0;
            operands
                .iter()
                .map(|operand| {
                    let limit = start + operand.aval().shape()[self.dimension];
                    let ct = cts[0].as_ref().filter(|_| operand.is_linear());
                    let part = ct.map(|ct| ct.slice_axis(self.dimension, start, limit));
                    start = limit;
                    part
                })
                .collect()
        }))
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let moved = in_front(args, axes, axis);
        let refs: Vec<&Array> = moved.iter().collect();
        let dimension = self.dimension + 1;
        batched(bind1(Concatenate { dimension }, &refs), Some(0))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        // XLA's CPU compiler cannot concatenate elements of less than a byte.
        let dtype = args[0].dtype();
        let whole = |x: &Value| ctx.convert(*x, dtype.whole_bytes());
        let parts: Vec<Value> = args.iter().map(whole).collect();
        let joined = ctx.concatenate(&parts, self.dimension);
        vec![ctx.convert(joined, dtype)]
    }
}

/// Concatenates arrays along an existing axis, after promotion to a common dtype.
///
/// ```no_run
/// use ramie_core::{Array, concatenate};
/// let (a, b) = (Array::from([1, 2]), Array::from([3]));
/// assert_eq!(concatenate(&[&a, &b], 0).to_vec::<i32>(), [1, 2, 3]);
/// ```
///
/// # Panics
/// Panics if there are no arrays, if the axis is out of range, or if dimensions other than that
/// axis differ.
#[track_caller]
pub fn concatenate<A: std::borrow::Borrow<Array>>(arrays: &[A], axis: isize) -> Array {
    let arrays = operands::promote_all("concatenate", arrays);
    let dimension = arrays[0].axis("concatenate", axis);
    if let [one] = arrays.as_slice() {
        return one.clone();
    }
    let refs: Vec<&Array> = arrays.iter().collect();
    bind1(Concatenate { dimension }, &refs)
}

/// Joins arrays of the same shape along a new axis. Their dtypes are promoted.
///
/// ```no_run
/// use ramie_core::{Array, stack};
/// let rows = stack(&[Array::from([1, 2]), Array::from([3, 4])], 0);
/// assert_eq!(rows.shape(), [2, 2]);
/// ```
///
/// # Panics
/// Panics if there are no arrays, if the shapes differ, or if the axis is out of range for the
/// result.
#[track_caller]
pub fn stack<A: Borrow<Array>>(arrays: &[A], axis: isize) -> Array {
    if let Some(first) = arrays.first().map(Borrow::borrow) {
        for (i, other) in arrays.iter().map(Borrow::borrow).enumerate() {
            assert!(
                other.shape() == first.shape(),
                "stack: array {i} has shape {:?}, but the first array has {:?}\n  help: pass \
                 arrays of the same shape, or use `concatenate` to join along an existing axis",
                other.shape(),
                first.shape()
            );
        }
        first.new_axes("stack", &[axis]);
    }
    let arrays: Vec<Array> = arrays
        .iter()
        .map(|a| a.borrow().expand_dims(&[axis]))
        .collect();
    concatenate(&arrays, axis)
}
