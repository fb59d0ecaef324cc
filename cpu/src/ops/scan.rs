//! Reductions over long windows, such as cumulative sums: windows of doubling lengths are combined with
//! their neighbors, which takes a logarithm of the windows' length in steps and keeps sums accurate.

use super::region::{ScalarRegion, captured};
use super::shape::{reverse, slice};
use crate::kernels::Lanes;
use crate::memory::{Context, OutputTensor, Tensor, Tensors};
use crate::{Dims, Result, TensorType};
use smallvec::smallvec;

/// Windows along one axis. Each has an element of the array.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// The axis.
    pub axis: usize,
    /// Elements of a window.
    pub size: usize,
    /// Index of the first window's first element, which is negative in the padding.
    pub start: isize,
    /// Distance between windows.
    pub stride: usize,
    /// Number of windows.
    pub count: usize,
}

/// Combinations of neighbors: for each start from `first` to the end of the array, those elements of a window
/// of `size` elements that are inside of the array.
#[derive(Clone)]
struct Partial {
    size: usize,
    first: usize,
    /// Arrays with an axis of starts and an axis of lanes.
    arrays: Tensors,
}

/// The combination of windows with the windows after them.
struct Join<'a> {
    context: &'a Context,
    region: &'a ScalarRegion,
    captures: &'a [Tensor],
    /// Whether the elements are in reverse order.
    reversed: bool,
    /// Number of starts before the array.
    low: usize,
    /// Number of starts.
    starts: usize,
    lanes: usize,
}

impl Join<'_> {
    /// Combines each window of `a` with the window of `b` that begins where it ends.
    fn join(&self, a: &Partial, b: &Partial) -> Result<Partial> {
        let size = a.size + b.size;
        let first = (self.low + 1).saturating_sub(size);
        let end = self.starts.saturating_sub(a.size).max(a.first);
        let mut results = Vec::with_capacity(a.arrays.len());
        for x in &a.arrays {
            let ty = TensorType::new(&[self.starts - first, self.lanes], x.element());
            results.push(OutputTensor::new(self.context, ty)?);
        }
        for ((result, x), y) in results.iter_mut().zip(&a.arrays).zip(&b.arrays) {
            let row = self.lanes * x.element().bytes();
            let bytes = result.bytes_mut();
            // Starts whose first window is in the padding, and starts whose second one is after the end.
            let copied = &y.bytes()[(first + a.size).saturating_sub(b.first) * row..];
            bytes[..(a.first - first) * row].copy_from_slice(&copied[..(a.first - first) * row]);
            bytes[(end - first) * row..].copy_from_slice(&x.bytes()[(end - a.first) * row..]);
        }
        if end > a.first {
            self.combine(a, b, a.first..end, &mut results, first)?;
        }
        let arrays = results.into_iter().map(OutputTensor::finish).collect();
        Ok(Partial {
            size,
            first,
            arrays,
        })
    }

    /// Combines the elements of windows of `size` elements, at least one, from those of single elements.
    fn windows(&self, mut power: Partial, size: usize) -> Result<Partial> {
        let (mut rest, mut done) = (size, None);
        loop {
            if rest & 1 == 1 {
                done = Some(match &done {
                    Some(done) => self.join(done, &power)?,
                    None => power.clone(),
                });
            }
            rest >>= 1;
            match done {
                Some(done) if rest == 0 => return Ok(done),
                partial => done = partial,
            }
            power = self.join(&power, &power)?;
        }
    }

    /// Combines the windows of a range of starts.
    fn combine(
        &self,
        a: &Partial,
        b: &Partial,
        range: std::ops::Range<usize>,
        results: &mut [OutputTensor],
        first: usize,
    ) -> Result<()> {
        let part = |partial: &Partial, start: usize| -> Vec<Tensor> {
            let shape: Dims = smallvec![range.len(), self.lanes];
            let view = |x: &Tensor| slice(x, &[start - partial.first, 0], &[1, 1], shape.clone());
            partial.arrays.iter().map(view).collect()
        };
        let (left, right) = (part(a, range.start), part(b, range.start + a.size));
        let (left, right) = if self.reversed {
            (right, left)
        } else {
            (left, right)
        };
        let inputs: Vec<Lanes<'_>> = left
            .iter()
            .chain(&right)
            .map(Lanes::of)
            .chain(captured(self.captures))
            .collect();
        let mut outputs: Vec<&mut [u8]> = Vec::with_capacity(results.len());
        for result in results {
            let row = self.lanes * result.ty.element.bytes();
            outputs.push(
                &mut result.bytes_mut()[(range.start - first) * row..(range.end - first) * row],
            );
        }
        let count = range.len() * self.lanes;
        self.region.run(self.context, &inputs, &mut outputs, count)
    }
}

/// Combines the elements of each window along one axis.
///
/// # Errors
/// Returns [`crate::Error::Memory`] if an intermediate array does not fit into memory.
pub fn combine_line(
    context: &Context,
    region: &ScalarRegion,
    arrays: &[Tensor],
    captures: &[Tensor],
    line: Line,
) -> Result<Tensors> {
    let shape = arrays[0].shape();
    let n = shape[line.axis] as isize;
    let last = line.start + ((line.count - 1) * line.stride) as isize;
    // Starts before the array cost memory, so that the side with fewer of them comes first.
    let mirrored = n - last - line.size as isize;
    let reversed = mirrored > line.start;
    let start = if reversed { mirrored } else { line.start };
    let turned = |x: Tensor, axis| if reversed { reverse(&x, &[axis]) } else { x };
    let mut order: Vec<usize> = (0..shape.len()).filter(|a| *a != line.axis).collect();
    order.insert(0, line.axis);
    let low = (-start).max(0) as usize;
    let lanes = arrays[0].size() / n as usize;
    let mut power = Partial {
        size: 1,
        first: low,
        arrays: Tensors::new(),
    };
    for x in arrays {
        let rows = turned(x.clone(), line.axis);
        let rows = rows.permute(&order).contiguous(context)?;
        power
            .arrays
            .push(rows.reshape(context, &[n as usize, lanes])?);
    }
    let starts = low + n as usize;
    let join = Join {
        context,
        region,
        captures,
        reversed,
        low,
        starts,
        lanes,
    };
    let partial = join.windows(power, line.size.min(starts))?;
    let from = (start + low as isize) as usize - partial.first;
    let mut counts: Dims = order.iter().map(|a| shape[*a]).collect();
    counts[0] = line.count;
    let mut back: Vec<usize> = (1..order.len()).collect();
    back.insert(line.axis, 0);
    let view = |x: &Tensor| {
        let rows = slice(
            x,
            &[from, 0],
            &[line.stride, 1],
            smallvec![line.count, lanes],
        );
        Ok(turned(rows, 0).reshape(context, &counts)?.permute(&back))
    };
    partial.arrays.iter().map(view).collect()
}
