//! `erf` on CPUs.

use crate::DType;
use crate::program::lower::{Lowering, Value};

/// The smallest magnitude at which `erf` of `f32` is 1 on CPUs: there it is one unit below 1. Truncated
/// normal numbers rely on this, because units just below 1 are too coarse for their quantiles.
const ERF_IS_ONE: f64 = 3.832_506_856_900_711;

/// Emits `erf`, clamped to at most 1. XLA's approximation exceeds 1 by one unit below
/// [`ERF_IS_ONE`], and older plugins return `1 - 1.8e-7` from there on.
pub(super) fn erf(ctx: &mut Lowering<'_>, x: Value) -> Value {
    let y = ctx.chlo("erf", &[x]);
    if x.dtype() != DType::F32 || !ctx.is_for_cpu() {
        return y;
    }
    let [low, high, limit] = [-1.0, 1.0, ERF_IS_ONE].map(|value| ctx.splat(value, x.aval()));
    let inside = ctx.op1("clamp", &[low, y, high], x.aval(), "");
    let size = ctx.same("abs", &[x]);
    let small = ctx.compare("LT", [size, limit]);
    let sign = ctx.same("sign", &[x]);
    ctx.select(small, inside, sign)
}
