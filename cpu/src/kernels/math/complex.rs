//! Functions of complex numbers in double precision.

use super::real::Real;
use num_complex::Complex;
use std::f64::consts::{FRAC_PI_2, LN_2};

type C = Complex<f64>;

/// 2 to the power of 64.
const TWO_64: f64 = 18_446_744_073_709_551_616.0;

/// Returns the magnitude.
pub fn abs<T: Real>(z: Complex<T>) -> T {
    T::of(z.re.wide().hypot(z.im.wide()))
}

/// Returns the quotient, scaled so that intermediate results do not overflow (R. L. Smith, 1962).
pub fn divide(a: C, b: C) -> C {
    if b.re == 0.0 && b.im == 0.0 || !b.re.is_finite() || !b.im.is_finite() {
        return divide_special(a, b);
    }
    if b.re.abs() >= b.im.abs() {
        let r = b.im / b.re;
        let d = b.re + b.im * r;
        C::new((a.re + a.im * r) / d, (a.im - a.re * r) / d)
    } else {
        let r = b.re / b.im;
        let d = b.re * r + b.im;
        C::new((a.re * r + a.im) / d, (a.im * r - a.re) / d)
    }
}

/// Returns quotients with zeros and infinities, as annex G of C.
fn divide_special(a: C, b: C) -> C {
    let zero = b.re == 0.0 && b.im == 0.0;
    if zero && (!a.re.is_nan() || !a.im.is_nan()) {
        let infinity = f64::INFINITY.copysign(b.re);
        return C::new(infinity * a.re, infinity * a.im);
    }
    let unit = |x: f64| {
        if x.is_infinite() {
            1f64.copysign(x)
        } else {
            0f64.copysign(x)
        }
    };
    if (b.re.is_infinite() || b.im.is_infinite()) && a.re.is_finite() && a.im.is_finite() {
        let (c, d) = (unit(b.re), unit(b.im));
        return C::new(0.0 * (a.re * c + a.im * d), 0.0 * (a.im * c - a.re * d));
    }
    a / b
}

/// Returns the sign: the number divided by its magnitude.
pub fn sign(z: C) -> C {
    let r = z.re.hypot(z.im);
    if r == 0.0 {
        C::new(0.0, 0.0)
    } else {
        C::new(z.re / r, z.im / r)
    }
}

/// Returns `factor * f(x)` for a factor of at most 1 and an `f` that grows as the exponential.
/// The product may be finite where `f(x)` overflows; there, `f(x)` is a part of `exp(|x|)`.
fn grown(factor: f64, x: f64, f: fn(f64) -> f64, part: f64) -> f64 {
    if x.abs() < 700.0 || x.is_infinite() {
        return factor * f(x);
    }
    let half = (x.abs() / 2.0).exp();
    half * part * factor * half
}

/// Returns the exponential.
pub fn exp(z: C) -> C {
    if z.im == 0.0 || z.re < -700.0 {
        let r = z.re.exp();
        return C::new(
            r * z.im.cos(),
            if z.im == 0.0 { z.im } else { r * z.im.sin() },
        );
    }
    C::new(
        grown(z.im.cos(), z.re, f64::exp, 1.0),
        grown(z.im.sin(), z.re, f64::exp, 1.0),
    )
}

/// Returns `exp(z) - 1` without cancellation.
pub fn expm1(z: C) -> C {
    let half = (z.im / 2.0).sin();
    C::new(
        z.re.exp_m1() * z.im.cos() - 2.0 * half * half,
        if z.im == 0.0 {
            z.im
        } else {
            z.re.exp() * z.im.sin()
        },
    )
}

/// Returns `a * b` as a rounded product and its error.
fn exact_product(a: f64, b: f64) -> [f64; 2] {
    let product = a * b;
    [product, a.mul_add(b, -product)]
}

/// Returns the sum of all terms, rounded about once: `x + y` and the error of each addition.
fn exact_sum(terms: [f64; 5]) -> f64 {
    let (mut sum, mut error) = (0.0, 0.0);
    for term in terms {
        let next: f64 = sum + term;
        let back = next - sum;
        error += (sum - (next - back)) + (term - back);
        sum = next;
    }
    sum + error
}

/// Returns the logarithm of the magnitude of `1 + x + i y`.
fn log_magnitude(x: f64, y: f64) -> f64 {
    if x.abs() < 2.0 && y.abs() < 2.0 {
        let ([a, b], [c, d]) = (exact_product(x, x), exact_product(y, y));
        // The square of the magnitude less 1, without the cancellation of its terms.
        let excess = exact_sum([2.0 * x, a, c, b, d]);
        if excess > -0.5 {
            return 0.5 * excess.ln_1p();
        }
    }
    log_length(1.0 + x, y)
}

