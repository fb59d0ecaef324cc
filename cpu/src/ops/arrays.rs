//! Operations that create arrays and put arrays into others.

use super::shape::slice;
use super::{List, Read, lift};
use crate::ElementType::{self, *};
use crate::graph::{Constant, Operands, Operation, Source};
use crate::kernels::convert::with_integer;
use crate::kernels::{Group, Lanes, fill};
use crate::memory::{Context, Layout, OutputTensor, Storage, Strides, Tensor, Tensors, row_major};
use crate::text::Attribute;
use crate::{Dims, Result, TensorType};
use smallvec::{SmallVec, smallvec};
use std::sync::OnceLock;

/// Returns a tensor whose elements all share one place in memory.
pub fn splat(ty: &TensorType, element: &[u8]) -> Result<Tensor> {
    let mut storage = Storage::new(element.len())?;
    storage.bytes_mut()[..element.len()].copy_from_slice(element);
    let one = TensorType::new(&[], ty.element);
    let scalar = Tensor::from_storage(Layout::dense(one), storage.share());
    Ok(scalar.view(ty.shape.clone(), smallvec![0; ty.shape.len()], 0))
}

/// Reads `stablehlo.constant`.
pub fn constant(source: &Source<'_>) -> Read {
    source.counts(0, 1, 0)?;
    let Some(Attribute::Dense { ty, data }) = source.attribute("value") else {
        return Err(source.error("attribute value must be an array"));
    };
    source.result(0, ty)?;
    let width = ty.element.bytes();
    if data.len() == width {
        return lift(Constant(splat(ty, data)?));
    }
    source.check(
        ty.byte_size() == Some(data.len()),
        format_args!(
            "the value has {} bytes, which do not match {ty}",
            data.len()
        ),
    )?;
    let mut storage = Storage::new(data.len())?;
    storage.bytes_mut()[..data.len()].copy_from_slice(data);
    lift(Constant(Tensor::from_storage(
        Layout::dense(ty.clone()),
        storage.share(),
    )))
}

/// Numbers that count along an axis.
#[derive(Debug)]
struct Iota {
    ty: TensorType,
    axis: usize,
    /// The numbers of the axis, which all runs share.
    line: OnceLock<Tensor>,
}

impl Operation for Iota {
    fn run(&self, context: &Context, _: Operands) -> Result<Tensors> {
        let count = self.ty.shape[self.axis];
        let line = match self.line.get() {
            Some(line) => line.clone(),
            None => {
                let line = count_up(context, count, self.ty.element)?;
                self.line.get_or_init(|| line).clone()
            }
        };
        let mut strides: Strides = smallvec![0; self.ty.shape.len()];
        strides[self.axis] = 1;
        Ok(smallvec![line.view(self.ty.shape.clone(), strides, 0)])
    }
}

/// Returns the numbers from 0 to `count` in an element type.
fn count_up(context: &Context, count: usize, element: ElementType) -> Result<Tensor> {
    let mut numbers = OutputTensor::new(context, TensorType::new(&[count], I64))?;
    numbers
        .slice_mut::<i64>()
        .iter_mut()
        .zip(0..)
        .for_each(|(x, i)| *x = i);
    convert(context, numbers.finish(), element)
}

/// Returns a tensor converted to another element type.
pub fn convert(context: &Context, tensor: Tensor, element: ElementType) -> Result<Tensor> {
    if tensor.element() == element {
        return Ok(tensor);
    }
    let mut group = Group::new(&[tensor.element()]);
    let output = super::elementwise::push_convert(&mut group, 0, element);
    group.finish(&[output]);
    let mut fresh = OutputTensor::new(context, TensorType::new(tensor.shape(), element))?;
    group.run(
        &[Lanes::of(&tensor)],
        &mut [fresh.bytes_mut()],
        tensor.size(),
        context.threads,
    );
    Ok(fresh.finish())
}

/// Reads `stablehlo.iota`.
pub fn iota(source: &Source<'_>) -> Read {
    source.counts(0, 1, 0)?;
    let ty = source.results[0].clone();
    let axis = source.axis("iota_dimension", ty.shape.len())?;
    lift(Iota {
        ty,
        axis,
        line: OnceLock::new(),
    })
}

/// Elements around and between those of an array.
#[derive(Debug)]
struct Pad {
    ty: TensorType,
    low: Vec<i64>,
    interior: Vec<usize>,
}

