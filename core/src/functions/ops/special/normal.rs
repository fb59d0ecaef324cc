//! The cumulative distribution function of the normal distribution, its logarithm and its
//! inverse.

use super::polynomial;
use crate::dtypes::promote_types;
use crate::prim::elementwise::parts::require_real;
use crate::{Array, DType, custom_jvp, jvp, where_};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Coefficients of the inverse for the middle and for two parts of the tail (Cephes, `ndtri`):
/// numerators and denominators, highest power first.
const MIDDLE: [&[f64]; 2] = [
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
const NEAR_TAIL: [&[f64]; 2] = [
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
const FAR_TAIL: [&[f64]; 2] = [
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

/// Coefficients of the asymptotic series of `√(2π) |x| exp(x²/2) Φ(x)` in `1/x²`: `1 - 1/x² + 3/x⁴ -
/// 15/x⁶ …`, highest power first.
const ASYMPTOTIC: [f64; 8] = [-135135.0, 10395.0, -945.0, 105.0, -15.0, 3.0, -1.0, 1.0];

/// Returns a dtype with at least 32 bits.
pub(super) fn at_least_f32(dtype: DType) -> DType {
    promote_types(dtype, DType::F32)
}

impl Array {
    /// Computes the cumulative distribution function of the standard normal distribution, the
    /// probability of a value of at most `x`.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn ndtr(&self) -> Array {
        require_real("ndtr", &[self]);
        let x = self.to_inexact() * FRAC_1_SQRT_2;
        let z = x.abs();
        // Each piece is accurate where its value is small.
        let tail = z.erfc();
        let outer = where_(x.gt(0), 2.0 - &tail, &tail);
        where_(z.lt(FRAC_1_SQRT_2), x.erf() + 1.0, outer) * 0.5
    }

    /// Computes the logarithm of [`ndtr`](Array::ndtr), accurately for very negative numbers.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn log_ndtr(&self) -> Array {
        require_real("log_ndtr", &[self]);
        let x = self.to_inexact();
        let wide = x.astype(at_least_f32(x.dtype()));
        log_distribution(&wide).astype(x.dtype())
    }

    /// Computes the inverse of [`ndtr`](Array::ndtr), the quantile function of the standard
    /// normal distribution at probability `p`.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn ndtri(&self) -> Array {
        require_real("ndtri", &[self]);
        let p = self.to_inexact();
        let wide = p.astype(at_least_f32(p.dtype()));
        quantile(wide).astype(p.dtype())
    }
}

#[track_caller]
fn log_distribution(x: &Array) -> Array {
    custom_jvp(
        |x: Array| {
            let (lower, upper) = if x.dtype() == DType::F64 {
                (-20.0, 8.0)
            } else {
                (-10.0, 5.0)
            };
            let high = x.gt(upper);
            let value = where_(&high, -&x, x.maximum(lower)).ndtr();
            let low = x.minimum(lower);
            let square = low.square();
            let scale = &square * -0.5 - (-&low).log() - 0.5 * (2.0 * PI).ln();
            let series = polynomial(&square.reciprocal(), &ASYMPTOTIC);
            let below = scale + series.log();
            where_(&high, -&value, where_(x.gt(lower), value.log(), below))
        },
        |x: Array, dx: Array| {
            let value = log_distribution(&x);
            let density = x.square() * -0.5 - (2.0 * PI).sqrt().ln();
            let slope = (density - &value).exp();
            (value, dx * slope)
        },
    )(x.clone())
}

/// Computes the inverse with infinite derivatives at the ends.
#[track_caller]
fn quantile(p: Array) -> Array {
    custom_jvp(
        |p: Array| inverse(&p),
        |p: Array, dp: Array| {
            let end = p.eq(0).bitwise_or(p.eq(1));
            let (_, slope) = jvp(|p: Array| inverse(&p), where_(&end, 0.5, &p), p.ones_like());
            (quantile(p), dp * where_(&end, f64::INFINITY, slope))
        },
    )(p)
}

#[track_caller]
fn inverse(p: &Array) -> Array {
    let turn = (-2.0f64).exp();
    let ratio =
        |x: &Array, [above, below]: [&[f64]; 2]| polynomial(x, above) / polynomial(x, below);
    // By symmetry only probabilities up to 1 - e⁻² are needed.
    let mirrored = p.gt(-(-2.0f64).exp_m1());
    let p_low = where_(&mirrored, 1.0 - p, p);
    let safe = where_(p_low.eq(0), 0.5, &p_low);
    let w = &safe - 0.5;
    let square = w.square();
    let middle = (&w + &w * &square * ratio(&square, MIDDLE)) * -(2.0 * PI).sqrt();
    let z = (safe.log() * -2.0).sqrt();
    let inverse = 1.0 / &z;
    let first = &z - z.log() / &z;
    let far = &first - ratio(&inverse, FAR_TAIL) / &z;
    let near = &first - ratio(&inverse, NEAR_TAIL) / &z;
    let tail = where_(z.ge(8.0), far, near);
    let x = where_(safe.gt(turn), middle, tail);
    let x = where_(p.gt(1.0 - turn), &x, -&x);
    let x = where_(p.eq(1), f64::INFINITY, x);
    where_(p.eq(0), f64::NEG_INFINITY, x)
}
