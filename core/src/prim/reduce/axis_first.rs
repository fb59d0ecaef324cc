//! Sums over several axes of large arrays on CPUs, one axis first.
//!
//! XLA's CPU backend adds up the elements of several axes in one loop nest for
//! each element that is kept, jumping from row to row. With one axis summed
//! first, as a window that is as long as the axis, neighbouring elements are
//! added side by side, and little is left for the other axes
//! (`docs/performance.md` has the numbers).
//!
//! The shape must not change for this, as it would by a `reshape` to longer
//! rows: the compiler merges a reshape with what makes the array, once for each
//! of several sums over it, and makes it again for each.

use crate::lower::{Lowering, Value};
use crate::prim::conv::Pads;
use crate::prim::window::SlidingWindow;
use crate::{Aval, DType, Dims, Scalar};

/// From so many elements on.
const LARGE: usize = 1 << 15;

/// The axes that are summed first have at least and at most so many elements.
const FIRST: std::ops::RangeInclusive<usize> = 4..=128;

/// The axis that is summed first: the longest but the outermost, over which the
/// work is divided among threads. None if the sum is over one axis, or if the
/// last axis, whose elements are neighbours, goes too.
fn first(operand: Aval, axes: &[usize]) -> Option<usize> {
    let last_stays = axes.last() != Some(&(operand.ndim().checked_sub(1)?));
    if axes.len() < 2 || !last_stays || operand.size() < LARGE {
        return None;
    }
    let axes = axes[1..].iter().copied();
    axes.filter(|&d| FIRST.contains(&operand.shape()[d]))
        .max_by_key(|&d| operand.shape()[d])
}

/// `operand` with one of the summed axes summed already, and of one element.
pub(super) fn summed_first(
    ctx: &mut Lowering<'_>,
    operand: Value,
    from: Aval,
    axes: &[usize],
) -> Option<(Value, Aval)> {
    if !ctx.is_for_one_cpu() || !matches!(from.dtype(), DType::F32 | DType::F64) {
        return None;
    }
    let axis = first(from, axes)?;
    let mut dimensions = Dims::from_elem(1, from.ndim());
    dimensions[axis] = from.shape()[axis];
    let mut shape: Dims = from.shape().into();
    shape[axis] = 1;
    let to = from.with_shape(&shape);
    let padding = Pads::from_elem((0, 0), from.ndim());
    let window = SlidingWindow::plain(dimensions.clone(), dimensions, padding);
    let zero = ctx.scalar(Scalar::Int(0), from.dtype());
    let region = ctx.reducer("add", from.dtype());
    let types = [from, Aval::scalar(from.dtype())];
    let attributes = window.attributes();
    let summed = ctx.op(
        "reduce_window",
        &[operand, zero],
        &types,
        &[to],
        &attributes,
        &[region],
    );
    Some((summed[0], to))
}
