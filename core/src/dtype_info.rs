//! What is known of element types: limits of numbers, kinds, and which type
//! holds what others do.

use crate::narrow::{NarrowFloat, exponent};
use crate::{Array, DType};

/// Limits of a floating-point type; see [`finfo`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloatInfo {
    /// The type.
    pub dtype: DType,
    /// Bits of an element.
    pub bits: usize,
    /// Bits of the exponent (`nexp`).
    pub exponent_bits: u32,
    /// Bits of the fraction (`nmant`).
    pub fraction_bits: u32,
    /// The distance from 1 to the next larger number.
    pub eps: f64,
    /// The distance from 1 to the next smaller number.
    pub epsneg: f64,
    /// The largest finite number.
    pub max: f64,
    /// The smallest finite number, `-max`.
    pub min: f64,
    /// The smallest positive number of full precision (`tiny`).
    pub smallest_normal: f64,
    /// The smallest positive number.
    pub smallest_subnormal: f64,
    /// The exponent of the smallest normal number (`minexp`).
    pub min_exponent: i32,
    /// The smallest exponent that overflows (`maxexp`).
    pub max_exponent: i32,
    /// Decimal digits that are kept.
    pub precision: u32,
    /// `10⁻ᵖ` for that many digits `p`.
    pub resolution: f64,
}

/// Limits of an integer type; see [`iinfo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntInfo {
    /// The type.
    pub dtype: DType,
    /// Bits of an element.
    pub bits: usize,
    /// The smallest number.
    pub min: i128,
    /// The largest number.
    pub max: i128,
}

/// Limits of a floating-point type (`jnp.finfo`); of complex numbers those of
/// their parts.
///
/// ```
/// use ramie_core::{DType, finfo};
/// assert_eq!(finfo(DType::F32).eps, f64::from(f32::EPSILON));
/// assert_eq!(finfo(DType::F16).max, 65504.0);
/// ```
///
/// # Panics
/// If the type holds no floats.
#[track_caller]
pub fn finfo(dtype: DType) -> FloatInfo {
    let dtype = dtype.real();
    // In two steps, for powers of the ends of f64 are not powers themselves.
    let two = |power: i32| 2f64.powi(power / 2) * 2f64.powi(power - power / 2);
    // Bits of the fraction, smallest exponent, smallest and largest number, and
    // decimal digits.
    let ieee = |exponent_bits: u32, fraction: u32| {
        let bias = (1i32 << (exponent_bits - 1)) - 1;
        let max = (2.0 - two(-(fraction as i32))) * two(bias);
        let digits = (f64::from(fraction) * std::f64::consts::LOG10_2) as u32;
        (fraction, 1 - bias, -max, max, digits)
    };
    let (fraction_bits, min_exponent, min, max, precision) = match (dtype, NarrowFloat::of(dtype)) {
        (DType::F16, _) => ieee(5, 10),
        (DType::BF16, _) => ieee(8, 7),
        (DType::F32, _) => ieee(8, 23),
        (DType::F64, _) => ieee(11, 52),
        (_, Some(narrow)) => {
            let digits = u32::from(dtype.bits() == 8);
            let (fraction, least) = (narrow.fraction_bits(), narrow.min_exponent());
            (fraction, least, narrow.min(), narrow.max(), digits)
        }
        _ => panic!(
            "finfo: {dtype} holds no floats\n  help: the limits of integers are `iinfo(dtype)`"
        ),
    };
    let fraction = fraction_bits as i32;
    let sign_bits = u32::from(dtype.is_signed());
    FloatInfo {
        dtype,
        bits: dtype.bits(),
        exponent_bits: dtype.bits() as u32 - sign_bits - fraction_bits,
        fraction_bits,
        eps: two(-fraction),
        epsneg: two(-fraction - 1),
        max,
        min,
        smallest_normal: two(min_exponent),
        smallest_subnormal: two(min_exponent) / two(fraction),
        min_exponent,
        max_exponent: exponent(max) + 1,
        precision,
        resolution: 10f64.powi(-(precision as i32)),
    }
}

/// Limits of an integer type (`jnp.iinfo`).
///
/// ```
/// use ramie_core::{DType, iinfo};
/// assert_eq!(iinfo(DType::I8).min, -128);
/// assert_eq!(iinfo(DType::U64).max, u64::MAX.into());
/// ```
///
/// # Panics
/// If the type holds no integers.
#[track_caller]
pub fn iinfo(dtype: DType) -> IntInfo {
    assert!(
        dtype.is_integer(),
        "iinfo: {dtype} holds no integers\n  help: the limits of floats are `finfo(dtype)`"
    );
    let bits = dtype.bits();
    let sign = u32::from(dtype.is_signed());
    let magnitude = 1i128 << (bits as u32 - sign);
    IntInfo {
        dtype,
        bits,
        min: -magnitude * i128::from(sign),
        max: magnitude - 1,
    }
}

/// The type that operands of two types are computed in (`jnp.promote_types`).
///
/// ```
/// use ramie_core::{DType, promote_types};
/// assert_eq!(promote_types(DType::I32, DType::BF16), DType::BF16);
/// ```
///
/// # Panics
/// If one is a type of less than a byte or a float of 8 bits, which has a common
/// type only with itself.
#[track_caller]
pub fn promote_types(a: DType, b: DType) -> DType {
    DType::promote((a, false), (b, false)).0
}

