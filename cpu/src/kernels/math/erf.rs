//! Error functions of single precision, computed in double precision without branches. The polynomials equal
//! their functions at Chebyshev nodes; `cpu/tests/data/polynomials.py` prints them.

use super::single::{between, log_wide, reduced};

/// The smallest magnitude at which `erf` is 1, as in XLA. It rounds to one unit below 1 from there to 3.92, where
/// quantiles of truncated normal numbers would be too coarse.
const ERF_IS_ONE: f32 = 3.832_507;

/// `erf(x) / x` over `x² / 8 - 1` for `|x| <= 4`, with a relative error below 2e-11.
const ERF: [f64; 21] = [
    1.2874054698224224e-05,
    -3.668360645354812e-05,
    3.2979383818983124e-05,
    -7.246152144638048e-05,
    0.0002951384370466126,
    -0.0006727975797938545,
    0.001277072805758373,
    -0.0025306721064139617,
    0.004861257452313889,
    -0.008629832983801853,
    0.014347216896437105,
    -0.022466263707243098,
    0.03306107366347555,
    -0.045766463466210563,
    0.059886860225133925,
    -0.07472772837517466,
    0.0902089961907006,
    -0.1077104489095233,
    0.13167511686631903,
    -0.1765762332142376,
    0.35353099564340495,
];

/// `exp(x²) erfc(x)` over `(22 t + 5) / 17` with `t = (x - 3) / (x + 3)` for `0 <= x <= 10.2`, with a relative
/// error below 4.1e-12.
const ERFC: [f64; 15] = [
    1.9976332709197638e-08,
    -4.4512557044373486e-08,
    -3.520906965171609e-07,
    6.498441215552554e-07,
    4.967211490076419e-06,
    -1.1159289438276937e-05,
    -6.704829473236395e-05,
    0.00029282790399496684,
    0.0004839907347061308,
    -0.00800317999805917,
    0.03646965789317913,
    -0.1055602100975657,
    0.22283397364489618,
    -0.35919357212385294,
    0.26780010265183174,
];

/// `y / x` for `x = erf(y)` over `w / 8 - 1` with `w = -log(1 - x²)` for `w <= 16`, with a relative error below
/// 4e-11.
const INVERSE: [f64; 25] = [
    -0.00029676513076022523,
    -6.180908075983121e-05,
    0.002480604170175118,
    -0.0007845581575510103,
    -0.00768268853765486,
    0.005526355245665294,
    0.009795339343244792,
    -0.01106838422844066,
    -0.0021650350762046143,
    0.004495918623603946,
    4.4915860610937264e-05,
    0.005059632827210268,
    -0.013089634782043176,
    0.012428828625802878,
    -0.0025389268434389267,
    -0.0139468246436607,
    0.032895459439829335,
    -0.04565473931051085,
    0.04215101001674103,
    -0.015800842867028566,
    -0.03647964609950452,
    0.1257266110789223,
    -0.32354791249908793,
    1.4108582478431215,
    2.661438641581112,
];

/// Evaluates a long polynomial, whose coefficients start with that of the highest power, in two sums of every other
/// power. A processor waits half as long for them as for one sum.
#[inline(always)]
fn long_polynomial<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let square = x * x;
    let (mut last, mut other) = (coefficients[0], 0.0f64);
    let mut i = 1;
    while i < N {
        (last, other) = (other.mul_add(square, coefficients[i]), last);
        i += 1;
    }
    other.mul_add(x, last)
}

/// Returns the error function: at most 1, and 1 from 3.8325 on.
#[inline(always)]
pub fn erf(x: f32) -> f32 {
    let wide = f64::from(x);
    let y = (wide * long_polynomial((wide * wide).mul_add(0.125, -1.0), ERF)) as f32;
    if x.abs() >= ERF_IS_ONE {
        1f32.copysign(x)
    } else {
        y
    }
}

/// Returns `1 - erf(x)`.
#[inline(always)]
pub fn erfc(x: f32) -> f32 {
    let x = f64::from(x);
    // Beyond 10.2, the result is 0 in single precision.
    let magnitude = between(x.abs(), 0.0, 10.2);
    // (22 t + 5) / 17 with one division.
    let u = 27.0 / 17.0 - (132.0 / 17.0) / (magnitude + 3.0);
    let (scale, rest) = reduced(-magnitude * magnitude);
    let y = scale.mul_add(rest, scale) * long_polynomial(u, ERFC);
    (if x < 0.0 { 2.0 - y } else { y }) as f32
}

/// Returns the inverse of the error function.
#[inline(always)]
pub fn inverse(x: f32) -> f32 {
    let wide = f64::from(x);
    // The factors are exact where their product is small. Singularities of `y / x` as a function of this logarithm
    // are at least 2π away, so one polynomial serves the center and the tails.
    let w = -log_wide((1.0 - wide) * (1.0 + wide));
    let y = (wide * long_polynomial(w.mul_add(0.125, -1.0), INVERSE)) as f32;
    let y = if x.abs() < 1.0 { y } else { f32::NAN };
    if x.abs() == 1.0 {
        f32::INFINITY.copysign(x)
    } else {
        y
    }
}
