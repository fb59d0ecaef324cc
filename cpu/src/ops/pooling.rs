//! Reductions over short windows by one operation, a line of windows at a time.

use super::elementwise::compute_type;
use super::lines::{Lines, PARALLEL, PIECE};
use super::window::Windows;
use crate::kernels::fold::{Combine, combiner};
use crate::kernels::{fill, try_share};
use crate::memory::{Context, OutputTensor, Storage, Tensor, with_width};
use crate::{Dims, Result, TensorType};

/// Neighbors from which the elements of windows are combined without a copy.
const NEIGHBORS: usize = 8;

/// A reduction whose results are lines: windows along one axis, each with a run of neighbors.
struct Pooling<'a> {
    combine: Combine,
    width: usize,
    source: &'a [u8],
    initial: &'a [u8],
    lines: Lines,
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
    let Some(combine) =
        combiner(name, element).filter(|_| Lines::fit(windows) && compute_type(element) == element)
    else {
        return Ok(None);
    };
    // The axes in the order of memory.
    let mut order: Vec<usize> = (0..x.shape().len()).collect();
    order.sort_by_key(|a| std::cmp::Reverse(x.strides[*a].unsigned_abs()));
    let x = x.permute(&order).contiguous(context)?;
    let shape: Dims = order.iter().map(|a| windows.positions[*a]).collect();
    let mut result = OutputTensor::new(context, TensorType::new(&shape, element))?;
    let width = element.bytes();
    let initial = &initial.data::<u8>()[initial.offset * width..][..width];
    let pooling = Pooling {
        combine,
        width,
        source: x.bytes(),
        initial,
        lines: Lines::new(x.shape(), windows, &order),
    };
    pooling.run(context, result.bytes_mut())?;
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(i, a)| back[*a] = i);
    Ok(Some(result.finish().permute(&back)))
}

impl<'a> Pooling<'a> {
    fn run(&self, context: &Context, out: &mut [u8]) -> Result<()> {
        let line = self.lines.length() * self.width;
        if line == 0 {
            return Ok(());
        }
        let count = (PIECE / line).max(1);
        let work = (out.len() / self.width).saturating_mul(self.lines.count());
        let threads = if work >= PARALLEL { context.threads } else { 1 };
        let mut pieces: Vec<&mut [u8]> = out.chunks_mut(count * line).collect();
        try_share(threads, &mut pieces, |i, out| {
            let mut scratch = Storage::new(line)?;
            fill(out, self.initial);
            for (j, out) in out.chunks_mut(line).enumerate() {
                self.line(i * count + j, out, scratch.bytes_mut());
            }
            Ok(())
        })
    }

    /// Combines the elements of the windows of a line.
    fn line(&self, number: usize, out: &mut [u8], scratch: &mut [u8]) {
        let run = self.lines.run * self.width;
        self.lines.visit(number, |_, range, first| {
            let out = &mut out[range.start * run..range.end * run];
            self.elements(first, out, scratch);
        });
    }

    /// Combines an element of each of some neighboring windows of a line with their sums.
    fn elements(&self, first: usize, out: &mut [u8], scratch: &mut [u8]) {
        let source = &self.source[first * self.width..];
        let (run, jump) = (self.lines.run, self.lines.line.jump());
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
