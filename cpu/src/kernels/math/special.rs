//! Error functions and Bessel functions.

use std::f64::consts::PI;

/// Returns the inverse of the error function: a rational start (S. Winitzki) and Halley's iteration.
pub fn erf_inv(x: f64) -> f64 {
    let magnitude = x.abs();
    if magnitude.is_nan() || magnitude > 1.0 {
        return f64::NAN;
    }
    if magnitude == 1.0 {
        return f64::INFINITY.copysign(x);
    }
    if magnitude < 1e-8 {
        return x * PI.sqrt() / 2.0;
    }
    let a = 0.147;
    // 1 - x is exact for x above a half, where the complement matters.
    let complement = 1.0 - magnitude;
    let log = (complement * (1.0 + magnitude)).ln();
    let t = 2.0 / (PI * a) + log / 2.0;
    let mut y = ((t * t - log / a).sqrt() - t).sqrt();
    for _ in 0..3 {
        let error = if magnitude > 0.5 {
            complement - libm::erfc(y)
        } else {
            libm::erf(y) - magnitude
        };
        let slope = 2.0 / PI.sqrt() * (-y * y).exp();
        let newton = error / slope;
        y -= newton / (1.0 + y * newton);
    }
    y.copysign(x)
}

/// Returns `exp(-|x|) I₁(x)`: its power series, or its asymptotic series for large numbers.
pub fn bessel_i1e(x: f64) -> f64 {
    bessel_ie(x, 1)
}

fn bessel_ie(x: f64, order: u32) -> f64 {
    let z = x.abs();
    let value = if z <= 30.0 {
        let quarter = z * z / 4.0;
        let mut term = if order == 1 { z / 2.0 } else { 1.0 };
        let mut sum = term;
        let mut k = 1.0;
        while term > sum * 1e-17 && k < 200.0 {
            term *= quarter / (k * (k + f64::from(order)));
            sum += term;
            k += 1.0;
        }
        sum * (-z).exp()
    } else {
        let mu = 4.0 * f64::from(order * order);
        let (mut term, mut sum, mut k) = (1.0f64, 1.0f64, 1.0f64);
        while k < 30.0 && term.abs() > 1e-17 {
            let odd = 2.0 * k - 1.0;
            term *= -(mu - odd * odd) / (8.0 * z * k);
            sum += term;
            k += 1.0;
        }
        sum / (2.0 * PI * z).sqrt()
    };
    if order == 1 { value.copysign(x) } else { value }
}
