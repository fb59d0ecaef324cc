//! Primitives that read and write parts of arrays at computed positions.

mod dimension_numbers;
mod dynamic_slice;
mod dynamic_update_slice;
mod gather;
pub(crate) mod positions;
mod scatter;
mod scatter_rules;
mod sharding;

pub use dimension_numbers::*;
pub use dynamic_slice::*;
pub use dynamic_update_slice::*;
pub use gather::*;
pub use scatter::*;

use crate::dtypes::iinfo;
use crate::prim::Positions;
use crate::prim::index::positions::index_dtype;
use crate::prim::operands;
use crate::program::lower::{Lowering, Value};
use crate::typing::Dims;
use crate::{Array, Aval, DType, ShapeError, stack};

/// Checks that the operands after the first `skip` are one scalar integer per axis of the first,
/// all of the same type.
fn check_starts(args: &[Aval], skip: usize) -> Result<(), ShapeError> {
    let (operand, starts) = (args[0], &args[skip..]);
    if starts.len() != operand.ndim() {
        return Err(ShapeError::new(format!(
            "{operand} has {} axes, got {} start indices",
            operand.ndim(),
            starts.len()
        ))
        .help("pass one start index for each axis"));
    }
    for start in starts {
        if start.ndim() != 0 || !start.dtype().is_integer() || start.dtype() != starts[0].dtype() {
            return Err(ShapeError::new(format!(
                "a start index is {start}, expected a scalar integer of the same dtype as the \
                 others"
            ))
            .help("pass 0-d integer arrays or integer literals"));
        }
    }
    Ok(())
}

/// Stacks the start indices of one example, each with its batch axis, into one array of index
/// vectors; also returns its batch axis.
fn stack_starts(starts: &[Array], axes: &[Option<usize>], size: usize) -> (Array, Option<usize>) {
    if starts.is_empty() {
        return (Array::zeros(&[0], DType::I32), None);
    }
    let is_batched = axes.iter().any(Option::is_some);
    let columns: Vec<Array> = starts
        .iter()
        .zip(axes)
        .map(|(start, axis)| match (is_batched, axis) {
            (false, _) => start.reshape(&[1]),
            (true, None) => start.broadcast_in_dim(&[size, 1], &[]),
            (true, Some(_)) => start.reshape(&[size, 1]),
        })
        .collect();
    let indices = crate::concatenate(&columns, if is_batched { 1 } else { 0 });
    (indices, is_batched.then_some(0))
}

/// The option of [`Array::dynamic_slice_with`] and similar functions: start indices that are not
/// negative (`allow_negative_indices=False` in JAX). Programs then need no operations that count
/// negative indices from the end. A known index that is negative panics; a computed one is
/// replaced by 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NonNegative {
    /// The axes, or `None` for all.
    axes: Option<Dims>,
}

impl NonNegative {
    /// Creates the option for the start indices along all axes.
    pub fn all() -> NonNegative {
        NonNegative { axes: None }
    }

    /// Creates the option for the start indices along the given axes.
    pub fn along(axes: &[usize]) -> NonNegative {
        NonNegative {
            axes: Some(axes.into()),
        }
    }

    fn has(&self, axis: usize) -> bool {
        self.axes.as_ref().is_none_or(|axes| axes.contains(&axis))
    }
}

