//! Sums over several axes of large arrays on CPUs, with one axis first.
//!
//! XLA's CPU backend sums the elements of several axes in one loop nest for each remaining
//! element, with strided accesses. If one axis is summed first, with a window as long as the
//! axis, adjacent elements are added together, and the sum over the other axes is small
//! (`docs/performance.md` has measurements).
//!
//! This must not change the shape, as a `reshape` to longer rows would: the compiler fuses a
//! reshape with the producer of the array, separately for each of several sums, and thus computes
//! the array again for each.

use crate::prim::conv::Pads;
use crate::prim::window::SlidingWindow;
use crate::program::lower::{Lowering, Value};
use crate::{Aval, DType, Dims, Scalar};

/// Minimum number of elements of the operand.
const LARGE: usize = 1 << 15;

/// Range of the size of the axis that is summed first.
const FIRST: std::ops::RangeInclusive<usize> = 4..=128;

/// Returns the axis that is summed first: the longest except the outermost, over which the work
/// is divided among threads. Returns `None` if the sum is over one axis, or if the contiguous
/// last axis is also summed.
fn first(operand: Aval, axes: &[usize]) -> Option<usize> {
    let last_stays = axes.last() != Some(&(operand.ndim().checked_sub(1)?));
    if axes.len() < 2 || !last_stays || operand.size() < LARGE {
        return None;
    }
    let axes = axes[1..].iter().copied();
    axes.filter(|&d| FIRST.contains(&operand.shape()[d]))
        .max_by_key(|&d| operand.shape()[d])
}

/// Sums `operand` over one of the axes and keeps that axis with size 1.
pub(super) fn summed_first(
    ctx: &mut Lowering<'_>,
    operand: Value,
    axes: &[usize],
) -> Option<Value> {
    let from = operand.aval();
    if !ctx.is_for_one_xla_cpu() || !matches!(from.dtype(), DType::F32 | DType::F64) {
        return None;
    }
    let axis = first(from, axes)?;
    let mut dimensions = Dims::from_elem(1, from.ndim());
    dimensions[axis] = from.shape()[axis];
    let mut shape: Dims = from.shape().into();
    shape[axis] = 1;
    let padding = Pads::from_elem((0, 0), from.ndim());
    let window = SlidingWindow::plain(dimensions.clone(), dimensions, padding);
    let zero = ctx.scalar(Scalar::Int(0), from.dtype());
    let region = ctx.reducer("add", from.dtype());
    let (args, to) = ([operand, zero], from.with_shape(&shape));
    let attributes = window.attributes();
    Some(ctx.op("reduce_window", &args, &[to], &attributes, &[region])[0])
}
