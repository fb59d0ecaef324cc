//! Reductions over short windows by one operation, a line of windows at a time.

use super::elementwise::compute_type;
use super::window::Windows;
use crate::kernels::fold::{Combine, combiner};
use crate::kernels::{fill, try_share};
use crate::memory::{Context, Fresh, Storage, Tensor, with_width};
use crate::{Dims, Result, TensorType};
use smallvec::SmallVec;
use std::ops::Range;

/// Elements of windows that are combined with the same sums, at most.
const OFFSETS: usize = 256;
/// Bytes of results that a thread computes at a time.
const PIECE: usize = 1 << 15;
/// Combinations from which threads share a reduction.
const PARALLEL: usize = 1 << 16;
/// Neighbors from which the elements of windows are combined without a copy.
const NEIGHBORS: usize = 8;

/// Windows along one axis of an array.
#[derive(Clone, Copy)]
struct Axis {
    size: usize,
    /// Distance in memory, in elements.
    stride: usize,
    /// Distance between windows.
    step: usize,
    positions: usize,
}

impl Axis {
    /// Returns the range of windows whose elements at an offset are inside the array, and the place of the first
    /// one in memory.
    fn inside(&self, offset: isize) -> (Range<usize>, usize) {
        let step = self.step as isize;
        let until = |end: isize| ((end - offset).max(0) + step - 1) / step;
        let end = until(self.size as isize).min(self.positions as isize);
        let first = until(0).min(end);
        let place = (offset + first * step).max(0) as usize * self.stride;
        (first as usize..end as usize, place)
    }
}

/// A reduction whose results are lines: windows along one axis, each with a run of neighbors.
struct Pooling<'a> {
    combine: Combine,
    width: usize,
    source: &'a [u8],
    initial: &'a [u8],
    /// The axes before that of lines.
    outer: Vec<Axis>,
    line: Axis,
    /// Neighbors in memory that belong to different windows.
    run: usize,
    /// The elements of windows, in order.
    elements: Vec<Elements>,
}

/// Elements of windows with the same offsets along the outer axes.
struct Elements {
    /// The offsets from the first window, which are negative in the padding.
    outer: Vec<isize>,
    /// For each offset along the line: the range of windows whose elements are inside the array, and the place
    /// of the first one in memory.
    line: Vec<(Range<usize>, usize)>,
}

/// Combines the elements of windows one after another, with the initial value first. Returns `None` if there is
/// no kernel for the operation or the windows.
///
/// # Errors
/// Returns [`crate::Error::Memory`] if the result does not fit into memory.
pub fn pool(
    context: &Context,
    name: &str,
    x: &Tensor,
    initial: &Tensor,
    windows: &Windows,
) -> Result<Option<Tensor>> {
    let element = x.element();
    let count = windows
        .sizes
        .iter()
        .try_fold(1usize, |n, size| n.checked_mul(*size));
    let few = count.is_some_and(|n| n <= OFFSETS) && windows.base_dilation.iter().all(|d| *d == 1);
    let Some(combine) = combiner(name, element).filter(|_| few && compute_type(element) == element)
    else {
        return Ok(None);
    };
    // The axes in the order of memory.
    let mut order: Vec<usize> = (0..x.shape().len()).collect();
    order.sort_by_key(|a| std::cmp::Reverse(x.strides[*a].unsigned_abs()));
    let x = x.permute(&order).contiguous(context)?;
    let shape: Dims = order.iter().map(|a| windows.positions[*a]).collect();
    let mut result = Fresh::new(context, TensorType::new(&shape, element))?;
    let width = element.bytes();
    let initial = &initial.data::<u8>()[initial.offset * width..][..width];
    let pooling = Pooling::new(combine, &x, initial, windows, &order);
    pooling.run(context, result.bytes_mut())?;
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(i, a)| back[*a] = i);
    Ok(Some(result.finish().permute(&back)))
}

