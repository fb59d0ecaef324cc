//! Reductions over windows.

use super::arrays::{pad, padded_shape};
use super::pooling::pool;
use super::reduce::run_region;
use super::region::{MISMATCH, ScalarRegion, captured};
use super::scan::{Line, combine_line};
use super::{Read, lift};
use crate::ElementType::Bool;
use crate::graph::{Operands, Operation, Source};
use crate::kernels::Lanes;
use crate::memory::{Context, Strides, Tensor, Tensors, row_major};
use crate::{Dims, Result, TensorType};
use smallvec::smallvec;

/// Number of elements from which windows are combined axis by axis.
const LONG: usize = 32;

/// The windows of an array.
#[derive(Debug)]
pub struct Windows {
    /// Sizes of a window.
    pub sizes: Vec<usize>,
    /// Distances between windows.
    pub strides: Vec<usize>,
    /// Distances between the elements of a window.
    pub dilation: Vec<usize>,
    /// Distances between the elements of the array.
    pub base_dilation: Vec<usize>,
    /// Padding before the first element, negative to drop some.
    pub low: Vec<i64>,
    /// Shape of the padded array.
    pub padded: Dims,
    /// Number of windows along each axis.
    pub positions: Dims,
}

impl Windows {
    /// Reads the windows of an array of a shape.
    pub fn read(source: &Source<'_>, shape: &[usize]) -> Result<Windows> {
        let sizes = positive(source, "window_dimensions", shape.len())?;
        let names = ["window_strides", "window_dilations", "base_dilations"];
        Windows::new(source, shape, sizes, names)
    }

    /// Reads the attributes of windows: distances between windows, within windows and between elements
    /// of the array have names of their own.
    pub fn new(
        source: &Source<'_>,
        shape: &[usize],
        sizes: Vec<usize>,
        names: [&str; 3],
    ) -> Result<Windows> {
        let rank = shape.len();
        let [strides, dilation, base_dilation] = names;
        let mut strides = positive(source, strides, rank)?;
        let mut dilation = positive(source, dilation, rank)?;
        let mut base_dilation = positive(source, base_dilation, rank)?;
        let padding = source.integers_or("padding")?.unwrap_or(vec![0; 2 * rank]);
        source.check(
            padding.len() == 2 * rank,
            "padding must have two numbers for each axis",
        )?;
        let low: Vec<i64> = padding.iter().copied().step_by(2).collect();
        let high: Vec<i64> = padding.iter().copied().skip(1).step_by(2).collect();
        let interior: Vec<usize> = base_dilation.iter().map(|d| d - 1).collect();
        let too_large =
            || source.error("the padding removes more than the operand or is too large");
        let padded = padded_shape(shape, &low, &high, &interior).ok_or_else(too_large)?;
        let mut positions = Dims::new();
        for axis in 0..rank {
            // The distance from a single element to the next one means nothing, and may be huge.
            if shape[axis] <= 1 {
                base_dilation[axis] = 1;
            }
            if sizes[axis] <= 1 {
                dilation[axis] = 1;
            }
            let reach = sizes[axis]
                .saturating_sub(1)
                .checked_mul(dilation[axis])
                .ok_or_else(too_large)?;
            let extent = if sizes[axis] == 0 {
                0
            } else {
                reach.checked_add(1).ok_or_else(too_large)?
            };
            let free = padded[axis]
                .checked_sub(extent)
                .filter(|_| padded[axis] > 0);
            positions.push(free.map_or(0, |n| n / strides[axis] + 1));
            if positions[axis] <= 1 {
                strides[axis] = 1;
            }
        }
        Ok(Windows {
            sizes,
            strides,
            dilation,
            base_dilation,
            low,
            padded,
            positions,
        })
    }

    /// Returns the array with its padding.
    fn pad(&self, context: &Context, x: &Tensor, value: &Tensor) -> Result<Tensor> {
        if *x.shape() == *self.padded && self.low.iter().all(|low| *low == 0) {
            return Ok(x.clone());
        }
        let ty = TensorType::new(&self.padded, x.element());
        let interior: Vec<usize> = self.base_dilation.iter().map(|d| d - 1).collect();
        pad(context, x, value, &ty, &self.low, &interior)
    }