/// Returns the logarithm of the length of a vector that is not near 1.
fn log_length(x: f64, y: f64) -> f64 {
    let largest = x.abs().max(y.abs());
    if largest > 1e300 {
        (x / 4.0).hypot(y / 4.0).ln() + 2.0 * LN_2
    } else if largest < 1e-290 {
        (x * TWO_64).hypot(y * TWO_64).ln() - 64.0 * LN_2
    } else {
        x.hypot(y).ln()
    }
}

/// Returns the logarithm.
pub fn log(z: C) -> C {
    let (x, y) = (z.re.abs().max(z.im.abs()), z.re.abs().min(z.im.abs()));
    let near = x > 0.5 && x < 2.0;
    let re = if near {
        log_magnitude(x - 1.0, y)
    } else {
        log_length(z.re, z.im)
    };
    C::new(re, z.im.atan2(z.re))
}

/// Returns `log(1 + z)` without cancellation.
pub fn log1p(z: C) -> C {
    C::new(log_magnitude(z.re, z.im), z.im.atan2(1.0 + z.re))
}

/// Returns the principal square root.
pub fn sqrt(z: C) -> C {
    if z.im.is_infinite() {
        return C::new(f64::INFINITY, z.im);
    }
    if z.re == 0.0 && z.im == 0.0 {
        return C::new(0.0, z.im);
    }
    if z.re.is_infinite() {
        let zero = if z.im.is_nan() { f64::NAN } else { 0.0 };
        return if z.re > 0.0 {
            C::new(z.re, zero.copysign(z.im))
        } else {
            C::new(zero, f64::INFINITY.copysign(z.im))
        };
    }
    // A power of 4, so that nothing overflows or becomes subnormal.
    let largest = z.re.abs().max(z.im.abs());
    let (scale, root) = match largest {
        m if m > 1e300 => (0.0625, 4.0),
        m if m < 1e-280 => (TWO_64 * TWO_64, 1.0 / TWO_64),
        _ => (1.0, 1.0),
    };
    let z = C::new(z.re * scale, z.im * scale);
    let t = ((z.re.abs() + z.re.hypot(z.im)) / 2.0).sqrt();
    let (t, other) = (t * root, z.im / (2.0 * t) * root);
    if z.re >= 0.0 {
        C::new(t, other)
    } else {
        C::new(other.abs(), t.copysign(z.im))
    }
}

/// Returns the square.
pub fn square(z: C) -> C {
    let re = if z.re.abs() == z.im.abs() && z.re.is_finite() {
        0.0
    } else {
        (z.re - z.im) * (z.re + z.im)
    };
    C::new(re, 2.0 * (z.re * z.im))
}

/// Returns the cube root with the angle divided by three.
pub fn cbrt(z: C) -> C {
    let (length, angle) = (z.re.hypot(z.im).cbrt(), z.im.atan2(z.re) / 3.0);
    C::new(length * angle.cos(), length * angle.sin())
}

/// Returns the reciprocal of the square root.
pub fn rsqrt(z: C) -> C {
    divide(C::new(1.0, 0.0), sqrt(z))
}

/// Returns the power.
pub fn power(a: C, b: C) -> C {
    if a.re == 0.0 && a.im == 0.0 {
        return if b.re == 0.0 && b.im == 0.0 {
            C::new(1.0, 0.0)
        } else {
            C::new(0.0, 0.0)
        };
    }
    if b.im == 0.0 && b.re == 0.0 {
        return C::new(1.0, 0.0);
    }
    let (r, theta) = (a.re.hypot(a.im), a.im.atan2(a.re));
    let angle = b.re * theta + if b.im == 0.0 { 0.0 } else { b.im * r.ln() };
    let scale = r.powf(b.re)
        * if b.im == 0.0 {
            1.0
        } else {
            (-b.im * theta).exp()
        };
    C::new(scale * angle.cos(), scale * angle.sin())
}

/// Returns the hyperbolic tangent.
pub fn tanh(z: C) -> C {
    if z.re.abs() > 20.0 {
        let decay = 4.0 * (-2.0 * z.re.abs()).exp();
        return C::new(1f64.copysign(z.re), decay * z.im.sin() * z.im.cos());
    }
    let (s, c) = (z.im.sin(), z.im.cos());
    let (sinh, cosh) = (z.re.sinh(), z.re.cosh());
    let d = sinh * sinh + c * c;
    C::new(sinh * cosh / d, s * c / d)
}

/// Returns `i z`.
fn times_i(z: C) -> C {
    C::new(-z.im, z.re)
}

/// Returns `-i z`.
fn over_i(z: C) -> C {
    C::new(z.im, -z.re)
}