impl<'a> Pooling<'a> {
    fn new(
        combine: Combine,
        x: &'a Tensor,
        initial: &'a [u8],
        windows: &Windows,
        order: &[usize],
    ) -> Pooling<'a> {
        let same = |i: usize| {
            let axis = order[i];
            let size = x.shape()[i];
            windows.sizes[axis] == 1
                && windows.low[axis] == 0
                && windows.positions[axis] == size
                && (windows.strides[axis] == 1 || size <= 1)
        };
        let kept = (0..order.len()).rev().take_while(|i| same(*i)).count();
        let pooled = &order[..order.len() - kept];
        let run: usize = x.shape()[pooled.len()..].iter().product();
        let mut outer: Vec<Axis> = Vec::new();
        let mut stride = run;
        for (i, axis) in pooled.iter().enumerate().rev() {
            let size = x.shape()[i];
            outer.insert(
                0,
                Axis {
                    size,
                    stride,
                    step: windows.strides[*axis],
                    positions: windows.positions[*axis],
                },
            );
            stride *= size;
        }
        if outer.is_empty() {
            outer.push(Axis {
                size: 1,
                stride: run,
                step: 1,
                positions: 1,
            });
        }
        let line = outer.remove(outer.len() - 1);
        Pooling {
            combine,
            width: x.element().bytes(),
            source: x.bytes(),
            initial,
            outer,
            line,
            run,
            elements: elements(windows, pooled, line),
        }
    }

    /// Returns the number of elements of a window.
    fn count(&self) -> usize {
        self.elements.iter().map(|e| e.line.len()).sum()
    }

    fn run(&self, context: &Context, out: &mut [u8]) -> Result<()> {
        let line = self.line.positions * self.run * self.width;
        if line == 0 {
            return Ok(());
        }
        let lines = (PIECE / line).max(1);
        let work = (out.len() / self.width).saturating_mul(self.count());
        let threads = if work >= PARALLEL { context.threads } else { 1 };
        let mut pieces: Vec<&mut [u8]> = out.chunks_mut(lines * line).collect();
        try_share(threads, &mut pieces, |i, out| {
            let mut scratch = Storage::new(self.line.positions * self.run * self.width)?;
            fill(out, self.initial);
            for (j, out) in out.chunks_mut(line).enumerate() {
                self.line(i * lines + j, out, scratch.bytes_mut());
            }
            Ok(())
        })
    }

    /// Combines the elements of the windows of a line.
    fn line(&self, mut number: usize, out: &mut [u8], scratch: &mut [u8]) {
        let mut position: SmallVec<[isize; 6]> = self.outer.iter().map(|_| 0).collect();
        for (axis, position) in self.outer.iter().zip(&mut position).rev() {
            *position = (number % axis.positions * axis.step) as isize;
            number /= axis.positions;
        }
        'elements: for elements in &self.elements {
            let mut first = 0;
            for ((axis, position), offset) in self.outer.iter().zip(&position).zip(&elements.outer)
            {
                let at = position + offset;
                if at < 0 || at >= axis.size as isize {
                    continue 'elements;
                }
                first += at as usize * axis.stride;
            }
            let run = self.run * self.width;
            for (range, place) in elements.line.iter().filter(|(range, _)| !range.is_empty()) {
                let out = &mut out[range.start * run..range.end * run];
                self.elements(first + place, out, scratch);
            }
        }
    }

    /// Combines an element of each of some neighboring windows of a line with their sums.
    fn elements(&self, first: usize, out: &mut [u8], scratch: &mut [u8]) {
        let source = &self.source[first * self.width..];
        let (run, jump) = (self.run, self.line.stride * self.line.step);
        if run == jump || out.len() == run * self.width {
            return (self.combine)(out, &source[..out.len()]);
        }
        if run >= NEIGHBORS {
            let rows = source.chunks(jump * self.width);
            for (out, row) in out.chunks_exact_mut(run * self.width).zip(rows) {
                (self.combine)(out, &row[..run * self.width]);
            }
            return;
        }
        let scratch = &mut scratch[..out.len()];
        with_width!(self.width, T => {
            let source: &[T] = bytemuck::cast_slice(source);
            let target: &mut [T] = bytemuck::cast_slice_mut(scratch);
            match run {
                1 => target.iter_mut().zip(source.iter().step_by(jump)).for_each(|(t, s)| *t = *s),
                _ => {
                    let rows = source.chunks(jump);
                    for (target, row) in target.chunks_exact_mut(run).zip(rows) {
                        target.copy_from_slice(&row[..run]);
                    }
                }
            }
        });
        (self.combine)(out, scratch);
    }
}

/// Returns the elements of windows along some axes, the last of which is that of lines.
fn elements(windows: &Windows, axes: &[usize], line: Axis) -> Vec<Elements> {
    let mut elements: Vec<Elements> = Vec::new();
    for offset in windows.offsets() {
        let at = |a: &usize| offset[*a] as isize - windows.low[*a] as isize;
        let mut outer: Vec<isize> = axes.iter().map(at).collect();
        let range = line.inside(outer.pop().unwrap_or(0));
        match elements.last_mut() {
            Some(same) if same.outer == outer => same.line.push(range),
            _ => elements.push(Elements {
                outer,
                line: vec![range],
            }),
        }
    }
    elements
}