    /// Returns an array of booleans that are true for elements and false for padding, or `None` without
    /// padding. XLA leaves padding out, so that an initial value counts once.
    fn mask(&self, context: &Context, shape: &[usize]) -> Result<Option<Tensor>> {
        if *shape == *self.padded && self.low.iter().all(|low| *low == 0) {
            return Ok(None);
        }
        let boolean = |value: u8, shape: &[usize]| {
            super::arrays::splat(&TensorType::new(shape, Bool), &[value])
        };
        Ok(Some(self.pad(
            context,
            &boolean(1, shape)?,
            &boolean(0, &[])?,
        )?))
    }

    /// Returns whether combining axis by axis takes less than combining element by element.
    fn are_long(&self) -> bool {
        let elements = self
            .sizes
            .iter()
            .fold(1usize, |n, size| n.saturating_mul(*size));
        elements > LONG
            && self
                .dilation
                .iter()
                .chain(&self.base_dilation)
                .all(|d| *d == 1)
    }

    /// Returns whether each window has an element of an array.
    fn meet(&self, shape: &[usize]) -> bool {
        (0..shape.len()).all(|axis| {
            let last = (self.positions[axis] - 1) * self.strides[axis];
            let (size, last) = (self.sizes[axis] as i64, last as i64 - self.low[axis]);
            self.low[axis] < size && last < shape[axis] as i64
        })
    }

    /// Returns the offsets of all elements of a window from its first element, in row-major order.
    pub fn offsets(&self) -> Vec<Vec<usize>> {
        let count: usize = self.sizes.iter().product();
        let strides = row_major(&self.sizes);
        let offset = |i: usize, axis: usize| {
            i / strides[axis] as usize % self.sizes[axis] * self.dilation[axis]
        };
        (0..count)
            .map(|i| (0..self.sizes.len()).map(|axis| offset(i, axis)).collect())
            .collect()
    }

    /// Returns the view of one element of each window of the padded array.
    fn element(&self, padded: &Tensor, offset: &[usize]) -> Tensor {
        let at: isize = offset
            .iter()
            .zip(&padded.strides)
            .map(|(o, s)| *o as isize * s)
            .sum();
        let strides: Strides = padded
            .strides
            .iter()
            .zip(&self.strides)
            .map(|(s, step)| s * *step as isize)
            .collect();
        padded.view(
            self.positions.clone(),
            strides,
            (padded.offset as isize + at) as usize,
        )
    }
}

fn positive(source: &Source<'_>, name: &str, rank: usize) -> Result<Vec<usize>> {
    let list = source.sizes_or(name, rank, 1)?;
    source.check(
        list.iter().all(|n| *n > 0),
        format_args!("{name} must be positive"),
    )?;
    Ok(list)
}

/// Combines the elements of each window.
#[derive(Debug)]
struct ReduceWindow {
    windows: Windows,
    region: ScalarRegion,
}

impl Operation for ReduceWindow {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        let count = self.region.results.len();
        let (arrays, rest) = operands.split_at(count);
        let (initial, captures) = rest.split_at(count);
        let shape = &self.windows.positions;
        let sums: Tensors = initial
            .iter()
            .map(|t| t.view(shape.clone(), smallvec![0; shape.len()], t.offset))
            .collect();
        if shape.contains(&0) {
            return Ok(sums);
        }
        if self.windows.are_long() && self.windows.meet(arrays[0].shape()) {
            return self.run_long(context, arrays, sums, captures);
        }
        if let Some(name) = self.region.single
            && count == 1
            && let Some(result) = pool(context, name, &arrays[0], &initial[0], &self.windows)?
        {
            return Ok(smallvec![result]);
        }
        self.run_short(context, arrays, sums, captures)
    }
}

impl ReduceWindow {
    /// Combines axis by axis.
    fn run_long(
        &self,
        context: &Context,
        arrays: &[Tensor],
        sums: Tensors,
        captures: &[Tensor],
    ) -> Result<Tensors> {
        let windows = &self.windows;
        let mut current: Tensors = arrays.iter().cloned().collect();
        for axis in (0..windows.sizes.len()).rev() {
            let line = Line {
                axis,
                size: windows.sizes[axis],
                start: -windows.low[axis] as isize,
                stride: windows.strides[axis],
                count: windows.positions[axis],
            };
            if line.size > 1 || line.count != current[0].shape()[axis] {
                current = combine_line(context, &self.region, &current, captures, line)?;
            }
        }
        self.combine(context, &sums, &current, captures)
    }

