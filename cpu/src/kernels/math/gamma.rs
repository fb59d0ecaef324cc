//! The gamma function's logarithm and derivatives, and Hurwitz' zeta function.

use std::f64::consts::PI;

/// Bernoulli numbers `B₂, B₄, …`.
const BERNOULLI: [f64; 12] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
    43867.0 / 798.0,
    -174611.0 / 330.0,
    854513.0 / 138.0,
    -236364091.0 / 2730.0,
];

/// Returns `log |Γ(x)|`.
pub fn lgamma(x: f64) -> f64 {
    if x.is_infinite() {
        f64::INFINITY
    } else {
        libm::lgamma(x)
    }
}

/// Returns the derivative of `log Γ`: the reflection formula, the recurrence up to 12, the asymptotic series.
pub fn digamma(x: f64) -> f64 {
    if x.is_nan() || x == f64::INFINITY {
        return x;
    }
    if x <= 0.0 {
        if x == x.floor() {
            return f64::NAN;
        }
        // The distance to the nearest integer keeps the tangent accurate.
        let near = x - x.round();
        return digamma(1.0 - x) - PI / (PI * near).tan();
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < 12.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let (mut power, mut series) = (inverse, 0.0);
    for (k, b) in BERNOULLI.iter().enumerate().take(8) {
        series += b / (2.0 * (k + 1) as f64) * power;
        power *= inverse;
    }
    sum + x.ln() - 0.5 / x - series
}

/// Returns the Hurwitz zeta function `Σ (q + k)^-s` by the Euler-Maclaurin formula.
pub fn zeta(s: f64, q: f64) -> f64 {
    // The results outside of the domain are those of XLA.
    if s == 1.0 {
        return f64::INFINITY;
    }
    if q <= 0.0 && q == q.floor() {
        return if s % 2.0 == 0.0 {
            f64::INFINITY
        } else {
            f64::NAN
        };
    }
    let undefined = s.is_nan() || q.is_nan() || s < 1.0 || s == f64::INFINITY;
    if undefined || q <= 0.0 && s != s.floor() {
        return f64::NAN;
    }
    if q == f64::INFINITY {
        return 0.0;
    }
    let (mut sum, mut a) = (0.0, q);
    let mut count = 0;
    while count < 10 || a < 10.0 {
        let term = a.powf(-s);
        sum += term;
        a += 1.0;
        count += 1;
        if term.abs() < sum.abs() * 1e-18 && a > 0.0 {
            return sum;
        }
        if count > 1 << 20 {
            return f64::NAN;
        }
    }
    let power = a.powf(-s);
    sum += a * power / (s - 1.0) + 0.5 * power;
    let (mut rising, mut factor) = (s, power / a);
    let mut factorial = 2.0;
    for (k, b) in BERNOULLI.iter().enumerate() {
        let term = b * rising * factor / factorial;
        sum += term;
        if term.abs() < sum.abs() * 1e-17 {
            break;
        }
        let k = 2.0 * k as f64;
        rising *= (s + k + 1.0) * (s + k + 2.0);
        factor /= a * a;
        factorial *= (k + 3.0) * (k + 4.0);
    }
    sum
}

/// Returns the derivative of order `n + 1` of `log Γ`.
pub fn polygamma(n: f64, x: f64) -> f64 {
    if n < 0.0 || n != n.floor() || n.is_nan() {
        return f64::NAN;
    }
    if n == 0.0 {
        return digamma(x);
    }
    let sign = if n % 2.0 == 0.0 { -1.0 } else { 1.0 };
    sign * libm::lgamma(n + 1.0).exp() * zeta(n + 1.0, x)
}
