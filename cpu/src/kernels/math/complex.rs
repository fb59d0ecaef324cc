//! Functions of complex numbers in double precision.

use super::real::Real;
use num_complex::Complex;

type C = Complex<f64>;

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

/// Returns the exponential.
pub fn exp(z: C) -> C {
    let r = z.re.exp();
    if z.im == 0.0 {
        return C::new(r, z.im);
    }
    if r == 0.0 && z.re == f64::NEG_INFINITY && !z.im.is_finite() {
        return C::new(0.0, 0.0);
    }
    C::new(r * z.im.cos(), r * z.im.sin())
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

/// Returns the logarithm.
pub fn log(z: C) -> C {
    C::new(z.re.hypot(z.im).ln(), z.im.atan2(z.re))
}

/// Returns `log(1 + z)` without cancellation.
pub fn log1p(z: C) -> C {
    let small = z.re.abs() < 0.5 && z.im.abs() < 0.5;
    let re = if small {
        0.5 * (z.re * (2.0 + z.re) + z.im * z.im).ln_1p()
    } else {
        (1.0 + z.re).hypot(z.im).ln()
    };
    C::new(re, z.im.atan2(1.0 + z.re))
}

/// Returns the principal square root.
pub fn sqrt(z: C) -> C {
    if z.im.is_infinite() {
        return C::new(f64::INFINITY, z.im);
    }
    if z.re == 0.0 && z.im == 0.0 {
        return C::new(0.0, z.im);
    }
    if z.re == f64::NEG_INFINITY {
        return C::new(
            if z.im.is_nan() { f64::NAN } else { 0.0 },
            f64::INFINITY.copysign(z.im),
        );
    }
    if z.re == f64::INFINITY {
        return C::new(
            z.re,
            if z.im.is_nan() {
                z.im
            } else {
                0f64.copysign(z.im)
            },
        );
    }
    let t = ((z.re.abs() + z.re.hypot(z.im)) / 2.0).sqrt();
    if z.re >= 0.0 {
        C::new(t, z.im / (2.0 * t))
    } else {
        C::new(z.im.abs() / (2.0 * t), t.copysign(z.im))
    }
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
        z.re.sinh() * z.im.cos(),
        if z.im == 0.0 {
            z.im
        } else {
            z.re.cosh() * z.im.sin()
        },
    )
}

/// Returns the hyperbolic cosine.
pub fn cosh(z: C) -> C {
    C::new(
        z.re.cosh() * z.im.cos(),
        if z.im == 0.0 {
            z.im
        } else {
            z.re.sinh() * z.im.sin()
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

/// Returns the inverse hyperbolic sine (W. Kahan, "Branch cuts for complex elementary functions", 1987).
pub fn asinh(z: C) -> C {
    over_i(asin(times_i(z)))
}

/// Returns the inverse sine.
pub fn asin(z: C) -> C {
    let (a, b) = (
        sqrt(C::new(1.0 - z.re, -z.im)),
        sqrt(C::new(1.0 + z.re, z.im)),
    );
    let re = z.re.atan2((a * b).re);
    C::new(re, (a.conj() * b).im.asinh())
}

/// Returns the inverse cosine.
pub fn acos(z: C) -> C {
    let (a, b) = (
        sqrt(C::new(1.0 - z.re, -z.im)),
        sqrt(C::new(1.0 + z.re, z.im)),
    );
    C::new(2.0 * a.re.atan2(b.re), (b.conj() * a).im.asinh())
}

/// Returns the inverse hyperbolic cosine.
pub fn acosh(z: C) -> C {
    let (a, b) = (
        sqrt(C::new(z.re - 1.0, z.im)),
        sqrt(C::new(z.re + 1.0, z.im)),
    );
    C::new((a.conj() * b).re.asinh(), 2.0 * a.im.atan2(b.re))
}

/// Returns the inverse hyperbolic tangent.
pub fn atanh(z: C) -> C {
    let (x, y) = (z.re, z.im);
    let re = 0.25 * (4.0 * x / ((1.0 - x) * (1.0 - x) + y * y)).ln_1p();
    let im = 0.5 * (2.0 * y).atan2((1.0 - x) * (1.0 + x) - y * y);
    C::new(re, im)
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