    /// Combines the first elements of all windows, then the second ones, and so on.
    fn run_short(
        &self,
        context: &Context,
        arrays: &[Tensor],
        mut sums: Tensors,
        captures: &[Tensor],
    ) -> Result<Tensors> {
        let mut padded = Vec::with_capacity(arrays.len());
        for (x, value) in arrays.iter().zip(&sums) {
            padded.push(self.windows.pad(context, x, value)?);
        }
        let mask = if self.neutral(&sums) {
            None
        } else {
            self.windows.mask(context, arrays[0].shape())?
        };
        for offset in self.windows.offsets() {
            let elements: Vec<Tensor> = padded
                .iter()
                .map(|t| self.windows.element(t, &offset))
                .collect();
            let mut next = self.combine(context, &sums, &elements, captures)?;
            if let Some(mask) = &mask {
                let inside = self.windows.element(mask, &offset);
                for (new, old) in next.iter_mut().zip(&sums) {
                    *new = super::select::choose(context, &inside, new, old)?;
                }
            }
            sums = next;
        }
        Ok(sums)
    }

    /// Combines an element of each window with the sums of the elements before it.
    fn combine(
        &self,
        context: &Context,
        sums: &[Tensor],
        elements: &[Tensor],
        captures: &[Tensor],
    ) -> Result<Tensors> {
        let inputs: Vec<Lanes<'_>> = sums
            .iter()
            .chain(elements)
            .map(Lanes::of)
            .chain(captured(captures))
            .collect();
        let shape = &self.windows.positions;
        run_region(
            context,
            &self.region,
            &inputs,
            shape,
            shape.iter().product(),
        )
    }

    /// Returns whether combining with the initial value changes nothing, so that padding may be combined.
    fn neutral(&self, initial: &[Tensor]) -> bool {
        let Some(name) = self.region.single else {
            return false;
        };
        let width = initial[0].element().bytes();
        let bytes: &[u8] = initial[0].data();
        let value = &bytes[initial[0].offset * width..][..width];
        // Adding zero to a negative zero changes it, which no recording or specification excludes.
        name == "stablehlo.add" && value.iter().all(|b| *b == 0)
    }
}

/// Reads `stablehlo.reduce_window`.
pub fn reduce_window(source: &Source<'_>) -> Read {
    let count = source.results.len();
    source.check(count > 0, "needs a result")?;
    source.counts(2 * count, count, 1)?;
    let shape = source.operands[0].shape.clone();
    let windows = Windows::read(source, &shape)?;
    let region = ScalarRegion::combiner(source, 0, count)?;
    for i in 0..count {
        let (x, initial) = (&source.operands[i], &source.operands[count + i]);
        source.check(
            x.shape == shape && initial.shape.is_empty(),
            "the operands have different shapes",
        )?;
        source.check(initial.element == x.element, MISMATCH)?;
        source.result(i, &TensorType::new(&windows.positions, x.element))?;
    }
    lift(ReduceWindow { windows, region })
}

/// Applies a region to each element.
#[derive(Debug)]
struct Map {
    region: ScalarRegion,
    shape: Dims,
}

impl Operation for Map {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        let inputs: Vec<Lanes<'_>> = operands.iter().map(Lanes::of).collect();
        run_region(
            context,
            &self.region,
            &inputs,
            &self.shape,
            self.shape.iter().product(),
        )
    }
}

/// Reads `stablehlo.map`.
pub fn map(source: &Source<'_>) -> Read {
    source.counts(source.operands.len(), 1, 1)?;
    let region = ScalarRegion::read(source, 0)?;
    let result = &source.results[0];
    let elements: Vec<_> = source.operands.iter().map(|t| t.element).collect();
    source.check(
        region.parameters == elements && region.results == [result.element],
        MISMATCH,
    )?;
    source.check(
        source.operands.iter().all(|t| t.shape == result.shape),
        "the operands have different shapes",
    )?;
    lift(Map {
        region,
        shape: result.shape.clone(),
    })
}
