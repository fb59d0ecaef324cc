//! The inverse of the complementary error function, by the approximations of Cephes' `ndtri`:
//! `erfcinv(x)` is `-ndtri(x / 2) / √2`. `Array::ndtri` uses the same coefficients.

use crate::{Array, where_};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Coefficients of rational approximations for the middle and for two parts of the tail (Moshier,
/// *Cephes Mathematical Library*, `ndtri.c`): numerators and denominators, highest power first.
pub(crate) const MIDDLE: [&[f64]; 2] = [
    &[
        -59.96335010141079,
        98.00107541859997,
        -56.67628574690703,
        13.931260938727968,
        -1.2391658386738125,
    ],
    &[
        1.0,
        1.9544885833814176,
        4.676279128988815,
        86.36024213908905,
        -225.46268785411937,
        200.26021238006066,
        -82.03722561683334,
        15.90562251262117,
        -1.1833162112133,
    ],
];
pub(crate) const NEAR_TAIL: [&[f64]; 2] = [
    &[
        4.0554489230596245,
        31.525109459989388,
        57.16281922464213,
        44.08050738932008,
        14.684956192885803,
        2.1866330685079025,
        -0.1402560791713545,
        -0.03504246268278482,
        -0.0008574567851546854,
    ],
    &[
        1.0,
        15.779988325646675,
        45.39076351288792,
        41.3172038254672,
        15.04253856929075,
        2.504649462083094,
        -0.14218292285478779,
        -0.03808064076915783,
        -0.0009332594808954574,
    ],
];
pub(crate) const FAR_TAIL: [&[f64]; 2] = [
    &[
        3.2377489177694603,
        6.915228890689842,
        3.9388102529247444,
        1.3330346081580755,
        0.20148538954917908,
        0.012371663481782003,
        0.00030158155350823543,
        2.6580697468673755e-6,
        6.239745391849833e-9,
    ],
    &[
        1.0,
        6.02427039364742,
        3.6798356385616087,
        1.3770209948908132,
        0.21623699359449663,
        0.013420400608854318,
        0.00032801446468212774,
        2.8924786474538068e-6,
        6.790194080099813e-9,
    ],
];

/// Evaluates a polynomial with constant coefficients, highest power first.
#[track_caller]
pub(crate) fn polynomial(x: &Array, coefficients: &[f64]) -> Array {
    let terms = coefficients.iter();
    terms.fold(x.zeros_like(), |value, &c| value * x + c)
}

/// Evaluates a rational approximation.
#[track_caller]
pub(crate) fn ratio(x: &Array, [above, below]: [&[f64]; 2]) -> Array {
    polynomial(x, above) / polynomial(x, below)
}

/// Computes `erfcinv(x)`.
pub(super) fn erfcinv(operands: &[Array]) -> Array {
    let x = &operands[0];
    // By symmetry only numbers up to 1 are needed. The difference is exact.
    let mirrored = x.gt(1.0);
    let low = where_(&mirrored, 2.0 - x, x);
    let w = (&low - 1.0) * 0.5;
    let square = w.square();
    let middle = (&w + &w * &square * ratio(&square, MIDDLE)) * -PI.sqrt();
    // Half of a subnormal number may be 0.
    let z = (low.log() * -2.0 + 4.0f64.ln()).sqrt();
    let inverse = 1.0 / &z;
    let first = &z - z.log() / &z;
    let correction = where_(
        z.ge(8.0),
        ratio(&inverse, FAR_TAIL),
        ratio(&inverse, NEAR_TAIL),
    );
    let tail = (first - correction / &z) * FRAC_1_SQRT_2;
    let value = where_(low.gt(2.0 * (-2.0f64).exp()), middle, tail);
    let value = where_(low.eq(0.0), f64::INFINITY, value);
    where_(mirrored, -&value, value)
}
