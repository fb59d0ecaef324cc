//! Operations that only rearrange elements: their results are views.

use super::{Read, identities, lift};
use crate::ElementType::{I2, I4};
use crate::graph::{KnownOperand, Operands, Operation, Part, Simpler, Source};
use crate::memory::{Context, OutputTensor, Strides, Tensor, Tensors, View};
use crate::{Dims, Result, TensorType};
use smallvec::smallvec;
use std::sync::Arc;

/// A rearrangement of one operand.
#[derive(Debug)]
pub struct Rearrange {
    /// The kind of rearrangement.
    pub form: Form,
    view: View,
}

/// A kind of rearrangement.
#[derive(Debug)]
pub enum Form {
    /// Repeats the operand: for each axis of the result, the operand's axis that varies along it.
    Broadcast {
        /// The operand's axes.
        axes: Vec<Option<usize>>,
        /// The shape of the result.
        shape: Dims,
    },
    /// The same elements in another shape.
    Reshape(Dims),
    /// The axes in another order.
    Transpose(Vec<usize>),
    /// Elements from starts on, at distances.
    Slice {
        /// First index of each axis.
        starts: Vec<usize>,
        /// Distance of each axis.
        steps: Vec<usize>,
        /// The shape of the result.
        shape: Dims,
    },
    /// Axes in reverse order.
    Reverse(Vec<usize>),
    /// The same bytes as another type.
    Bitcast(TensorType),
}

impl Operation for Rearrange {
    fn run(&self, context: &Context, mut operands: Operands) -> Result<Tensors> {
        let x = operands.remove(0);
        if let Form::Bitcast(ty) = &self.form {
            // Whether elements of another width are aligned depends on the offset.
            return Ok(smallvec![x.bitcast(context, ty)?]);
        }
        let view = self.view.of(x, |x| self.form.view(context, x))?;
        Ok(smallvec![view])
    }

    fn allocates(&self) -> bool {
        false
    }

    fn transposition(&self) -> Option<&[usize]> {
        match &self.form {
            Form::Transpose(axes) => Some(axes),
            _ => None,
        }
    }

    fn simpler(&self, operands: &[KnownOperand<'_>]) -> Option<Simpler> {
        identities::rearrange(&self.form, operands)
    }

    fn part(&self) -> Option<Part<'_>> {
        match &self.form {
            Form::Reshape(_) => Some(Part::Same),
            Form::Broadcast { axes, shape } => {
                let axes = axes.iter().zip(shape).filter(|(_, n)| **n != 1);
                let kept = axes.clone().take_while(|(axis, _)| axis.is_some()).count();
                let (kept, new) = (axes.clone().take(kept), axes.skip(kept));
                let is_part = kept.is_sorted_by_key(|(axis, _)| *axis)
                    && new.clone().all(|(axis, _)| axis.is_none());
                match new.map(|(_, n)| *n).product() {
                    _ if !is_part => None,
                    1 => Some(Part::Same),
                    times => Some(Part::Repeat(times)),
                }
            }
            _ => None,
        }
    }
}

impl Form {
    fn view(&self, context: &Context, x: &Tensor) -> Result<Tensor> {
        Ok(match self {
            Form::Broadcast { axes, shape } => {
                let strides = axes.iter().map(|a| a.map_or(0, |a| x.strides[a])).collect();
                x.view(shape.clone(), strides, x.offset)
            }
            Form::Reshape(shape) => x.reshape(context, shape)?,
            Form::Transpose(axes) => x.permute(axes),
            Form::Slice {
                starts,
                steps,
                shape,
            } => slice(x, starts, steps, shape.clone()),
            Form::Reverse(axes) => reverse(x, axes),
            Form::Bitcast(ty) => x.bitcast(context, ty)?,
        })
    }

    /// Returns the operation.
    pub fn operation(self) -> Arc<dyn Operation> {
        Arc::new(Rearrange {
            form: self,
            view: View::default(),
        })
    }

    fn lift(self) -> Read {
        Ok(self.operation())
    }
}

/// Returns the view of a part of a tensor.
pub fn slice(x: &Tensor, starts: &[usize], steps: &[usize], shape: Dims) -> Tensor {
    let offset: isize = starts
        .iter()
        .zip(&x.strides)
        .map(|(s, stride)| *s as isize * stride)
        .sum();
    let strides: Strides = x
        .strides
        .iter()
        .zip(steps)
        .map(|(stride, step)| stride * *step as isize)
        .collect();
    x.view(shape, strides, (x.offset as isize + offset) as usize)
}

/// Returns the view with reversed axes.
pub fn reverse(x: &Tensor, axes: &[usize]) -> Tensor {
    let (mut strides, mut offset) = (x.strides.clone(), x.offset as isize);
    for &axis in axes {
        let last = x.shape()[axis].saturating_sub(1) as isize;
        offset += last * strides[axis];
        strides[axis] = -strides[axis];
    }
    x.view(x.ty.shape.clone(), strides, offset as usize)
}

