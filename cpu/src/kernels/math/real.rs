//! Functions of real numbers in double precision.

use std::ops::{Add, Mul};

/// A real number of either precision.
pub trait Real:
    bytemuck::Pod + PartialOrd + Add<Output = Self> + Mul<Output = Self> + Send + Sync
{
    /// Converts from `f64`.
    fn of(value: f64) -> Self;
    /// Converts to `f64`.
    fn wide(self) -> f64;
    /// Returns whether the sign bit is set.
    fn is_negative(self) -> bool;
}

impl Real for f32 {
    fn of(value: f64) -> f32 {
        value as f32
    }

    fn wide(self) -> f64 {
        f64::from(self)
    }

    fn is_negative(self) -> bool {
        self.is_sign_negative()
    }
}

impl Real for f64 {
    fn of(value: f64) -> f64 {
        value
    }

    fn wide(self) -> f64 {
        self
    }

    fn is_negative(self) -> bool {
        self.is_sign_negative()
    }
}

/// Returns the larger number, or NaN if one is NaN. Zeros are ordered by their signs.
#[inline(always)]
pub fn maximum<T: Real>(a: T, b: T) -> T {
    #[expect(clippy::eq_op, reason = "NaN differs from itself")]
    if (a > b) | (a != a) | ((a == b) & !a.is_negative()) {
        a
    } else {
        b
    }
}

/// Returns the smaller number, or NaN if one is NaN. Zeros are ordered by their signs.
#[inline(always)]
pub fn minimum<T: Real>(a: T, b: T) -> T {
    #[expect(clippy::eq_op, reason = "NaN differs from itself")]
    if (a < b) | (a != a) | ((a == b) & a.is_negative()) {
        a
    } else {
        b
    }
}

/// Returns the sign, which is the number itself for zeros and NaN.
pub fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        x
    }
}

/// Returns `1 / (1 + exp(-x))`.
pub fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Returns the inverse hyperbolic cosine.
pub fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

/// Returns the power as C's `pow`.
pub fn power(x: f64, y: f64) -> f64 {
    x.powf(y)
}

/// Returns the neighbor of `x` in the direction of `y`, from the bits of IEEE numbers whose sign bit is the
/// highest of `bits` bits.
pub fn next_after(x: u64, y: u64, bits: u32, nan: impl Fn(u64) -> bool) -> u64 {
    let sign = 1u64 << (bits - 1);
    if nan(x) {
        return x;
    }
    if nan(y) {
        return y;
    }
    let (magnitude, target) = (x & (sign - 1), y & (sign - 1));
    if magnitude == 0 && target == 0 || x == y {
        return y;
    }
    if magnitude == 0 {
        return (y & sign) | 1;
    }
    let away = (x & sign) == (y & sign) && target > magnitude;
    if away { x + 1 } else { x - 1 }
}

/// Rounds to a format of fewer bits, which stays in the range of the type: `mantissa` and `exponent` bits.
pub fn reduce_precision(x: f64, exponent: u32, mantissa: u32) -> f64 {
    if x.is_nan() && mantissa == 0 {
        return f64::INFINITY.copysign(x);
    }
    if x.is_nan() || x.is_infinite() || x == 0.0 {
        return x;
    }
    let bias = (1i32 << (exponent - 1)) - 1;
    let bits = x.to_bits();
    let dropped = 52 - mantissa;
    let rounded = if dropped == 0 {
        bits
    } else {
        // Rounding to even carries into the exponent where the mantissa overflows.
        let last = (bits >> dropped) & 1;
        let half = (1u64 << (dropped - 1)) - 1;
        (bits + half + last) >> dropped << dropped
    };
    let value = f64::from_bits(rounded);
    let power = ((rounded >> 52) & 0x7ff) as i32 - 1023;
    if power > bias {
        f64::INFINITY.copysign(x)
    } else if power < 1 - bias {
        0.0f64.copysign(x)
    } else {
        value
    }
}
