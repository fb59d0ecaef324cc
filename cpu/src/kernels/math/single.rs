//! Functions of single precision, computed in double precision without branches, so that loops over them
//! become vector instructions. Errors before the last rounding are below 1e-10 of the result.

use std::f64::consts::{LN_2, LOG2_E};

/// Added to a small number, leaves it rounded to an integer in the low bits.
pub(super) const ROUND: f64 = 6_755_399_441_055_744.0;

/// Evaluates a polynomial, whose coefficients start with that of the highest power.
#[inline(always)]
pub(super) fn polynomial<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let mut sum = coefficients[0];
    let mut i = 1;
    while i < N {
        sum = sum.mul_add(x, coefficients[i]);
        i += 1;
    }
    sum
}

/// Returns `x` between two numbers, or NaN.
#[inline(always)]
pub(super) fn between(x: f64, low: f64, high: f64) -> f64 {
    let x = if x < low { low } else { x };
    if x > high { high } else { x }
}

/// Returns `2^n` and `exp(r) - 1` with `x = n log(2) + r` and `|r| <= log(2) / 2`, for `|x| < 700`.
#[inline(always)]
pub(super) fn reduced(x: f64) -> (f64, f64) {
    let shifted = x.mul_add(LOG2_E, ROUND);
    let n = shifted - ROUND;
    let scale = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    // The product of n and log(2) is off by less than 1e-14.
    let r = n.mul_add(-LN_2, x);
    let powers = polynomial(
        r,
        [
            1.0 / 362_880.0,
            1.0 / 40_320.0,
            1.0 / 5_040.0,
            1.0 / 720.0,
            1.0 / 120.0,
            1.0 / 24.0,
            1.0 / 6.0,
            0.5,
            1.0,
        ],
    );
    (scale, r * powers)
}

/// Returns `exp(x) - 1` for `|x| < 700`.
#[inline(always)]
fn expm1_wide(x: f64) -> f64 {
    let (scale, rest) = reduced(x);
    scale.mul_add(rest, scale - 1.0)
}

/// Returns `log(x)` for finite numbers above 0 that are not subnormal.
#[inline(always)]
pub(super) fn log_wide(x: f64) -> f64 {
    const ONE: u64 = 1023 << 52;
    let bits = x.to_bits();
    // The exponent of `x` divided by the square root of 1/2, so that `m` is between that root and its inverse.
    let biased = bits.wrapping_add(ONE - 0x3fe6_a09e_667f_3bcd) >> 52;
    let exponent =
        f64::from_bits(biased | 0x4330_0000_0000_0000) - (4_503_599_627_370_496.0 + 1023.0);
    let m = f64::from_bits(bits.wrapping_sub(biased << 52).wrapping_add(ONE));
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let series = polynomial(
        z,
        [
            1.0 / 15.0,
            1.0 / 13.0,
            1.0 / 11.0,
            1.0 / 9.0,
            1.0 / 7.0,
            1.0 / 5.0,
            1.0 / 3.0,
            1.0,
        ],
    );
    exponent.mul_add(LN_2, 2.0 * s * series)
}

/// Returns the exponential function.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let (scale, rest) = reduced(between(f64::from(x), -110.0, 90.0));
    scale.mul_add(rest, scale) as f32
}

/// Returns `exp(x) - 1`.
#[inline(always)]
pub fn expm1(x: f32) -> f32 {
    let y = expm1_wide(between(f64::from(x), -40.0, 90.0));
    (y as f32).copysign(x)
}

/// Returns the hyperbolic tangent.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let y = expm1_wide(2.0 * between(f64::from(x), -12.0, 12.0));
    ((y / (y + 2.0)) as f32).copysign(x)
}

/// Returns `1 / (1 + exp(-x))`.
#[inline(always)]
pub fn logistic(x: f32) -> f32 {
    let (scale, rest) = reduced(between(-f64::from(x), -110.0, 110.0));
    (1.0 / (1.0 + scale.mul_add(rest, scale))) as f32
}

/// Replaces the logarithm of a number that has none: 0, numbers below and infinity.
#[inline(always)]
fn checked(x: f32, log: f32) -> f32 {
    let log = if x > 0.0 { log } else { f32::NAN };
    let log = if x == 0.0 { f32::NEG_INFINITY } else { log };
    if x == f32::INFINITY { x } else { log }
}

/// Returns the natural logarithm.
#[inline(always)]
pub fn log(x: f32) -> f32 {
    checked(x, log_wide(f64::from(x)) as f32)
}

/// Returns `log(1 + x)`.
#[inline(always)]
pub fn log1p(x: f32) -> f32 {
    let wide = f64::from(x);
    let sum = 1.0 + wide;
    // What the sum lost.
    let rest = (wide - (sum - 1.0)) / sum;
    let log = ((log_wide(sum) + rest) as f32).copysign(x);
    checked(sum as f32, log)
}

/// Returns `1 / sqrt(x)`: a start in single precision, whose error one step of Newton's method squares.
#[inline(always)]
pub fn rsqrt(x: f32) -> f32 {
    let start = 1.0 / x.sqrt();
    let (wide, y) = (f64::from(x), f64::from(start));
    let step = (-0.5 * wide * y).mul_add(y, 1.5) * y;
    // The step is not a number for 0 and infinity, where the start is exact.
    if step.is_nan() { start } else { step as f32 }
}