/// Reads `stablehlo.broadcast_in_dim`.
pub fn broadcast_in_dim(source: &Source<'_>) -> Read {
    source.counts(1, 1, 0)?;
    let (operand, result) = (&source.operands[0], &source.results[0]);
    let dimensions = source.axes("broadcast_dimensions", result.shape.len())?;
    source.check(
        dimensions.len() == operand.shape.len() && operand.element == result.element,
        format_args!("cannot broadcast {operand} along axes {dimensions:?} to {result}"),
    )?;
    let mut axes = vec![None; result.shape.len()];
    for (i, &axis) in dimensions.iter().enumerate() {
        let (from, to) = (operand.shape[i], result.shape[axis]);
        source.check(
            from == 1 || from == to,
            format_args!("cannot broadcast {operand} to {result}"),
        )?;
        axes[axis] = (from != 1).then_some(i);
    }
    Form::Broadcast {
        axes,
        shape: result.shape.clone(),
    }
    .lift()
}

/// Reads `stablehlo.reshape`.
pub fn reshape(source: &Source<'_>) -> Read {
    source.counts(1, 1, 0)?;
    let (operand, result) = (&source.operands[0], &source.results[0]);
    source.check(
        operand.size() == result.size() && operand.element == result.element,
        format_args!("{operand} does not have the elements of {result}"),
    )?;
    Form::Reshape(result.shape.clone()).lift()
}

/// Reads `stablehlo.transpose`.
pub fn transpose(source: &Source<'_>) -> Read {
    source.counts(1, 1, 0)?;
    let operand = &source.operands[0];
    let axes = source.axes("permutation", operand.shape.len())?;
    source.check(
        axes.len() == operand.shape.len(),
        "permutation must name each axis once",
    )?;
    let shape: Dims = axes.iter().map(|a| operand.shape[*a]).collect();
    source.result(0, &TensorType::new(&shape, operand.element))?;
    Form::Transpose(axes).lift()
}

/// Reads `stablehlo.slice`.
pub fn read_slice(source: &Source<'_>) -> Read {
    source.counts(1, 1, 0)?;
    let operand = &source.operands[0];
    let rank = operand.shape.len();
    let starts = source.sizes_or("start_indices", rank, 0)?;
    let steps = source.sizes_or("strides", rank, 1)?;
    let limits = source.sizes("limit_indices")?;
    source.check(
        limits.len() == rank,
        format_args!("limit_indices must have {rank} numbers"),
    )?;
    let mut shape = Dims::new();
    for axis in 0..rank {
        let (start, limit, step) = (starts[axis], limits[axis], steps[axis]);
        source.check(
            start <= limit && limit <= operand.shape[axis] && step > 0,
            format_args!("{start}:{limit}:{step} is not a range of axis {axis} of {operand}"),
        )?;
        shape.push((limit - start).div_ceil(step));
    }
    source.result(0, &TensorType::new(&shape, operand.element))?;
    Form::Slice {
        starts,
        steps,
        shape,
    }
    .lift()
}

/// Reads `stablehlo.reverse`.
pub fn read_reverse(source: &Source<'_>) -> Read {
    source.counts(1, 1, 0)?;
    let operand = &source.operands[0];
    source.result(0, operand)?;
    Form::Reverse(source.axes("dimensions", operand.shape.len())?).lift()
}

/// Reads `stablehlo.bitcast_convert`.
pub fn bitcast_convert(source: &Source<'_>) -> Read {
    source.counts(1, 1, 0)?;
    let (operand, result) = (&source.operands[0], &source.results[0]);
    let (old, new) = (operand.element.bits(), result.element.bits());
    let (narrow, wide) = if old <= new {
        (operand, result)
    } else {
        (result, operand)
    };
    let expected = if old == new {
        wide.shape.clone()
    } else {
        wide.shape
            .iter()
            .copied()
            .chain([wide.element.bits() / narrow.element.bits()])
            .collect()
    };
    source.check(
        narrow.shape == expected,
        format_args!("{operand} does not have the bits of {result}"),
    )?;
    if narrow.element.bits() < 8 {
        return lift(Repack(result.clone()));
    }
    Form::Bitcast(result.clone()).lift()
}

/// The same bits as another type, where one of the types has elements of less than a byte. In memory, such
/// an element has a byte.
#[derive(Debug)]
struct Repack(TensorType);

impl Operation for Repack {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        let x = operands[0].contiguous(context)?;
        let mut fresh = OutputTensor::new(context, self.0.clone())?;
        let (from, to) = (x.element(), self.0.element);
        let shift = 8 - to.bits().min(8);
        let stored = |bits: u8| match to {
            I2 | I4 => ((bits << shift) as i8 >> shift) as u8,
            _ => bits << shift >> shift,
        };
        let mask = u8::MAX >> (8 - from.bits().min(8));
        let (source, target) = (x.bytes(), fresh.bytes_mut());
        if from.bits() > to.bits() {
            let parts = from.bits().min(8) / to.bits();
            for (byte, parts) in source.iter().zip(target.chunks_mut(parts)) {
                let numbered = parts.iter_mut().enumerate();
                numbered.for_each(|(i, part)| *part = stored(byte >> (i * to.bits())));
            }
        } else {
            let parts = to.bits().min(8) / from.bits();
            for (byte, parts) in target.iter_mut().zip(source.chunks(parts)) {
                let numbered = parts.iter().enumerate();
                let bits = numbered.map(|(i, part)| (part & mask) << (i * from.bits()));
                *byte = stored(bits.fold(0, |byte, bits| byte | bits));
            }
        }
        Ok(smallvec![fresh.finish()])
    }
}
