//! Scalar values known on the host, and literals of jaxprs.

use crate::types::narrow::NarrowFloat;
use crate::{Aval, DType};
use half::{bf16, f16};
use num_complex::Complex;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A number or boolean without a fixed width. As an operand of an array it is weakly typed: it
/// adopts the array's dtype where possible.
///
/// ```
/// use ramie_core::dtypes::Scalar;
/// assert_eq!(Scalar::from(2.5f64), Scalar::Float(2.5));
/// assert_eq!(Scalar::from(7), Scalar::Int(7));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A boolean.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// A floating-point number.
    Float(f64),
    /// A complex number: its real and imaginary parts.
    Complex(f64, f64),
}

macro_rules! from {
    ($($v:ident: $($t:ty)*;)*) => { $($(
        impl From<$t> for Scalar {
            fn from(v: $t) -> Scalar { Scalar::$v(v.into()) }
        }
    )*)* };
}
from! { Bool: bool; Int: i8 i16 i32 i64; Uint: u8 u16 u32 u64; Float: f32 f64 f16 bf16; }
impl<T: Into<f64>> From<Complex<T>> for Scalar {
    fn from(v: Complex<T>) -> Scalar {
        Scalar::Complex(v.re.into(), v.im.into())
    }
}
impl From<usize> for Scalar {
    fn from(v: usize) -> Scalar {
        Scalar::Uint(v as u64)
    }
}

impl Scalar {
    /// Returns the weak dtype of the value as an operand: the default dtype of its kind, or a
    /// wider one for an integer that does not fit.
    pub fn weak_dtype(self) -> DType {
        match self {
            Scalar::Bool(_) => DType::Bool,
            Scalar::Int(v) if i32::try_from(v).is_ok() => DType::I32,
            Scalar::Uint(v) if i32::try_from(v).is_ok() => DType::I32,
            Scalar::Uint(v) if i64::try_from(v).is_err() => DType::U64,
            Scalar::Int(_) | Scalar::Uint(_) => DType::I64,
            Scalar::Float(_) => DType::F32,
            Scalar::Complex(..) => DType::C64,
        }
    }

    /// Converts the value to a 64-bit float; for a complex number, returns its real part.
    pub fn to_f64(self) -> f64 {
        match self {
            Scalar::Bool(v) => f64::from(u8::from(v)),
            Scalar::Int(v) => v as f64,
            Scalar::Uint(v) => v as f64,
            Scalar::Float(v) | Scalar::Complex(v, _) => v,
        }
    }

    /// Returns the imaginary part, which is zero unless the number is complex.
    pub fn imaginary(self) -> f64 {
        match self {
            Scalar::Complex(_, v) => v,
            _ => 0.0,
        }
    }

    fn to_bits_of(self, bits: u32) -> u64 {
        let wide = match self {
            Scalar::Bool(v) => u64::from(v),
            Scalar::Int(v) => v as u64,
            Scalar::Uint(v) => v,
            Scalar::Float(v) | Scalar::Complex(v, _) if v < 0.0 => v as i64 as u64,
            Scalar::Float(v) | Scalar::Complex(v, _) => v as u64,
        };
        if bits == 64 {
            wide
        } else {
            wide & ((1 << bits) - 1)
        }
    }

    /// Converts the value to the nearest value that `dtype` can represent. Integers wrap.
    pub fn cast(self, dtype: DType) -> Scalar {
        let bits = dtype.bits() as u32;
        if let Some(format) = NarrowFloat::of(dtype) {
            return Scalar::Float(format.decode(format.encode(self.to_f64())));
        }
        match dtype {
            DType::Bool => Scalar::Bool(match self {
                Scalar::Bool(v) => v,
                other => other.to_f64() != 0.0 || other.imaginary() != 0.0,
            }),
            DType::C64 | DType::C128 => {
                let part = |v: f64| Scalar::Float(v).cast(dtype.real()).to_f64();
                Scalar::Complex(part(self.to_f64()), part(self.imaginary()))
            }
            DType::BF16 => Scalar::Float(bf16::from_f64(self.to_f64()).to_f64()),
            DType::F16 => Scalar::Float(f16::from_f64(self.to_f64()).to_f64()),
            DType::F32 => Scalar::Float(f64::from(self.to_f64() as f32)),
            DType::F64 => Scalar::Float(self.to_f64()),
            d if d.is_unsigned() => Scalar::Uint(self.to_bits_of(bits)),
            _ => Scalar::Int((self.to_bits_of(bits) << (64 - bits)) as i64 >> (64 - bits)),
        }
    }

