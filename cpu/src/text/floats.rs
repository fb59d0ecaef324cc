//! Rounding of numbers to floats of 16 bits and less.

use crate::ElementType;

/// The values that the largest encodings represent.
#[derive(Clone, Copy, PartialEq)]
enum Special {
    /// Infinities and NaN, as in IEEE 754.
    Ieee,
    /// NaN where all bits but the sign are set. Larger numbers become NaN.
    Nan,
    /// NaN in place of the negative zero. Larger numbers become NaN.
    NanAtZero,
    /// Numbers. Larger numbers become the largest.
    Finite,
}

/// Numbers of bits of exponent and mantissa, the bias of the exponent, and the special values.
fn format(element: ElementType) -> Option<(u32, u32, i64, Special)> {
    use ElementType::*;
    Some(match element {
        F16 => (5, 10, 15, Special::Ieee),
        Bf16 => (8, 7, 127, Special::Ieee),
        F8E5M2 => (5, 2, 15, Special::Ieee),
        F8E4M3 => (4, 3, 7, Special::Ieee),
        F8E3M4 => (3, 4, 3, Special::Ieee),
        F8E4M3Fn => (4, 3, 7, Special::Nan),
        F8E4M3Fnuz => (4, 3, 8, Special::NanAtZero),
        F8E5M2Fnuz => (5, 2, 16, Special::NanAtZero),
        F8E4M3B11Fnuz => (4, 3, 11, Special::NanAtZero),
        F4E2M1Fn => (2, 1, 1, Special::Finite),
        _ => return None,
    })
}

/// The bits of the mantissa of an `f64`, without the implicit one.
const DIGITS: u32 = 52;

/// Splits a positive, normal number into exponent and significand, an integer of 53 bits.
fn parts(value: f64) -> (i64, u64) {
    let bits = value.to_bits();
    let exponent = (bits >> DIGITS & 0x7FF) as i64 - 1023;
    let significand = bits & ((1 << DIGITS) - 1) | 1 << DIGITS;
    (exponent, significand)
}

/// Returns `significand / 2^shift`, rounded to the nearest integer, ties to even.
fn rounded(significand: u64, shift: i64) -> u64 {
    if shift > i64::from(DIGITS) + 1 {
        return 0;
    }
    let quotient = significand >> shift;
    let remainder = significand - (quotient << shift);
    let half = 1 << (shift - 1);
    let up = remainder > half || remainder == half && quotient & 1 == 1;
    quotient + u64::from(up)
}

/// Returns the bits of the number of type `element` nearest to `value`, ties to even, or `None` if the
/// type has more than 16 bits or is no float.
pub(super) fn nearest(value: f64, element: ElementType) -> Option<u16> {
    if element == ElementType::F8E8M0Fnu {
        return Some(nearest_power(value));
    }
    let (exponent_bits, mantissa_bits, bias, special) = format(element)?;
    let sign = u64::from(value.is_sign_negative()) << (exponent_bits + mantissa_bits);
    let all = (1u64 << (exponent_bits + mantissa_bits)) - 1;
    let infinity = all >> mantissa_bits << mantissa_bits;
    let (largest, beyond) = match special {
        Special::Ieee => (infinity - 1, infinity | sign),
        Special::Nan => (all - 1, all | sign),
        Special::NanAtZero => (all, all + 1),
        Special::Finite => (all, all | sign),
    };
    let magnitude = if value.is_nan() {
        return Some(match special {
            Special::Ieee => infinity | 1 << (mantissa_bits - 1),
            _ => beyond,
        } as u16);
    } else if value.is_infinite() {
        return Some(beyond as u16);
    } else if !value.is_normal() {
        // Subnormal numbers of `f64` are less than half of the smallest number of any format.
        0
    } else {
        let (exponent, significand) = parts(value);
        let smallest = 1 - bias;
        let scale = exponent.max(smallest);
        let shift = i64::from(DIGITS - mantissa_bits) + scale - exponent;
        // A carry out of the mantissa increments the exponent, as it should.
        let base = ((scale - smallest) as u64) << mantissa_bits;
        base + rounded(significand, shift)
    };
    Some(match magnitude {
        m if m > largest => beyond,
        0 if special == Special::NanAtZero => 0,
        m => m | sign,
    } as u16)
}

/// Returns the exponent of the nearest power of two, with a bias of 127: the format has no mantissa,
/// zero or sign.
fn nearest_power(value: f64) -> u16 {
    if value.is_nan() || value.is_infinite() {
        return 0xFF;
    }
    if value < f64::MIN_POSITIVE {
        return 0;
    }
    let (exponent, significand) = parts(value);
    let up = significand >> (DIGITS - 1) & 1 == 1;
    (exponent + 127 + i64::from(up)).clamp(0, 0xFF) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_half_floats_survive() {
        for bits in 0..=u16::MAX {
            let (a, b) = (half::f16::from_bits(bits), half::bf16::from_bits(bits));
            if !a.is_nan() {
                assert_eq!(nearest(a.to_f64(), ElementType::F16), Some(bits));
            }
            if !b.is_nan() {
                assert_eq!(nearest(b.to_f64(), ElementType::Bf16), Some(bits));
            }
        }
    }

    #[test]
    fn numbers_between_two_floats_round_once() {
        // Rounded to `f32` first, these would be ties.
        let tie = 1.0 + 2f64.powi(-11);
        assert_eq!(nearest(tie, ElementType::F16), Some(0x3C00));
        assert_eq!(
            nearest(tie + 2f64.powi(-40), ElementType::F16),
            Some(0x3C01)
        );
        assert_eq!(
            nearest(1.0 + 3.0 * 2f64.powi(-11), ElementType::F16),
            Some(0x3C02)
        );
        assert_eq!(nearest(65519.99, ElementType::F16), Some(0x7BFF));
        assert_eq!(nearest(65520.0, ElementType::F16), Some(0x7C00));
        assert_eq!(nearest(-1e-30, ElementType::F16), Some(0x8000));
    }

    #[test]
    fn narrow_floats_have_their_special_values() {
        use ElementType::*;
        for (value, element, bits) in [
            (448.0, F8E4M3Fn, 0x7E),
            (1e9, F8E4M3Fn, 0x7F),
            (-1.0, F8E4M3Fn, 0xB8),
            (240.0, F8E4M3, 0x77),
            (1e9, F8E4M3, 0x78),
            (-0.0, F8E4M3Fnuz, 0x00),
            (240.0, F8E4M3Fnuz, 0x7F),
            (1e9, F8E5M2Fnuz, 0x80),
            (30.0, F8E4M3B11Fnuz, 0x7F),
            (57344.0, F8E5M2, 0x7B),
            (15.5, F8E3M4, 0x6F),
            (6.0, F4E2M1Fn, 0x7),
            (-0.5, F4E2M1Fn, 0x9),
            (100.0, F4E2M1Fn, 0x7),
            (1.0, F8E8M0Fnu, 127),
            (3.5, F8E8M0Fnu, 129),
        ] {
            assert_eq!(nearest(value, element), Some(bits), "{value} as {element}");
        }
        assert_eq!(nearest(1.0, F32), None);
    }
}
