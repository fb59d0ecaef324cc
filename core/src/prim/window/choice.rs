//! The selected element of each window, computed with operations on whole arrays.
//!
//! XLA's CPU backend processes windows one by one, in a loop that uses neither several threads
//! nor vector instructions: the gradient of pooling then takes half of a small convolutional
//! network's step. Instead, the elements at one offset in all windows form a slice, slices are
//! compared one after the other, and for every element of the array the windows that contain it
//! are checked for whether they selected it (`docs/performance.md` has measurements).

use super::{Select, SlidingWindow};
use crate::prim::Primitive;
use crate::prim::shape::Pad;
use crate::program::lower::{Lowering, Value};
use crate::{Aval, DType, Dims, Scalar};

/// Maximum number of elements of a window for this method. The program contains one comparison
/// for each, and one sum for each window that contains an element.
const MOST_ELEMENTS: usize = 32;

/// Returns all offsets in a box of these sizes, the last axis fastest.
fn offsets(sizes: &[usize]) -> Vec<Dims> {
    let mut out = vec![Dims::new()];
    for &n in sizes {
        let with = |offset: &Dims| {
            let offset = offset.clone();
            (0..n).map(move |i| offset.iter().copied().chain([i]).collect())
        };
        out = out.iter().flat_map(with).collect();
    }
    out
}

/// Emits a slice of `value`: `sizes` elements from `start` on, with `strides`.
fn slice(
    ctx: &mut Lowering<'_>,
    value: Value,
    start: &[usize],
    strides: &[usize],
    sizes: &[usize],
) -> Value {
    if value.shape() == sizes {
        return value;
    }
    let axes = start.iter().zip(strides).zip(sizes);
    let limits: Dims = axes.map(|((&at, t), n)| at + t * (n - 1) + 1).collect();
    ctx.slice(value, start, &limits, strides)
}

/// Pads `value` with `filling` around each axis; negative numbers remove elements.
pub(super) fn pad(
    ctx: &mut Lowering<'_>,
    value: Value,
    filling: impl Into<Scalar>,
    around: &[(isize, isize)],
) -> Value {
    if around.iter().all(|&p| p == (0, 0)) {
        return value;
    }
    let sizes = value.shape().iter().zip(around);
    let sizes: Dims = sizes
        .map(|(&n, (low, high))| (n as isize + low + high) as usize)
        .collect();
    let pad = Pad {
        padding_config: around.iter().map(|p| (p.0, p.1, 0)).collect(),
    };
    let filling = ctx.scalar(filling, value.dtype());
    let to = value.aval().with_shape(&sizes);
    pad.lower(ctx, &[value, filling], &[to])[0]
}

impl SlidingWindow {
    /// Returns whether this window is lowered with whole arrays: on CPUs, for windows with few
    /// elements.
    pub(super) fn by_arrays(&self, ctx: &Lowering<'_>) -> bool {
        let elements = crate::types::aval::element_count(&self.dimensions);
        ctx.is_for_one_cpu() && self.is_plain() && elements <= MOST_ELEMENTS
    }

    /// Returns the maximum number of windows that contain an element, along each axis.
    fn overlaps(&self) -> Dims {
        let axes = self.dimensions.iter().zip(&self.strides);
        axes.map(|(&w, &t)| w.div_ceil(t)).collect()
    }

    /// Returns the number of the window's element at `offset`. All offsets that `overlaps`
    /// windows reach have different numbers, inside the window or not.
    fn number(&self, offset: &[usize]) -> i64 {
        let axes = self.overlaps().into_iter().zip(&self.strides).zip(offset);
        axes.fold(0, |number, ((r, t), at)| {
            number * (r * t) as i64 + *at as i64
        })
    }

    /// Emits the numbers of the selected elements of all windows over an array that is already
    /// padded.
    fn chosen(
        &self,
        ctx: &mut Lowering<'_>,
        select: Select,
        operand: Value,
        windows: &[usize],
    ) -> Value {
        let numbers = Aval::new(windows, DType::I32);
        let mut best: Option<(Value, Value)> = None;
        for offset in offsets(&self.dimensions) {
            let here = slice(ctx, operand, &offset, &self.strides, windows);
            let number = ctx.splat(self.number(&offset), numbers);
            best = Some(match best {
                None => (here, number),
                Some((value, chosen)) => {
                    let stays = ctx.compare(select.direction(), [value, here]);
                    (
                        ctx.select(stays, value, here),
                        ctx.select(stays, chosen, number),
                    )
                }
            });
        }
        let (_, chosen) = best.expect("a window has elements");
        chosen
    }

