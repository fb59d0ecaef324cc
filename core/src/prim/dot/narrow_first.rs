//! Products over the first axes of two matrices, such as the gradient of a layer's weights, on CPUs.
//!
//! XLA's CPU backend computes `[n, a]` by `[n, b]` over `n` up to twice as fast if `a` is the smaller
//! one (`docs/performance.md` has measurements). The product is therefore emitted in that order and
//! transposed. A barrier prevents XLA from merging the transpose into the product again.

use super::{DotDimensionNumbers, Precision, collapse};
use crate::program::lower::{Lowering, Value};
use crate::{Aval, DType};

/// Minimum number of multiplications.
const LARGE: usize = 1 << 22;

/// Minimum ratio of the sizes of the free axes.
const RATIO: usize = 2;

/// Returns whether a product is of this kind, with free axes of different sizes.
pub(super) fn applies(ctx: &Lowering<'_>, [lhs, rhs]: [Value; 2], n: &DotDimensionNumbers) -> bool {
    let both_first = n.lhs_contracting.as_slice() == [0] && n.rhs_contracting.as_slice() == [0];
    if !both_first || lhs.ndim() != 2 || rhs.ndim() != 2 || lhs.dtype() != DType::F32 {
        return false;
    }
    let (a, b) = (lhs.shape()[1], rhs.shape()[1]);
    let multiplications = lhs.aval().size().saturating_mul(b);
    a.max(b) >= RATIO * a.min(b) && multiplications >= LARGE && ctx.is_for_one_xla_cpu()
}

/// Emits the product.
pub(super) fn product(
    ctx: &mut Lowering<'_>,
    [lhs, rhs]: [Value; 2],
    numbers: &DotDimensionNumbers,
    precision: Precision,
    out: Aval,
) -> Value {
    let is_swapped = lhs.shape()[1] > rhs.shape()[1];
    let (sides, precision) = match is_swapped {
        true => ([rhs, lhs], precision.swapped()),
        false => ([lhs, rhs], precision),
    };
    let product = collapse::emit(ctx, sides, numbers, precision, out);
    let kept = ctx.barrier(&[product])[0];
    match is_swapped {
        true => ctx.transpose(kept, &[1, 0]),
        false => kept,
    }
}