/// Returns the tangent.
pub fn tan(z: C) -> C {
    over_i(tanh(times_i(z)))
}

/// Returns the hyperbolic sine.
pub fn sinh(z: C) -> C {
    C::new(
        grown(z.im.cos(), z.re, f64::sinh, 0.5f64.copysign(z.re)),
        if z.im == 0.0 {
            z.im
        } else {
            grown(z.im.sin(), z.re, f64::cosh, 0.5)
        },
    )
}

/// Returns the hyperbolic cosine.
pub fn cosh(z: C) -> C {
    C::new(
        grown(z.im.cos(), z.re, f64::cosh, 0.5),
        if z.im == 0.0 {
            z.im
        } else {
            grown(z.im.sin(), z.re, f64::sinh, 0.5f64.copysign(z.re))
        },
    )
}

/// Returns the sine.
pub fn sin(z: C) -> C {
    over_i(sinh(times_i(z)))
}

/// Returns the cosine.
pub fn cos(z: C) -> C {
    cosh(times_i(z))
}

/// Returns the parts of the inverse sine and cosine of `x + i y` in the first quadrant: the number `w` for which
/// `x / w` is the tangent of the real part of the inverse sine, and the imaginary part.
///
/// T. E. Hull, T. F. Fairgrieve, P. T. P. Tang, "Implementing the complex arcsine and arccosine functions using
/// exception handling", 1997. Products are ordered so that squares neither overflow nor underflow.
fn quadrant(x: f64, y: f64) -> (f64, f64) {
    if !(x < 1e9 && y < 1e9) {
        // The terms of lower order are less than a rounding.
        return (y, log_length(x, y) + LN_2);
    }
    let (r, s) = ((x + 1.0).hypot(y), (x - 1.0).hypot(y));
    let a = (r + s) / 2.0;
    let (right, left) = (r + x + 1.0, s + (x - 1.0).abs());
    let w = if x <= 1.0 {
        (0.5 * (a + x) * (y * (y / right) + left)).sqrt()
    } else {
        y * (0.5 * ((a + x) / right + (a + x) / left)).sqrt()
    };
    let im = if a > 1.5 {
        (a + ((a - 1.0) * (a + 1.0)).sqrt()).ln()
    } else if x < 1.0 {
        let half = 0.5 * (1.0 / right + 1.0 / left);
        (y * (y * half) + y * (half * (a + 1.0)).sqrt()).ln_1p()
    } else {
        let excess = 0.5 * (y * (y / right) + left);
        (excess + (excess * (a + 1.0)).sqrt()).ln_1p()
    };
    (w, im)
}

/// Returns the inverse hyperbolic sine.
pub fn asinh(z: C) -> C {
    over_i(asin(times_i(z)))
}

/// Returns the inverse sine.
pub fn asin(z: C) -> C {
    let (w, im) = quadrant(z.re.abs(), z.im.abs());
    C::new(z.re.atan2(w), im.copysign(z.im))
}

/// Returns the inverse cosine.
pub fn acos(z: C) -> C {
    let (w, im) = quadrant(z.re.abs(), z.im.abs());
    C::new(w.atan2(z.re), -im.copysign(z.im))
}

/// Returns the inverse hyperbolic cosine.
pub fn acosh(z: C) -> C {
    let (w, im) = quadrant(z.re.abs(), z.im.abs());
    C::new(im, w.atan2(z.re).copysign(z.im))
}

/// Returns the inverse hyperbolic tangent.
pub fn atanh(z: C) -> C {
    let (x, y) = (z.re.abs(), z.im.abs());
    let (re, im) = if x > 1e9 || y > 1e9 {
        // Half of the length, which does not overflow.
        let half = (x / 2.0).hypot(y / 2.0);
        let re = if x.is_infinite() {
            0.0
        } else {
            x / half / half / 4.0
        };
        (re, FRAC_PI_2)
    } else if x == 1.0 {
        (0.5 * (2f64.hypot(y).ln() - y.ln()), 0.5 * 2f64.atan2(-y))
    } else {
        let gap = 1.0 - x;
        (
            0.25 * (4.0 * x / (gap * gap + y * y)).ln_1p(),
            0.5 * (2.0 * y).atan2(gap * (1.0 + x) - y * y),
        )
    };
    C::new(re.copysign(z.re), im.copysign(z.im))
}

/// Returns the inverse tangent.
pub fn atan(z: C) -> C {
    over_i(atanh(times_i(z)))
}

/// Returns the angle of `x + i y` for complex operands.
pub fn atan2(y: C, x: C) -> C {
    let root = sqrt(x * x + y * y);
    over_i(log(divide(x + times_i(y), root)))
}