    /// Returns the bytes of the value as an element of `dtype`.
    pub fn to_bytes(self, dtype: DType) -> Vec<u8> {
        if let Some(format) = NarrowFloat::of(dtype) {
            return vec![format.encode(self.to_f64())];
        }
        if dtype.is_complex() {
            let part = |v: f64| Scalar::Float(v).to_bytes(dtype.real());
            return [part(self.to_f64()), part(self.imaginary())].concat();
        }
        match (dtype, self.cast(dtype)) {
            (DType::BF16, v) => bf16::from_f64(v.to_f64()).to_le_bytes().to_vec(),
            (DType::F16, v) => f16::from_f64(v.to_f64()).to_le_bytes().to_vec(),
            (DType::F32, v) => (v.to_f64() as f32).to_le_bytes().to_vec(),
            (DType::F64, v) => v.to_f64().to_le_bytes().to_vec(),
            (d, v) => v.to_bits_of(64).to_le_bytes()[..d.size()].to_vec(),
        }
    }

    fn key(self) -> (u8, u64, u64) {
        match self {
            Scalar::Bool(v) => (0, v.into(), 0),
            Scalar::Int(v) => (1, v as u64, 0),
            Scalar::Uint(v) => (2, v, 0),
            Scalar::Float(v) => (3, v.to_bits(), 0),
            Scalar::Complex(re, im) => (4, re.to_bits(), im.to_bits()),
        }
    }
}

/// A scalar constant in a jaxpr, with a dtype.
#[derive(Clone, Copy)]
pub struct Literal {
    value: Scalar,
    aval: Aval,
}

impl Literal {
    /// Creates a literal of `value` with a strong dtype.
    pub fn new(value: impl Into<Scalar>, dtype: DType) -> Literal {
        Literal {
            value: value.into().cast(dtype),
            aval: Aval::scalar(dtype),
        }
    }

    /// Creates a literal of `value` with a weak dtype. The value is not rounded, since the dtype
    /// that it adopts from an array may be wider.
    pub fn weak(value: impl Into<Scalar>, dtype: DType) -> Literal {
        Literal {
            value: value.into(),
            aval: Aval::scalar(dtype).with_weak_type(true),
        }
    }

    /// Returns the value. It is already rounded if the dtype is strong.
    pub fn value(&self) -> Scalar {
        self.value
    }

    /// Returns the abstract value, of shape `[]`.
    pub fn aval(&self) -> Aval {
        self.aval
    }

    /// Returns the value in the syntax of StableHLO's `dense<…>`.
    pub(crate) fn mlir(&self) -> String {
        let dtype = self.aval.dtype();
        if dtype.is_complex() {
            let part = |v: f64| Literal::new(v, dtype.real()).mlir();
            let (re, im) = (self.value.to_f64(), self.value.imaginary());
            return format!("({}, {})", part(re), part(im));
        }
        match self.value {
            Scalar::Complex(..) => unreachable!("literals of real types are real"),
            Scalar::Bool(v) => v.to_string(),
            Scalar::Int(v) => v.to_string(),
            Scalar::Uint(v) => v.to_string(),
            Scalar::Float(v) if v.is_finite() && !self.aval.dtype().is_narrow() => {
                let text = match self.aval.dtype() {
                    DType::F64 => format!("{v:e}"),
                    _ => format!("{:e}", v as f32),
                };
                // MLIR requires a fraction in every float: `1.0e0`, not `1e0`.
                match text.split_once('e') {
                    Some((m, e)) if !m.contains('.') => format!("{m}.0e{e}"),
                    _ => text,
                }
            }
            Scalar::Float(_) => {
                let bytes = self.value.to_bytes(self.aval.dtype());
                let digits: String = bytes.iter().rev().map(|b| format!("{b:02X}")).collect();
                format!("0x{digits}")
            }
        }
    }
}

