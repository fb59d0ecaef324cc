//! Properties of dtypes: numeric limits, kinds and safe casts.

use crate::DType;
use crate::types::narrow::{NarrowFloat, exponent};

/// Numeric limits of a floating-point dtype; see [`finfo`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloatInfo {
    /// The dtype.
    pub dtype: DType,
    /// Number of bits of an element.
    pub bits: usize,
    /// Number of exponent bits (`nexp`).
    pub exponent_bits: u32,
    /// Number of fraction bits (`nmant`).
    pub fraction_bits: u32,
    /// Distance from 1 to the next larger number.
    pub eps: f64,
    /// Distance from 1 to the next smaller number.
    pub epsneg: f64,
    /// Largest finite number.
    pub max: f64,
    /// Smallest finite number. Equals `-max`, except for unsigned formats.
    pub min: f64,
    /// Smallest positive number with full precision (`tiny`).
    pub smallest_normal: f64,
    /// Smallest positive number.
    pub smallest_subnormal: f64,
    /// Exponent of the smallest normal number (`minexp`).
    pub min_exponent: i32,
    /// Smallest exponent that overflows (`maxexp`).
    pub max_exponent: i32,
    /// Number of decimal digits that are preserved.
    pub precision: u32,
    /// `10⁻ᵖ`, where `p` is the precision.
    pub resolution: f64,
}

/// Numeric limits of an integer dtype; see [`iinfo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntInfo {
    /// The dtype.
    pub dtype: DType,
    /// Number of bits of an element.
    pub bits: usize,
    /// Smallest number.
    pub min: i128,
    /// Largest number.
    pub max: i128,
}

/// Returns the numeric limits of a floating-point dtype (`jnp.finfo`), or of the parts of a
/// complex dtype.
///
/// ```
/// use ramie_core::dtypes::finfo;
/// use ramie_core::DType;
/// assert_eq!(finfo(DType::F32).eps, f64::from(f32::EPSILON));
/// assert_eq!(finfo(DType::F16).max, 65504.0);
/// ```
///
/// # Panics
/// Panics if the dtype is neither a floating-point nor a complex dtype.
#[track_caller]
pub fn finfo(dtype: DType) -> FloatInfo {
    let dtype = dtype.real();
    // Computed in two steps, because powers at the limits of f64 overflow or underflow otherwise.
    let two = |power: i32| 2f64.powi(power / 2) * 2f64.powi(power - power / 2);
    // Returns the number of fraction bits, the smallest exponent, the smallest and the largest
    // number, and the number of decimal digits.
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
            "finfo: {dtype} is not a floating-point dtype\n  help: use `iinfo(dtype)` for the \
             limits of integers"
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

/// Returns the numeric limits of an integer dtype (`jnp.iinfo`).
///
/// ```
/// use ramie_core::dtypes::iinfo;
/// use ramie_core::DType;
/// assert_eq!(iinfo(DType::I8).min, -128);
/// assert_eq!(iinfo(DType::U64).max, u64::MAX.into());
/// ```
///
/// # Panics
/// Panics if the dtype is not an integer dtype.
#[track_caller]
pub fn iinfo(dtype: DType) -> IntInfo {
    assert!(
        dtype.is_integer(),
        "iinfo: {dtype} is not an integer dtype\n  help: use `finfo(dtype)` for the limits of \
         floats"
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

/// Returns whether every element of `from` can be represented by `to` (`jnp.can_cast` with
/// NumPy's rule for safe casts, which permits 64-bit integers to `f64`).
///
/// ```
/// use ramie_core::dtypes::can_cast;
/// use ramie_core::DType;
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

/// A set of dtypes, like NumPy's abstract types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DTypeKind {
    /// Booleans.
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
    /// Real and complex floating-point numbers, which are differentiable (`jnp.inexact`).
    Inexact,
    /// All dtypes except booleans (`jnp.number`).
    Number,
}

/// Returns whether a dtype is of a kind (`jnp.issubdtype`, `jnp.isdtype`).
///
/// ```
/// use ramie_core::dtypes::{issubdtype, DTypeKind};
/// use ramie_core::DType;
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
