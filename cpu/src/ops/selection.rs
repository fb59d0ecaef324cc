//! The gradient of max pooling: elements are added to those that a region selects from windows.

use super::elementwise::compute_type;
use super::region::{MISMATCH, ScalarRegion, captured};
use super::window::Windows;
use super::{Read, lift, picking};
use crate::ElementType::Bool;
use crate::Result;
use crate::graph::{Operands, Operation, Source};
use crate::kernels::fold::combiner;
use crate::kernels::pick::Pick;
use crate::kernels::{Lanes, TILE, try_share};
use crate::memory::{Context, Tensor, Tensors, row_major, with_width};
use smallvec::smallvec;

/// Windows that a thread looks at, at a time.
const PIECE: usize = 8 * TILE;

/// Adds each source to the element of its window that a region selects.
#[derive(Debug)]
struct SelectAndScatter {
    windows: Windows,
    select: ScalarRegion,
    scatter: ScalarRegion,
    /// The kernel for these regions and windows, if there is one.
    pick: Option<Pick>,
}

impl Operation for SelectAndScatter {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        let (x, updates) = (
            operands[0].contiguous(context)?,
            operands[1].contiguous(context)?,
        );
        let (initial, captures) = (&operands[2], &operands[3..]);
        if let Some(pick) = self.pick.filter(|_| updates.size() > 0) {
            let arrays = [&x, &updates, initial];
            let result = picking::scatter(context, pick, &self.windows, arrays)?;
            return Ok(smallvec![result]);
        }
        let chosen = self.choose(context, &x, captures)?;
        let mut result = super::reduce::filled(context, initial, x.shape())?;
        let width = x.element().bytes();
        let bytes = result.bytes_mut();
        let add = self.scatter.single;
        let add = add.and_then(|name| combiner(name, x.element()));
        let add = add.filter(|_| compute_type(x.element()) == x.element());
        let mut new = [0u128; 1];
        for (update, at) in updates.bytes().chunks_exact(width).zip(&chosen) {
            let Ok(at) = usize::try_from(*at) else {
                continue;
            };
            let element = &mut bytes[at * width..][..width];
            if let Some(add) = add {
                add(element, update);
                continue;
            }
            let new = &mut bytemuck::cast_slice_mut::<_, u8>(&mut new)[..width];
            let inputs: Vec<Lanes<'_>> = [Lanes::Slice(element), Lanes::Slice(update)]
                .into_iter()
                .chain(captured(captures))
                .collect();
            self.scatter.run(context, &inputs, &mut [&mut *new], 1)?;
            element.copy_from_slice(new);
        }
        Ok(smallvec![result.finish()])
    }
}

impl SelectAndScatter {
    /// Returns the number of the selected element of each window, -1 for windows in the padding.
    fn choose(&self, context: &Context, x: &Tensor, captures: &[Tensor]) -> Result<Vec<i64>> {
        let mut chosen = vec![-1i64; self.windows.positions.iter().product()];
        let offsets = self.windows.offsets();
        let one = Context { threads: 1 };
        let mut pieces: Vec<&mut [i64]> = chosen.chunks_mut(PIECE).collect();
        try_share(context.threads, &mut pieces, |i, chosen| {
            let tiles = chosen.chunks_mut(TILE).enumerate();
            tiles.into_iter().try_for_each(|(j, chosen)| {
                self.tile(&one, x, captures, &offsets, i * PIECE + j * TILE, chosen)
            })
        })?;
        Ok(chosen)
    }

