//! Modified Bessel functions, by the Chebyshev expansions of Cephes.

use crate::{Array, DType, where_};

/// Coefficients of `e⁻ˣ I₀(x)` up to 8; `f32` needs the last 18.
const NEAR: [f64; 30] = [
    -4.4153416464793395e-18,
    3.3307945188222384e-17,
    -2.431279846547955e-16,
    1.715391285555133e-15,
    -1.1685332877993451e-14,
    7.676185498604936e-14,
    -4.856446783111929e-13,
    2.95505266312964e-12,
    -1.726826291441556e-11,
    9.675809035373237e-11,
    -5.189795601635263e-10,
    2.6598237246823866e-09,
    -1.300025009986248e-08,
    6.046995022541919e-08,
    -2.670793853940612e-07,
    1.1173875391201037e-06,
    -4.4167383584587505e-06,
    1.6448448070728896e-05,
    -5.754195010082104e-05,
    0.00018850288509584165,
    -0.0005763755745385824,
    0.0016394756169413357,
    -0.004324309995050576,
    0.010546460394594998,
    -0.02373741480589947,
    0.04930528423967071,
    -0.09490109704804764,
    0.17162090152220877,
    -0.3046826723431984,
    0.6767952744094761,
];

/// Coefficients of `e⁻ˣ √x I₀(x)` from 8 on; `f32` needs the last 7.
const FAR: [f64; 25] = [
    -7.233180487874754e-18,
    -4.830504485944182e-18,
    4.46562142029676e-17,
    3.461222867697461e-17,
    -2.8276239805165836e-16,
    -3.425485619677219e-16,
    1.7725601330565263e-15,
    3.8116806693526224e-15,
    -9.554846698828307e-15,
    -4.150569347287222e-14,
    1.54008621752141e-14,
    3.8527783827421426e-13,
    7.180124451383666e-13,
    -1.7941785315068062e-12,
    -1.3215811840447713e-11,
    -3.1499165279632416e-11,
    1.1889147107846439e-11,
    4.94060238822497e-10,
    3.3962320257083865e-09,
    2.266668990498178e-08,
    2.0489185894690638e-07,
    2.8913705208347567e-06,
    6.889758346916825e-05,
    0.0033691164782556943,
    0.8044904110141088,
];

/// Evaluates a Chebyshev series with these coefficients, the last one first, by Clenshaw's
/// recurrence.
fn chebyshev(x: &Array, coefficients: &[f64]) -> Array {
    let zero = x.zeros_like();
    let (mut last, mut before, mut two_before) = (zero.clone(), zero.clone(), zero);
    for &c in coefficients {
        two_before = before;
        before = last;
        last = x * &before - &two_before + c;
    }
    (last - two_before) * 0.5
}

/// Computes `e^-|x| I₀(x)`.
pub(super) fn i0e(operands: &[Array]) -> Array {
    let x = operands[0].abs();
    let (near, far): (&[f64], &[f64]) = match x.dtype() {
        DType::F64 => (&NEAR, &FAR),
        _ => (&NEAR[12..], &FAR[18..]),
    };
    let below = chebyshev(&(&x * 0.5 - 2.0), near);
    let above = chebyshev(&(32.0 / &x - 2.0), far) / x.sqrt();
    where_(x.le(8.0), below, above)
}

/// Computes the derivative of `value = e^-|x| I₁(x)`. The general formula is not usable near 0.
pub(super) fn i1e_slope(x: &Array, value: &Array) -> Array {
    let epsilon = super::epsilon(x.dtype());
    let away = x.abs().gt(epsilon);
    let safe = where_(&away, x, x.full_like(epsilon));
    let slope = safe.bessel_i0e() - value * (safe.sign() + 1.0 / &safe);
    where_(&away, slope, x.full_like(0.5))
}
