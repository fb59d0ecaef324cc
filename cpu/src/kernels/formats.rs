//! Floats of 4 and 8 bits: their values and rounding.

use crate::ElementType;

/// The use of a format's largest exponent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    /// As IEEE 754: infinities and NaNs.
    Ieee,
    /// No infinity; NaN is the pattern with all bits set.
    Finite,
    /// No infinity and no negative zero, whose pattern is NaN.
    Unsigned,
    /// No infinity and no NaN.
    None,
}

/// A binary format with a sign bit.
#[derive(Clone, Copy)]
struct Format {
    exponent: u32,
    mantissa: u32,
    bias: i32,
    special: Special,
}

const fn format(element: ElementType) -> Option<Format> {
    let (exponent, mantissa, bias, special) = match element {
        ElementType::F4E2M1Fn => (2, 1, 1, Special::None),
        ElementType::F8E3M4 => (3, 4, 3, Special::Ieee),
        ElementType::F8E4M3 => (4, 3, 7, Special::Ieee),
        ElementType::F8E4M3Fn => (4, 3, 7, Special::Finite),
        ElementType::F8E4M3B11Fnuz => (4, 3, 11, Special::Unsigned),
        ElementType::F8E4M3Fnuz => (4, 3, 8, Special::Unsigned),
        ElementType::F8E5M2 => (5, 2, 15, Special::Ieee),
        ElementType::F8E5M2Fnuz => (5, 2, 16, Special::Unsigned),
        _ => return None,
    };
    Some(Format {
        exponent,
        mantissa,
        bias,
        special,
    })
}

/// Returns whether the type is one of these formats.
pub const fn is_narrow(element: ElementType) -> bool {
    format(element).is_some() || matches!(element, ElementType::F8E8M0Fnu)
}

impl Format {
    fn width(self) -> u32 {
        1 + self.exponent + self.mantissa
    }

    /// Returns the magnitude bits of the largest finite value.
    fn largest(self) -> u32 {
        let all = (1 << (self.exponent + self.mantissa)) - 1;
        match self.special {
            Special::Ieee => (((1 << self.exponent) - 1) << self.mantissa) - 1,
            Special::Finite => all - 1,
            Special::Unsigned | Special::None => all,
        }
    }

    fn decode(self, bits: u8) -> f64 {
        let sign_bit = 1u32 << (self.width() - 1);
        let bits = u32::from(bits) & (2 * sign_bit - 1);
        let magnitude = bits & (sign_bit - 1);
        let sign = if bits & sign_bit != 0 { -1.0 } else { 1.0 };
        if self.special == Special::Unsigned && bits == sign_bit {
            return f64::NAN;
        }
        if magnitude > self.largest() {
            let infinite = self.special == Special::Ieee && magnitude == self.largest() + 1;
            return if infinite {
                sign * f64::INFINITY
            } else {
                sign * f64::NAN
            };
        }
        let exponent = (magnitude >> self.mantissa) as i32;
        let fraction =
            (magnitude & ((1 << self.mantissa) - 1)) as f64 / f64::from(1u32 << self.mantissa);
        match exponent {
            0 => sign * fraction * 2f64.powi(1 - self.bias),
            _ => sign * (1.0 + fraction) * 2f64.powi(exponent - self.bias),
        }
    }

    fn encode(self, value: f64) -> u8 {
        let sign_bit = 1u32 << (self.width() - 1);
        let sign = if value.is_sign_negative() {
            sign_bit
        } else {
            0
        };
        let largest = self.largest();
        if value.is_nan() {
            return match self.special {
                Special::Ieee => sign | (largest + 1) | 1 << (self.mantissa - 1),
                Special::Finite => sign | (sign_bit - 1),
                Special::Unsigned => sign_bit,
                Special::None => sign_bit,
            } as u8;
        }
        let magnitude = value.abs();
        let smallest = 1 - self.bias;
        let exponent = (magnitude.to_bits() >> 52) as i32 - 1023;
        // Distance between neighboring values; the quotient is exact, so that rounding happens once.
        let ulp = exponent.max(smallest) - self.mantissa as i32;
        let quotient = if magnitude.is_infinite() {
            f64::INFINITY
        } else {
            magnitude / 2f64.powi(ulp)
        };
        let rounded = quotient.round_ties_even();
        let base = ((exponent.max(smallest) - smallest) as f64) * f64::from(1u32 << self.mantissa);
        let bits = base + rounded;
        let overflow = bits > f64::from(largest);
        match (overflow, self.special) {
            (true, Special::Ieee) => (sign | (largest + 1)) as u8,
            (true, Special::Finite) => (sign | (sign_bit - 1)) as u8,
            (true, Special::Unsigned) => sign_bit as u8,
            (true, Special::None) => (sign | largest) as u8,
            (false, Special::Unsigned) if bits == 0.0 => 0,
            (false, _) => (sign | bits as u32) as u8,
        }
    }
}

/// Returns the value of a pattern.
///
/// # Panics
/// Panics if the type is not a float of at most 8 bits.
pub fn decode(element: ElementType, bits: u8) -> f64 {
    match format(element) {
        Some(format) => format.decode(bits),
        None if bits == 255 => f64::NAN,
        None => 2f64.powi(i32::from(bits) - 127),
    }
}

/// Returns the pattern of the nearest value, the even one of two.
///
/// # Panics
/// Panics if the type is not a float of at most 8 bits.
pub fn encode(element: ElementType, value: f64) -> u8 {
    match format(element) {
        Some(format) => format.encode(value),
        None => encode_power(value),
    }
}

/// Returns the pattern of the nearest power of two of `f8E8M0FNU`, which has neither sign nor zero.
fn encode_power(value: f64) -> u8 {
    if value.is_nan() || value.is_infinite() || value <= 0.0 {
        return 255;
    }
    let exponent = (value.to_bits() >> 52) as i32 - 1023;
    let mantissa = value.to_bits() & ((1 << 52) - 1);
    // A tie is one and a half times a power. The even one of its neighbors is twice the power.
    let pattern = exponent + 127 + i32::from(mantissa >= 1 << 51);
    if pattern > 254 {
        255
    } else {
        pattern.max(0) as u8
    }
}