impl PartialEq for Literal {
    fn eq(&self, other: &Self) -> bool {
        self.aval == other.aval && self.value.key() == other.value.key()
    }
}
impl Eq for Literal {}
impl Hash for Literal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.aval.hash(state);
        self.value.key().hash(state);
    }
}

impl fmt::Display for Scalar {
    /// Formats the value like Python.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Scalar::Bool(true) => f.write_str("True"),
            Scalar::Bool(false) => f.write_str("False"),
            Scalar::Int(v) => write!(f, "{v}"),
            Scalar::Uint(v) => write!(f, "{v}"),
            Scalar::Float(v) => f.write_str(&python_float(v)),
            Scalar::Complex(re, im) => f.write_str(&complex_text(re, im, python_float)),
        }
    }
}

/// Formats a float like Python's `repr`: the shortest digits that read back, in scientific
/// notation below 1e-4 and from 1e16 on.
pub(crate) fn python_float(v: f64) -> String {
    if v.is_nan() {
        return "nan".into();
    }
    if v.is_infinite() {
        return if v > 0.0 { "inf" } else { "-inf" }.into();
    }
    let magnitude = v.abs();
    if magnitude != 0.0 && !(1e-4..1e16).contains(&magnitude) {
        let text = format!("{v:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, digits) = match exponent.strip_prefix('-') {
            Some(d) => ('-', d),
            None => ('+', exponent),
        };
        return format!("{mantissa}e{sign}{digits:0>2}");
    }
    format!("{v:?}")
}

/// Formats a complex number like Python: `(1+2j)`, or `2j` if the real part is zero. Integral
/// parts have no decimal point.
pub(crate) fn complex_text(re: f64, im: f64, float: impl Fn(f64) -> String) -> String {
    let part = |v: f64| {
        let text = float(v);
        text.strip_suffix(".0").map(String::from).unwrap_or(text)
    };
    let plus = if im.is_sign_negative() && !im.is_nan() {
        ""
    } else {
        "+"
    };
    if re == 0.0 && re.is_sign_positive() {
        format!("{}j", part(im))
    } else {
        format!("({}{plus}{}j)", part(re), part(im))
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.value.cast(self.aval.dtype()), self.aval)
    }
}
impl fmt::Debug for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:?}", self.value.cast(self.aval.dtype()), self.aval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn casts_wrap_and_round() {
        assert_eq!(Scalar::Int(-1).cast(DType::U8), Scalar::Uint(255));
        assert_eq!(Scalar::Int(200).cast(DType::I8), Scalar::Int(-56));
        assert_eq!(Scalar::Float(-3.7).cast(DType::I32), Scalar::Int(-3));
        assert_eq!(
            Scalar::Float(0.1).cast(DType::F32),
            Scalar::Float(f64::from(0.1f32))
        );
        assert_eq!(Scalar::Int(-2).to_bytes(DType::I16), vec![0xFE, 0xFF]);
    }

    #[test]
    fn literals_print_as_in_a_jaxpr() {
        assert_eq!(Literal::new(2.0, DType::F32).to_string(), "2.0:f32[]");
        assert_eq!(
            Literal::new(0.1, DType::F32).to_string(),
            "0.10000000149011612:f32[]"
        );
        assert_eq!(python_float(1e-5), "1e-05");
        assert_eq!(python_float(1.5e20), "1.5e+20");
        assert_eq!(Literal::new(f32::INFINITY, DType::F32).mlir(), "0x7F800000");
        assert_eq!(Literal::new(1.0, DType::F32).mlir(), "1.0e0");
    }
}
