//! Numbers with derivatives along two directions and their mixed second
//! derivative, so that two nested derivatives can be followed on the host.

use std::cell::Cell;

/// A value, its derivatives along two directions, and the mixed one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    pub value: f64,
    pub dots: [f64; 2],
    pub mixed: f64,
}

thread_local! { static AMBIGUOUS: Cell<bool> = const { Cell::new(false) }; }

/// Whether a choice depended on values that differ by rounding only, or that
/// are equal by chance, since the last call.
pub fn take_ambiguous() -> bool {
    AMBIGUOUS.replace(false)
}

/// Notes a choice between two values.
pub fn chosen(a: f64, b: f64) {
    let close = (a - b).abs() <= 1e-9 * (1.0 + a.abs());
    if close && a.to_bits() != b.to_bits() {
        AMBIGUOUS.set(true);
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Number {
        Number {
            value,
            dots: [0.0; 2],
            mixed: 0.0,
        }
    }
}

impl Number {
    /// A function from its value and its first two derivatives.
    fn map(self, f: f64, f1: f64, f2: f64) -> Number {
        // A constant has no derivative, whatever the function is there.
        let times = |g: f64, d: f64| if d == 0.0 { 0.0 } else { g * d };
        let [a, b] = self.dots;
        Number {
            value: f,
            dots: [times(f1, a), times(f1, b)],
            mixed: times(f1, self.mixed) + times(f2, a * b),
        }
    }

    /// The number without derivatives.
    pub fn constant(self) -> Number {
        self.value.into()
    }

    /// The derivative along a direction, as a number that may have one along the
    /// other.
    pub fn derivative(self, direction: usize) -> Number {
        let mut dots = [0.0; 2];
        dots[1 - direction] = self.mixed;
        Number {
            value: self.dots[direction],
            dots,
            mixed: 0.0,
        }
    }

    pub fn add(self, o: Number) -> Number {
        Number {
            value: self.value + o.value,
            dots: [self.dots[0] + o.dots[0], self.dots[1] + o.dots[1]],
            mixed: self.mixed + o.mixed,
        }
    }

    pub fn mul(self, o: Number) -> Number {
        let ([a, b], [c, d]) = (self.dots, o.dots);
        Number {
            value: self.value * o.value,
            dots: [a * o.value + self.value * c, b * o.value + self.value * d],
            mixed: self.mixed * o.value + a * d + b * c + self.value * o.mixed,
        }
    }

    pub fn scale(self, by: f64) -> Number {
        self.mul(by.into())
    }

    pub fn neg(self) -> Number {
        self.scale(-1.0)
    }

    pub fn sub(self, o: Number) -> Number {
        self.add(o.neg())
    }

    pub fn recip(self) -> Number {
        let x = self.value;
        self.map(1.0 / x, -1.0 / (x * x), 2.0 / (x * x * x))
    }

    pub fn div(self, o: Number) -> Number {
        // The quotient itself is rounded once.
        Number {
            value: self.value / o.value,
            ..self.mul(o.recip())
        }
    }

    /// The remainder with the sign of the dividend.
    pub fn rem(self, o: Number) -> Number {
        let quotient = (self.value / o.value).trunc();
        chosen((self.value / o.value).round(), self.value / o.value);
        Number {
            value: self.value % o.value,
            ..self.sub(o.scale(quotient))
        }
    }

    /// One of two that is larger (`sign` 1) or smaller (-1); of equal ones the
    /// mean of the derivatives.
    pub fn extreme(self, o: Number, sign: f64) -> Number {
        chosen(self.value, o.value);
        let difference = (self.value - o.value) * sign;
        match difference {
            d if d > 0.0 => self,
            d if d < 0.0 => o,
            _ => Number {
                value: self.value,
                ..self.add(o).scale(0.5)
            },
        }
    }

    pub fn sin(self) -> Number {
        let (s, c) = self.value.sin_cos();
        self.map(s, c, -s)
    }
    pub fn cos(self) -> Number {
        let (s, c) = self.value.sin_cos();
        self.map(c, -s, -c)
    }
    pub fn tanh(self) -> Number {
        let t = self.value.tanh();
        self.map(t, 1.0 - t * t, -2.0 * t * (1.0 - t * t))
    }
    pub fn logistic(self) -> Number {
        let y = 1.0 / (1.0 + (-self.value).exp());
        self.map(y, y * (1.0 - y), y * (1.0 - y) * (1.0 - 2.0 * y))
    }
    pub fn exp(self) -> Number {
        let y = self.value.exp();
        self.map(y, y, y)
    }
    pub fn expm1(self) -> Number {
        Number {
            value: self.value.exp_m1(),
            ..self.exp()
        }
    }
    pub fn exp2(self) -> Number {
        let (y, l) = (self.value.exp2(), std::f64::consts::LN_2);
        self.map(y, y * l, y * l * l)
    }
    pub fn log(self) -> Number {
        let x = self.value;
        self.map(x.ln(), 1.0 / x, -1.0 / (x * x))
    }
    pub fn log1p(self) -> Number {
        let x = 1.0 + self.value;
        self.map(self.value.ln_1p(), 1.0 / x, -1.0 / (x * x))
    }
    pub fn sqrt(self) -> Number {
        let y = self.value.sqrt();
        self.map(y, 0.5 / y, -0.25 / (y * y * y))
    }
    pub fn rsqrt(self) -> Number {
        self.sqrt().recip()
    }
    pub fn cbrt(self) -> Number {
        let (x, y) = (self.value, self.value.cbrt());
        self.map(y, y / (3.0 * x), -2.0 * y / (9.0 * x * x))
    }
    pub fn atan(self) -> Number {
        let d = 1.0 / (1.0 + self.value * self.value);
        self.map(self.value.atan(), d, -2.0 * self.value * d * d)
    }
    pub fn asinh(self) -> Number {
        let r = 1.0 + self.value * self.value;
        self.map(self.value.asinh(), r.powf(-0.5), -self.value * r.powf(-1.5))
    }
    pub fn powi(self, n: i32) -> Number {
        let (x, k) = (self.value, f64::from(n));
        self.map(x.powi(n), k * x.powi(n - 1), k * (k - 1.0) * x.powi(n - 2))
    }
    pub fn abs(self) -> Number {
        chosen(self.value, 0.0);
        self.map(self.value.abs(), zero_sign(self.value), 0.0)
    }
    pub fn sign(self) -> Number {
        chosen(self.value, 0.0);
        zero_sign(self.value).into()
    }
    pub fn floor(self) -> Number {
        chosen(self.value.round(), self.value);
        self.value.floor().into()
    }
    pub fn ceil(self) -> Number {
        chosen(self.value.round(), self.value);
        self.value.ceil().into()
    }
    /// To the next integer, halves to the even one.
    pub fn round(self) -> Number {
        chosen((self.value - 0.5).round() + 0.5, self.value);
        self.value.round_ties_even().into()
    }
}

fn zero_sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}
