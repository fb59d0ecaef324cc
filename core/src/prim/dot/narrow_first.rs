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
pub(super) fn applies(ctx: &Lowering<'_>, [lhs, rhs]: [Aval; 2], n: &DotDimensionNumbers) -> bool {
    let both_first = n.lhs_contracting.as_slice() == [0] && n.rhs_contracting.as_slice() == [0];
    if !both_first || lhs.ndim() != 2 || rhs.ndim() != 2 || lhs.dtype() != DType::F32 {
        return false;
    }
    let (a, b) = (lhs.shape()[1], rhs.shape()[1]);
    let multiplications = lhs.size().saturating_mul(b);
    a.max(b) >= RATIO * a.min(b) && multiplications >= LARGE && ctx.is_for_one_cpu()
}

/// Emits the product.
pub(super) fn product(
    ctx: &mut Lowering<'_>,
    [lhs, rhs]: [(Value, Aval); 2],
    numbers: &DotDimensionNumbers,
    precision: Precision,
    out: Aval,
) -> Value {
    let (a, b) = (lhs.1.shape()[1], rhs.1.shape()[1]);
    let is_swapped = a > b;
    let (sides, shape, precision) = match is_swapped {
        true => ([rhs, lhs], [b, a], precision.swapped()),
        false => ([lhs, rhs], [a, b], precision),
    };
    let aval = out.with_shape(&shape);
    let product = collapse::emit(ctx, sides, numbers, precision, out);
    let kept = ctx.op1("optimization_barrier", &[product], &[aval], aval, "");
    match is_swapped {
        true => ctx.op1(
            "transpose",
            &[kept],
            &[aval],
            out.with_shape(&[a, b]),
            "permutation = array<i64: 1, 0>",
        ),
        false => kept,
    }
}