    /// Emits, for each element of `operand`, which is already padded, the sum of `source` over
    /// the windows that selected it; removes `padding`.
    pub(super) fn scatter_by_arrays(
        &self,
        ctx: &mut Lowering<'_>,
        select: Select,
        operand: Value,
        source: Value,
        out: Aval,
    ) -> Value {
        let windows = source.shape();
        let chosen = self.chosen(ctx, select, operand, windows);
        let overlaps = self.overlaps();
        // Windows before the first and after the last one, which select nothing.
        let around = overlaps.iter().map(|&r| (r as isize - 1, r as isize - 1));
        let around: Vec<_> = around.collect();
        let chosen = pad(ctx, chosen, -1, &around);
        let source = pad(ctx, source, 0, &around);
        // An element is at `stride * q + o`; the axes of `o` follow those of `q`.
        let rows = windows.iter().zip(&overlaps).map(|(p, r)| p + r - 1);
        let rows: Dims = rows.collect();
        let both = rows.iter().zip(&self.strides);
        let split: Dims = both.flat_map(|(&q, &t)| [q, t]).collect();
        let of_rows: Dims = (0..split.len()).step_by(2).collect();
        let of_steps: Dims = (1..split.len()).step_by(2).collect();
        let steps = Aval::new(&self.strides, DType::I32);
        let zeros = ctx.splat(0, out.with_shape(&split));
        let inside = self.step_numbers(ctx, steps);
        let mut sum = None;
        // The first window first, in the order in which XLA's own operation sums.
        for back in offsets(&overlaps).into_iter().rev() {
            let start: Dims = overlaps.iter().zip(&back).map(|(r, j)| r - 1 - j).collect();
            let ones = Dims::from_elem(1, start.len());
            let asked = slice(ctx, chosen, &start, &ones, &rows);
            let value = slice(ctx, source, &start, &ones, &rows);
            let first: Dims = back.iter().zip(&self.strides).map(|(j, t)| j * t).collect();
            let first = ctx.splat(self.number(&first), steps);
            let own = ctx.same("add", &[inside, first]);
            let own = ctx.broadcast_in_dim(own, &split, &of_steps);
            let asked = ctx.broadcast_in_dim(asked, &split, &of_rows);
            let value = ctx.broadcast_in_dim(value, &split, &of_rows);
            let is_chosen = ctx.compare("EQ", [asked, own]);
            let part = ctx.select(is_chosen, value, zeros);
            sum = Some(match sum {
                None => part,
                Some(sum) => ctx.same("add", &[sum, part]),
            });
        }
        let sum = sum.expect("an element is in some window");
        let joined: Dims = rows.iter().zip(&self.strides).map(|(q, t)| q * t).collect();
        let sum = match split == joined {
            true => sum,
            false => ctx.reshape(sum, &joined),
        };
        let axes = self.padding.iter().zip(out.shape()).zip(&joined);
        let rest: Vec<_> = axes
            .map(|((&(low, _), &n), &have)| (-low, n as isize + low - have as isize))
            .collect();
        pad(ctx, sum, 0, &rest)
    }

    /// Emits the numbers of the elements at the steps between two windows.
    fn step_numbers(&self, ctx: &mut Lowering<'_>, steps: Aval) -> Value {
        let mut sum = ctx.splat(0, steps);
        for (d, &t) in self.strides.iter().enumerate() {
            if t == 1 {
                continue;
            }
            let mut one = Dims::from_elem(0, self.strides.len());
            one[d] = 1;
            let along = ctx.iota(steps, d);
            let weight = ctx.splat(self.number(&one), steps);
            let along = ctx.same("multiply", &[along, weight]);
            sum = ctx.same("add", &[sum, along]);
        }
        sum
    }
}