impl Operation for Pad {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        Ok(smallvec![pad(
            context,
            &operands[0],
            &operands[1],
            &self.ty,
            &self.low,
            &self.interior
        )?])
    }
}

/// Returns an array with padding before its elements (negative to drop some) and between them.
pub fn pad(
    context: &Context,
    x: &Tensor,
    value: &Tensor,
    ty: &TensorType,
    low: &[i64],
    interior: &[usize],
) -> Result<Tensor> {
    let mut fresh = OutputTensor::new(context, ty.clone())?;
    let width = ty.element.bytes();
    let bytes: &[u8] = value.data();
    let element = &bytes[value.offset * width..][..width];
    fill(fresh.bytes_mut(), element);
    let result_strides = row_major(&ty.shape);
    let (mut starts, mut shape, mut offset) = (Vec::new(), Dims::new(), 0);
    let mut strides = Strides::new();
    for axis in 0..ty.shape.len() {
        let (n, low) = (x.shape()[axis] as i64, low[axis]);
        let step = if n > 1 { interior[axis] as i64 + 1 } else { 1 };
        // Elements `first..end` of the operand are inside the result.
        let first = ((-low).max(0) + step - 1) / step;
        let inside = (ty.shape[axis] as i64 - low).max(0);
        let count = ((inside + step - 1) / step).min(n) - first;
        if count <= 0 {
            return Ok(fresh.finish());
        }
        let stride = result_strides[axis];
        starts.push(first as usize);
        shape.push(count as usize);
        offset += (low + first * step) as usize * stride as usize;
        // The distance from a single element to the next one means nothing, and may be huge.
        strides.push(if count > 1 { stride * step as isize } else { 0 });
    }
    let steps = vec![1; shape.len()];
    fresh.write(&slice(x, &starts, &steps, shape), offset, &strides);
    Ok(fresh.finish())
}

/// Reads `stablehlo.pad`.
pub fn read_pad(source: &Source<'_>) -> Read {
    source.counts(2, 1, 0)?;
    let (x, value) = (&source.operands[0], &source.operands[1]);
    source.check(
        value.shape.is_empty() && value.element == x.element,
        format_args!("the padding of type {value} does not match {x}"),
    )?;
    let rank = x.shape.len();
    let low = source.integers("edge_padding_low")?;
    let high = source.integers("edge_padding_high")?;
    let interior = source.sizes_or("interior_padding", rank, 0)?;
    source.check(
        low.len() == rank && high.len() == rank,
        "the padding must have a number for each axis",
    )?;
    let shape = padded_shape(&x.shape, &low, &high, &interior)
        .ok_or_else(|| source.error("the padding removes more than the operand or is too large"))?;
    let ty = TensorType::new(&shape, x.element);
    source.result(0, &ty)?;
    lift(Pad { ty, low, interior })
}

/// Returns the shape of a padded array, or `None` if a size is negative or too large.
pub fn padded_shape(
    shape: &[usize],
    low: &[i64],
    high: &[i64],
    interior: &[usize],
) -> Option<Dims> {
    let size = |axis: usize| {
        // No array has so many elements, and sums of such numbers do not overflow.
        let number = |x: i64| (x.unsigned_abs() < 1 << 48).then_some(x);
        let n = number(i64::try_from(shape[axis]).ok()?)?;
        let interior = i64::try_from(interior[axis]).ok()?;
        let between = number((n - 1).max(0).checked_mul(interior)?)?;
        usize::try_from(n + between + number(low[axis])? + number(high[axis])?).ok()
    };
    (0..shape.len()).map(size).collect()
}

/// Arrays one after another along an axis.
#[derive(Debug)]
pub struct Concatenate {
    /// The type of the result.
    pub ty: TensorType,
    /// The axis.
    pub axis: usize,
}

impl Operation for Concatenate {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        let mut fresh = OutputTensor::new(context, self.ty.clone())?;
        let strides = row_major(&self.ty.shape);
        let mut offset = 0;
        for x in &operands {
            if x.size() != 0 {
                fresh.write(x, offset, &strides);
            }
            offset += x.shape()[self.axis] * strides[self.axis] as usize;
        }
        Ok(smallvec![fresh.finish()])
    }
}