/// The type that arrays are computed in together (`jnp.result_type`); numbers
/// made by `Array` operators from literals give way.
///
/// # Panics
/// If there are no arrays.
#[track_caller]
pub fn result_type<A: std::borrow::Borrow<Array>>(arrays: &[A]) -> DType {
    crate::ops::common_type("result_type", arrays).0
}

/// Whether every element of `from` has an equal one of `to` (`jnp.can_cast`
/// with NumPy's rule for safe casts: 64-bit integers may go to `f64`).
///
/// ```
/// use ramie_core::{DType, can_cast};
/// assert!(can_cast(DType::U8, DType::I16));
/// assert!(!can_cast(DType::I32, DType::F32));
/// ```
pub fn can_cast(from: DType, to: DType) -> bool {
    if from == to || from == DType::Bool {
        return true;
    }
    if to.is_complex() {
        return can_cast(from.real(), to.real());
    }
    if to == DType::Bool || from.is_complex() || from.is_float() && !to.is_float() {
        return false;
    }
    match (from.is_float(), to.is_float()) {
        (true, _) => {
            let (a, b) = (finfo(from), finfo(to));
            a.exponent_bits <= b.exponent_bits && a.fraction_bits <= b.fraction_bits
        }
        (false, false) => {
            let (a, b) = (iinfo(from), iinfo(to));
            b.min <= a.min && a.max <= b.max
        }
        (false, true) => to == DType::F64 || iinfo(from).max <= 1 << (finfo(to).fraction_bits + 1),
    }
}

/// A set of element types, as NumPy's abstract types are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DTypeKind {
    /// Truth values.
    Bool,
    /// Signed and unsigned integers (`jnp.integer`).
    Integer,
    /// Signed integers (`jnp.signedinteger`).
    SignedInteger,
    /// Unsigned integers (`jnp.unsignedinteger`).
    UnsignedInteger,
    /// Real floating-point numbers (`jnp.floating`).
    Floating,
    /// Complex numbers (`jnp.complexfloating`).
    ComplexFloating,
    /// Real and complex floating-point numbers, which have derivatives
    /// (`jnp.inexact`).
    Inexact,
    /// All but truth values (`jnp.number`).
    Number,
}

/// Whether a type is of a kind (`jnp.issubdtype`, `jnp.isdtype`).
///
/// ```
/// use ramie_core::{DType, DTypeKind, issubdtype};
/// assert!(issubdtype(DType::BF16, DTypeKind::Floating));
/// assert!(!issubdtype(DType::Bool, DTypeKind::Number));
/// ```
pub fn issubdtype(dtype: DType, kind: DTypeKind) -> bool {
    match kind {
        DTypeKind::Bool => dtype == DType::Bool,
        DTypeKind::Integer => dtype.is_integer(),
        DTypeKind::SignedInteger => dtype.is_integer() && dtype.is_signed(),
        DTypeKind::UnsignedInteger => dtype.is_integer() && !dtype.is_signed(),
        DTypeKind::Floating => dtype.is_float(),
        DTypeKind::ComplexFloating => dtype.is_complex(),
        DTypeKind::Inexact => dtype.is_inexact(),
        DTypeKind::Number => dtype != DType::Bool,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_those_of_rust() {
        assert_eq!(finfo(DType::F64).max, f64::MAX);
        assert_eq!(finfo(DType::F64).smallest_normal, f64::MIN_POSITIVE);
        assert_eq!(finfo(DType::F64).smallest_subnormal, f64::from_bits(1));
        assert_eq!(finfo(DType::F32).max, f64::from(f32::MAX));
        assert_eq!(finfo(DType::F32).precision, 6);
        assert_eq!(finfo(DType::BF16).max, half::bf16::MAX.to_f64());
        assert_eq!(finfo(DType::C64), finfo(DType::F32));
        assert_eq!(finfo(DType::C128).eps, f64::EPSILON);
        assert_eq!(finfo(DType::F8E4M3Fn).max, 448.0);
        assert_eq!(finfo(DType::F8E4M3Fnuz).max, 240.0);
        assert_eq!(finfo(DType::F8E5M2).max, 57344.0);
        assert_eq!(finfo(DType::F8E5M2Fnuz).smallest_subnormal, 2f64.powi(-17));
        assert_eq!(finfo(DType::F8E8M0Fnu).min, 2f64.powi(-127));
        assert_eq!(finfo(DType::F4E2M1Fn).max, 6.0);
        assert_eq!(iinfo(DType::I4).min, -8);
        assert_eq!(iinfo(DType::I64).min, i64::MIN.into());
    }

    #[test]
    fn safe_casts_are_those_of_numpy() {
        for (from, to, safe) in [
            (DType::I8, DType::F16, true),
            (DType::I16, DType::F16, false),
            (DType::I16, DType::F32, true),
            (DType::I64, DType::F64, true),
            (DType::U64, DType::I64, false),
            (DType::U32, DType::I64, true),
            (DType::I8, DType::U8, false),
            (DType::BF16, DType::F16, false),
            (DType::BF16, DType::F32, true),
            (DType::F32, DType::I64, false),
            (DType::I8, DType::BF16, true),
            (DType::F32, DType::C64, true),
            (DType::F64, DType::C64, false),
            (DType::I16, DType::C64, true),
            (DType::I32, DType::C64, false),
            (DType::I64, DType::C128, true),
            (DType::C64, DType::C128, true),
            (DType::C128, DType::C64, false),
            (DType::C64, DType::F64, false),
            (DType::C64, DType::I64, false),
        ] {
            assert_eq!(can_cast(from, to), safe, "{from} to {to}");
        }
    }
}