    /// Finds the elements of some windows, of which the first has the number `first`.
    fn tile(
        &self,
        context: &Context,
        x: &Tensor,
        captures: &[Tensor],
        offsets: &[Vec<usize>],
        first: usize,
        chosen: &mut [i64],
    ) -> Result<()> {
        let (n, width) = (chosen.len(), x.element().bytes());
        let buffer = || vec![0u128; (n * width).div_ceil(16)];
        let (mut best, mut values) = (buffer(), buffer());
        let (mut keep, mut places) = (vec![0u8; n], vec![0i64; n]);
        let starts = self.starts(first, n);
        for offset in offsets {
            self.places(x.shape(), &starts, offset, &mut places);
            let bytes = &mut bytemuck::cast_slice_mut::<_, u8>(&mut values)[..n * width];
            with_width!(width, T => {
                let (source, values): (&[T], &mut [T]) = (x.slice(), bytemuck::cast_slice_mut(bytes));
                for (value, place) in values.iter_mut().zip(&places) {
                    *value = usize::try_from(*place).map_or(bytemuck::Zeroable::zeroed(), |at| source[at]);
                }
            });
            let best = &mut bytemuck::cast_slice_mut::<_, u8>(&mut best)[..n * width];
            let inputs: Vec<Lanes<'_>> = [Lanes::Slice(best), Lanes::Slice(bytes)]
                .into_iter()
                .chain(captured(captures))
                .collect();
            self.select.run(context, &inputs, &mut [&mut keep], n)?;
            with_width!(width, T => {
                let best: &mut [T] = bytemuck::cast_slice_mut(best);
                let values: &[T] = bytemuck::cast_slice(bytes);
                for i in 0..n {
                    if places[i] >= 0 && (keep[i] == 0 || chosen[i] < 0) {
                        (best[i], chosen[i]) = (values[i], places[i]);
                    }
                }
            });
        }
        Ok(())
    }

    /// Returns the index of the first element of each of `n` windows in the padded array, by axis.
    fn starts(&self, first: usize, n: usize) -> Vec<Vec<i64>> {
        let windows = &self.windows;
        let strides = row_major(&windows.positions);
        let start = |axis: usize| {
            let (size, stride) = (windows.positions[axis], strides[axis] as usize);
            let (mut position, mut left) = (first / stride % size, stride - first % stride);
            let mut starts = Vec::with_capacity(n);
            while starts.len() < n {
                let count = left.min(n - starts.len());
                let at = (position * windows.strides[axis]) as i64 - windows.low[axis];
                starts.resize(starts.len() + count, at);
                (position, left) = ((position + 1) % size, stride);
            }
            starts
        };
        (0..windows.positions.len()).map(start).collect()
    }

    /// Computes the number of an element of each window in the array, -1 in the padding.
    fn places(&self, shape: &[usize], starts: &[Vec<i64>], offset: &[usize], places: &mut [i64]) {
        places.fill(0);
        let strides = row_major(shape);
        for (axis, starts) in starts.iter().enumerate() {
            let base = self.windows.base_dilation[axis] as i64;
            let (size, stride) = (shape[axis] as i64, strides[axis] as i64);
            let offset = offset[axis] as i64;
            for (place, start) in places.iter_mut().zip(starts) {
                let at = start + offset;
                let (index, rest) = if base == 1 {
                    (at, 0)
                } else {
                    (at.div_euclid(base), at.rem_euclid(base))
                };
                let inside = (index >= 0) & (index < size) & (rest == 0) & (*place >= 0);
                *place = if inside { *place + index * stride } else { -1 };
            }
        }
    }
}

/// Reads `stablehlo.select_and_scatter`.
pub fn select_and_scatter(source: &Source<'_>) -> Read {
    source.counts(3, 1, 2)?;
    let [x, updates, initial] = &source.operands[..] else {
        return Err(source.error("needs three operands"));
    };
    let windows = Windows::read(source, &x.shape)?;
    let (select, scatter) = (
        ScalarRegion::read(source, 0)?,
        ScalarRegion::combiner(source, 1, 1)?,
    );
    source.check(
        updates.shape == windows.positions,
        format_args!("updates of type {updates} do not match the windows"),
    )?;
    source.check(
        initial.shape.is_empty(),
        "the initial value must be a scalar",
    )?;
    let same = [updates.element, initial.element]
        .iter()
        .all(|e| *e == x.element);
    source.check(
        same && select.parameters == [x.element; 2] && select.results == [Bool],
        MISMATCH,
    )?;
    source.result(0, x)?;
    lift(SelectAndScatter {
        pick: picking::pick(source, &windows, x.element),
        windows,
        select,
        scatter,
    })
}