/// Converts integer scalars to start indices of one dtype; negative ones are counted from the end,
/// except along axes in `positive`.
#[track_caller]
fn start_indices(
    operation: &str,
    operand: &Array,
    starts: &[Array],
    positive: &NonNegative,
) -> Vec<Array> {
    assert!(
        starts.len() == operand.ndim(),
        "{operation}: {} has {} axes, got {} start indices\n  help: pass one start index for each \
         axis",
        operand.aval(),
        operand.ndim(),
        starts.len()
    );
    for start in starts {
        assert!(
            start.ndim() == 0 && start.dtype().is_integer(),
            "{operation}: a start index is {}, expected a scalar integer",
            start.aval()
        );
    }
    let starts: Vec<Array> = starts
        .iter()
        .zip(operand.shape())
        .enumerate()
        .map(|(axis, (start, &size))| (start, size, !positive.has(axis)))
        .map(|(start, size, wrap)| match start.as_literal() {
            Some(literal) => {
                let mut value = match literal.value().cast(DType::I64) {
                    crate::dtypes::Scalar::Int(value) => value,
                    _ => unreachable!("a cast to i64 gives an integer"),
                };
                assert!(
                    wrap || value >= 0,
                    "{operation}: the start index {value} of an axis of {} is negative, but \
                     NonNegative excludes negative indices\n  help: count from the end: call \
                     {operation} without NonNegative",
                    operand.aval()
                );
                if value < 0 {
                    value += size as i64;
                }
                // A narrow dtype may not be able to represent the size.
                let aval = literal.aval();
                let narrow = aval.weak_type() || aval.dtype().bits() < 32;
                let dtype = if narrow { DType::I32 } else { aval.dtype() };
                let dtype = if i128::from(value) > iinfo(dtype).max {
                    DType::I64
                } else {
                    dtype
                };
                Array::scalar(value, dtype)
            }
            None if wrap => wrap_negative(start, size),
            None => start.clone(),
        })
        .collect();
    operands::promote_all(operation, &starts)
}

/// Returns indices with negative ones counted from the end of an axis of `size`.
#[track_caller]
pub(crate) fn wrap_negative(indices: &Array, size: usize) -> Array {
    if indices.dtype().is_unsigned() {
        return indices.clone();
    }
    // A narrow dtype may not be able to represent the size.
    let dtype = index_dtype(indices.dtype(), std::iter::once(size));
    let indices = &if indices.dtype().bits() < dtype.bits() {
        indices.astype(dtype)
    } else {
        indices.clone()
    };
    crate::where_(indices.lt(0), indices + size, indices)
}

/// Converts indices into an axis of `size` to the signed `dtype`. Indices that `dtype` cannot
/// represent remain out of bounds.
#[track_caller]
pub(crate) fn signed_indices(indices: &Array, size: usize, dtype: DType) -> Array {
    let own = indices.dtype();
    let fits = !own.is_unsigned() || own.bits() < dtype.bits();
    if fits {
        indices.astype(dtype)
    } else {
        indices.minimum(Array::scalar(size, own)).astype(dtype)
    }
}

impl Lowering<'_> {
    /// Converts indices into an operand to 64 bits if an axis is too long for 32 bits: XLA
    /// compares indices with sizes in the indices' dtype.
    fn indices_into(&mut self, operand: Value, indices: Value) -> Value {
        let dtype = index_dtype(indices.dtype(), operand.shape().iter().copied());
        if indices.dtype().bits() < 64 && dtype == DType::I64 {
            self.convert(indices, dtype)
        } else {
            indices
        }
    }

    /// Same as [`indices_into`](Self::indices_into), for the operands after the first `skip`.
    fn starts_into(&mut self, skip: usize, args: &[Value]) -> Vec<Value> {
        let each = args.iter().enumerate();
        each.map(|(i, arg)| {
            if i < skip {
                *arg
            } else {
                self.indices_into(args[0], *arg)
            }
        })
        .collect()
    }
}

/// Returns the dims shifted by a new axis in front.
fn shifted(dims: &Dims) -> Dims {
    dims.iter().map(|d| d + 1).collect()
}

/// Returns the dims shifted by a new axis in front, preceded by that axis.
fn shifted_after(dims: &Dims) -> Dims {
    std::iter::once(0).chain(shifted(dims)).collect()
}

/// Creates one position from a scalar for each axis.
fn one_position(starts: &[Array], sizes: &[usize]) -> Option<Positions> {
    (!starts.is_empty()).then(|| Positions {
        starts: stack(starts, 0),
        axes: (0..sizes.len()).collect(),
        sizes: sizes.to_vec(),
    })
}
