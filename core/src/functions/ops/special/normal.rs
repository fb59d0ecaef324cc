//! The cumulative distribution function of the normal distribution, its logarithm and its
//! inverse.

use crate::dtypes::promote_types;
use crate::prim::elementwise::parts::require_real;
use crate::prim::elementwise::special::erfcinv::{FAR_TAIL, MIDDLE, NEAR_TAIL, polynomial, ratio};
use crate::{Array, DType, custom_jvp, jvp, where_};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

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
