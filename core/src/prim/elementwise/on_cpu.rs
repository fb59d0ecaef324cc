//! `erf`, `expm1` and `log1p` of `f32` on CPUs.
//!
//! XLA's CPU backend computes `expm1` from an exponential and a hyperbolic tangent, and `log1p`
//! with code that is not vectorized: they take two and twelve times as long as `exp` and `log`
//! (`docs/performance.md`). The versions in this module are vectorized, and accurate to 2 ulp.

use crate::program::lower::{Lowering, Value};
use crate::{Array, DType, where_};

/// The smallest magnitude at which `erf` of `f32` rounds to 1.
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

/// Lowers `expm1`.
pub(super) fn lowered_expm1(ctx: &mut Lowering<'_>, x: Value) -> Value {
    by_form(ctx, ["expm1", "exponential_minus_one"], x, expm1)
}

/// Lowers `log1p`.
pub(super) fn lowered_log1p(ctx: &mut Lowering<'_>, x: Value) -> Value {
    by_form(ctx, ["log1p", "log_plus_one"], x, log1p)
}

/// Emits the operator with the JAX name `label` and the StableHLO name `name`, or `form` for
/// `f32` on CPUs.
fn by_form(
    ctx: &mut Lowering<'_>,
    [label, name]: [&str; 2],
    x: Value,
    form: fn(&Array) -> Array,
) -> Value {
    if x.dtype() != DType::F32 || !ctx.is_for_xla_cpu() {
        return ctx.same(name, &[x]);
    }
    ctx.traced(label, &[x], |args| vec![form(&args[0])])[0]
}

/// Evaluates the polynomial `coefficients[0] + coefficients[1]·x + …`.
fn polynomial(x: &Array, coefficients: &[f64]) -> Array {
    let (last, others) = coefficients.split_last().expect("a coefficient");
    let start = x.full_like(*last);
    others.iter().rev().fold(start, |sum, &c| sum * x + c)
}

/// Computes `2ⁿ·(eʳ - 1) + (2ⁿ - 1)`, where `x = n·ln 2 + r` and `|r| ≤ ln 2 / 2`.
fn expm1(x: &Array) -> Array {
    // The upper part of ln 2 has few enough bits that its products with n are exact.
    const LN_2: [f64; 2] = [0.693_145_751_953_125, 1.428_606_765_330_187e-6];
    // The result is -1 below this range, and infinite above.
    let inside = x.maximum(-30.0).minimum(89.0);
    let n = (&inside * std::f64::consts::LOG2_E + 0.5).floor();
    let r = inside - &n * LN_2[0] - &n * LN_2[1];
    let series = [
        1.0 / 2.0,
        1.0 / 6.0,
        1.0 / 24.0,
        1.0 / 120.0,
        1.0 / 720.0,
        1.0 / 5040.0,
    ];
    let grown = &r + &r * &r * polynomial(&r, &series);
    // 2ⁿ⁻¹, since 2¹²⁸ is not representable: shifts the exponent into place.
    let bits = (n.astype(DType::I32) + 126).left_shift(23);
    let half = bits.bitcast_convert_type(DType::F32);
    let y = (&half * grown + (&half - 0.5)) * 2.0;
    // Preserves the sign of zero, and prevents halves of the smallest numbers from becoming zero.
    where_(x.abs().lt(1e-8), x, y)
}

/// Computes `log(1 + x) = 2·artanh(s)` with `s = x / (2 + x)` near zero, written so that `x`
/// itself is the largest term; elsewhere rounding `1 + x` is accurate enough.
fn log1p(x: &Array) -> Array {
    let s = x / &(x + 2.0);
    let square = s.square();
    let series = [3.0, 5.0, 7.0, 9.0, 11.0].map(|odd| 2.0 / odd);
    let rest = &square * polynomial(&square, &series);
    let half = x.square() * 0.5;
    let near = x - &(&half - s * (&half + rest));
    let is_near = x.gt(-0.4).logical_and(x.lt(0.6));
    where_(&is_near, near, (x + 1.0).log())
}