/// Reads `stablehlo.concatenate`.
pub fn concatenate(source: &Source<'_>) -> Read {
    source.check(
        !source.operands.is_empty() && source.results.len() == 1,
        "needs operands and one result",
    )?;
    let first = &source.operands[0];
    let axis = source.axis("dimension", first.shape.len())?;
    let mut ty = first.clone();
    ty.shape[axis] = 0;
    for operand in &source.operands {
        let mut expected = operand.clone();
        source.check(
            operand.shape.len() == first.shape.len(),
            "the operands have different ranks",
        )?;
        expected.shape[axis] = first.shape[axis];
        source.check(
            expected == *first,
            format_args!("the operands differ: {}", List(&source.operands)),
        )?;
        ty.shape[axis] = ty.shape[axis]
            .checked_add(operand.shape[axis])
            .ok_or_else(|| source.error("the result exceeds the address space"))?;
    }
    source.result(0, &ty)?;
    lift(Concatenate { ty, axis })
}

/// Returns an integer tensor's only element. Numbers beyond `i64` become its largest.
pub fn index(tensor: &Tensor) -> i64 {
    with_integer!(tensor.element(), T => tensor.scalar::<T>() as i128, _ => 0).min(i64::MAX.into())
        as i64
}

/// Returns the starts of a dynamic slice: clamped so that the slice is inside.
fn starts(indices: &[Tensor], shape: &[usize], sizes: &[usize]) -> SmallVec<[usize; 6]> {
    let start = |(i, t): (usize, &Tensor)| index(t).clamp(0, (shape[i] - sizes[i]) as i64) as usize;
    indices.iter().enumerate().map(start).collect()
}

/// A slice whose starts are operands.
#[derive(Debug)]
struct DynamicSlice(Dims);

impl Operation for DynamicSlice {
    fn run(&self, _: &Context, operands: Operands) -> Result<Tensors> {
        let x = &operands[0];
        let starts = starts(&operands[1..], x.shape(), &self.0);
        Ok(smallvec![slice(
            x,
            &starts,
            &vec![1; starts.len()],
            self.0.clone()
        )])
    }
}

fn check_starts(source: &Source<'_>, first: usize, rank: usize) -> Result<()> {
    let starts = source.operands.get(first..).unwrap_or_default();
    let integers = starts.iter().all(|t| {
        t.shape.is_empty()
            && with_integer!(t.element, T => std::mem::size_of::<T>() > 0, _ => false)
    });
    source.check(
        starts.len() == rank && integers,
        format_args!("needs {rank} integers as starts"),
    )
}

/// Reads `stablehlo.dynamic_slice`.
pub fn dynamic_slice(source: &Source<'_>) -> Read {
    source.check(
        !source.operands.is_empty() && source.results.len() == 1,
        "needs operands and one result",
    )?;
    let x = &source.operands[0];
    let sizes = source.sizes("slice_sizes")?;
    check_starts(source, 1, x.shape.len())?;
    let inside = sizes.len() == x.shape.len() && sizes.iter().zip(&x.shape).all(|(s, n)| s <= n);
    source.check(inside, format_args!("a slice of {sizes:?} exceeds {x}"))?;
    let shape: Dims = sizes.into_iter().collect();
    source.result(0, &TensorType::new(&shape, x.element))?;
    lift(DynamicSlice(shape))
}

/// An array with a slice replaced.
#[derive(Debug)]
struct DynamicUpdateSlice;

impl Operation for DynamicUpdateSlice {
    fn run(&self, context: &Context, mut operands: Operands) -> Result<Tensors> {
        let starts = starts(&operands[2..], operands[0].shape(), operands[1].shape());
        let update = operands.remove(1);
        let x = operands.swap_remove(0);
        let strides = row_major(x.shape());
        let mut fresh = x.into_fresh(context)?;
        if update.size() != 0 {
            let offset = starts
                .iter()
                .zip(&strides)
                .map(|(s, stride)| s * *stride as usize)
                .sum();
            fresh.write(&update, offset, &strides);
        }
        Ok(smallvec![fresh.finish()])
    }
}

/// Reads `stablehlo.dynamic_update_slice`.
pub fn dynamic_update_slice(source: &Source<'_>) -> Read {
    source.check(
        source.operands.len() >= 2 && source.results.len() == 1,
        "needs operands and one result",
    )?;
    let (x, update) = (&source.operands[0], &source.operands[1]);
    check_starts(source, 2, x.shape.len())?;
    let inside = update.shape.len() == x.shape.len()
        && update.shape.iter().zip(&x.shape).all(|(s, n)| s <= n);
    source.check(
        inside && update.element == x.element,
        format_args!("an update of type {update} exceeds {x}"),
    )?;
    source.result(0, x)?;
    lift(DynamicUpdateSlice)
}
