//! Dtypes, and the Rust types of elements.

use bytemuck::NoUninit;
use half::{bf16, f16};
use num_complex::Complex;
use ramie_pjrt::ElementType;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The type of an array's elements.
///
/// ```
/// use ramie_core::DType;
/// assert_eq!(DType::BF16.size(), 2);
/// assert_eq!(DType::F32.to_string(), "f32");
/// assert!(DType::F16.is_float());
/// assert_eq!("float16".parse(), Ok(DType::F16));
/// assert_eq!("f16".parse(), Ok(DType::F16));
/// ```
///
/// In a configuration file, a dtype is its NumPy name, such as `"float32"`, which JAX and
/// Transformers read too. Short names are also read.
#[doc(alias = "DTypeLike")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum DType {
    /// Booleans, stored as one byte on the host.
    Bool,
    /// 8-bit signed integers.
    I8,
    /// 16-bit signed integers.
    I16,
    /// 32-bit signed integers, the default integer type.
    I32,
    /// 64-bit signed integers.
    I64,
    /// 8-bit unsigned integers.
    U8,
    /// 16-bit unsigned integers.
    U16,
    /// 32-bit unsigned integers.
    U32,
    /// 64-bit unsigned integers.
    U64,
    /// bfloat16: 8 exponent and 7 fraction bits.
    BF16,
    /// IEEE 754 half precision.
    F16,
    /// IEEE 754 single precision, the default floating-point type.
    F32,
    /// IEEE 754 double precision.
    F64,
    /// 8-bit floats: 4 exponent and 3 fraction bits, no infinities.
    F8E4M3Fn,
    /// 8-bit floats: 5 exponent and 2 fraction bits, with infinities.
    F8E5M2,
    /// 8-bit floats: 4 exponent and 3 fraction bits, no infinities and no negative zero.
    F8E4M3Fnuz,
    /// 8-bit floats: 5 exponent and 2 fraction bits, no infinities and no negative zero.
    F8E5M2Fnuz,
    /// 8-bit powers of two.
    F8E8M0Fnu,
    /// 4-bit floats: 2 exponent bits and 1 fraction bit, no infinities.
    F4E2M1Fn,
    /// 4-bit signed integers.
    I4,
    /// 4-bit unsigned integers.
    U4,
    /// 2-bit signed integers.
    I2,
    /// 2-bit unsigned integers.
    U2,
    /// Complex numbers with `f32` parts, the default complex type.
    C64,
    /// Complex numbers with `f64` parts.
    C128,
}

use DType::*;

impl DType {
    /// All dtypes, in the order of the enumeration.
    pub const ALL: [DType; 25] = [
        Bool, I8, I16, I32, I64, U8, U16, U32, U64, BF16, F16, F32, F64, F8E4M3Fn, F8E5M2,
        F8E4M3Fnuz, F8E5M2Fnuz, F8E8M0Fnu, F4E2M1Fn, I4, U4, I2, U2, C64, C128,
    ];

    /// Booleans and the real numbers that combine with each other without an explicit conversion:
    /// all dtypes except the [narrow](DType::is_narrow) and the complex dtypes.
    pub const COMMON: [DType; 13] = [
        Bool, I8, I16, I32, I64, U8, U16, U32, U64, BF16, F16, F32, F64,
    ];

    /// Returns the size of an element on the host in bytes.
    #[doc(alias = "itemsize")]
    pub const fn size(self) -> usize {
        match self {
            Bool | I8 | U8 | I4 | U4 | I2 | U2 => 1,
            F8E4M3Fn | F8E5M2 | F8E4M3Fnuz | F8E5M2Fnuz | F8E8M0Fnu | F4E2M1Fn => 1,
            I16 | U16 | BF16 | F16 => 2,
            I32 | U32 | F32 => 4,
            I64 | U64 | F64 | C64 => 8,
            C128 => 16,
        }
    }

    /// Returns the dtype itself, or a dtype of whole bytes that represents its numbers, for
    /// compilers that do not support elements smaller than a byte.
    pub(crate) const fn whole_bytes(self) -> DType {
        match self {
            F4E2M1Fn => F8E4M3Fn,
            U4 | U2 => U8,
            I4 | I2 => I8,
            other => other,
        }
    }

    /// Returns the number of bits of an element (8 for `Bool`).
    #[doc(alias = "itemsize_bits")]
    pub const fn bits(self) -> usize {
        match self {
            I4 | U4 | F4E2M1Fn => 4,
            I2 | U2 => 2,
            other => other.size() * 8,
        }
    }

    /// Returns `true` for floating-point dtypes, including narrow floats.
    pub const fn is_float(self) -> bool {
        matches!(self, BF16 | F16 | F32 | F64) || (self.is_narrow() && !self.is_integer())
    }

    /// Returns `true` for floats of at most eight bits and integers of less than eight bits.
    /// These dtypes are for storage: most combinations with other dtypes require an explicit
    /// conversion.
    pub const fn is_narrow(self) -> bool {
        self as usize > F64 as usize && !self.is_complex()
    }

    /// Returns `true` for complex dtypes.
    pub const fn is_complex(self) -> bool {
        matches!(self, C64 | C128)
    }

    /// Returns `true` for floats and complex numbers, the dtypes that are differentiable.
    pub const fn is_inexact(self) -> bool {
        self.is_float() || self.is_complex()
    }

    /// Returns the dtype of the real and imaginary parts. A real dtype is returned unchanged.
    ///
    /// ```
    /// use ramie_core::DType;
    /// assert_eq!(DType::C64.real(), DType::F32);
    /// ```
    pub const fn real(self) -> DType {
        match self {
            C64 => F32,
            C128 => F64,
            other => other,
        }
    }

    /// Returns the complex dtype with parts of this dtype: `C128` for `F64` and `C128`, otherwise
    /// `C64`.
    pub const fn complex(self) -> DType {
        match self {
            F64 | C128 => C128,
            _ => C64,
        }
    }

    /// Returns `true` for signed and unsigned integers, but not for `Bool`.
    pub const fn is_integer(self) -> bool {
        matches!(self, I8 | I16 | I32 | I64 | I4 | I2) || self.is_unsigned()
    }

    /// Returns `true` for dtypes that can represent negative real numbers.
    pub const fn is_signed(self) -> bool {
        match self {
            F8E8M0Fnu => false,
            I8 | I16 | I32 | I64 | I4 | I2 => true,
            other => other.is_float(),
        }
    }

    /// Returns `true` for unsigned integers.
    pub const fn is_unsigned(self) -> bool {
        matches!(self, U8 | U16 | U32 | U64 | U4 | U2)
    }

    /// Returns the short name, as in a printed jaxpr: `f32`, `bool`.
    pub const fn name(self) -> &'static str {
        match self {
            Bool => "bool",
            I8 => "i8",
            I16 => "i16",
            I32 => "i32",
            I64 => "i64",
            U8 => "u8",
            U16 => "u16",
            U32 => "u32",
            U64 => "u64",
            BF16 => "bf16",
            F16 => "f16",
            F32 => "f32",
            F64 => "f64",
            C64 => "c64",
            C128 => "c128",
            F8E4M3Fn => "f8_e4m3fn",
            F8E5M2 => "f8_e5m2",
            F8E4M3Fnuz => "f8_e4m3fnuz",
            F8E5M2Fnuz => "f8_e5m2fnuz",
            F8E8M0Fnu => "f8_e8m0fnu",
            F4E2M1Fn => "f4_e2m1fn",
            I4 => "i4",
            U4 => "u4",
            I2 => "i2",
            U2 => "u2",
        }
    }

    /// Returns NumPy's name: `float32`, `bool`.
    pub const fn numpy_name(self) -> &'static str {
        match self {
            Bool => "bool",
            I8 => "int8",
            I16 => "int16",
            I32 => "int32",
            I64 => "int64",
            U8 => "uint8",
            U16 => "uint16",
            U32 => "uint32",
            U64 => "uint64",
            BF16 => "bfloat16",
            F16 => "float16",
            F32 => "float32",
            F64 => "float64",
            C64 => "complex64",
            C128 => "complex128",
            F8E4M3Fn => "float8_e4m3fn",
            F8E5M2 => "float8_e5m2",
            F8E4M3Fnuz => "float8_e4m3fnuz",
            F8E5M2Fnuz => "float8_e5m2fnuz",
            F8E8M0Fnu => "float8_e8m0fnu",
            F4E2M1Fn => "float4_e2m1fn",
            I4 => "int4",
            U4 => "uint4",
            I2 => "int2",
            U2 => "uint2",
        }
    }

    /// Returns the name in StableHLO text: `f32`, `i1`, `ui8`.
    pub const fn mlir(self) -> &'static str {
        match self {
            Bool => "i1",
            U8 => "ui8",
            U16 => "ui16",
            U32 => "ui32",
            U64 => "ui64",
            C64 => "complex<f32>",
            C128 => "complex<f64>",
            U4 => "ui4",
            U2 => "ui2",
            F8E4M3Fn | F8E5M2 | F8E4M3Fnuz | F8E5M2Fnuz | F8E8M0Fnu | F4E2M1Fn => {
                self.element_type().name()
            }
            other => other.name(),
        }
    }

    /// Returns the corresponding type of the runtime.
    pub const fn element_type(self) -> ElementType {
        match self {
            Bool => ElementType::Pred,
            I8 => ElementType::S8,
            I16 => ElementType::S16,
            I32 => ElementType::S32,
            I64 => ElementType::S64,
            U8 => ElementType::U8,
            U16 => ElementType::U16,
            U32 => ElementType::U32,
            U64 => ElementType::U64,
            BF16 => ElementType::Bf16,
            F16 => ElementType::F16,
            F32 => ElementType::F32,
            F64 => ElementType::F64,
            C64 => ElementType::C64,
            C128 => ElementType::C128,
            F8E4M3Fn => ElementType::F8E4M3Fn,
            F8E5M2 => ElementType::F8E5M2,
            F8E4M3Fnuz => ElementType::F8E4M3Fnuz,
            F8E5M2Fnuz => ElementType::F8E5M2Fnuz,
            F8E8M0Fnu => ElementType::F8E8M0Fnu,
            F4E2M1Fn => ElementType::F4E2M1Fn,
            I4 => ElementType::S4,
            U4 => ElementType::U4,
            I2 => ElementType::S2,
            U2 => ElementType::U2,
        }
    }

    /// Returns the dtype for a type of the runtime, or `None` if Ramie does not support it.
    pub fn from_element_type(ty: ElementType) -> Option<DType> {
        DType::ALL.into_iter().find(|d| d.element_type() == ty)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Returns the dtype with a NumPy name, such as `float32`, or with a short name, such as `f32`.
impl FromStr for DType {
    type Err = String;

    fn from_str(text: &str) -> Result<DType, String> {
        let has_name = |d: &DType| d.numpy_name() == text || d.name() == text;
        DType::ALL.into_iter().find(has_name).ok_or_else(|| {
            let known = DType::ALL.map(DType::numpy_name).join(", ");
            format!("unknown dtype `{text}`, expected one of {known}, or a short name such as f32")
        })
    }
}

impl From<DType> for &'static str {
    fn from(dtype: DType) -> &'static str {
        dtype.numpy_name()
    }
}

impl TryFrom<String> for DType {
    type Error = String;

    fn try_from(name: String) -> Result<DType, String> {
        name.parse()
    }
}

/// A Rust type of array elements: `bool`, integers, `f32`, `f64`, the 16-bit floats of the `half`
/// crate, complex numbers of the `num-complex` crate, and the narrow types of this crate.
pub trait Element:
    NoUninit + Copy + Send + Sync + PartialEq + fmt::Debug + Default + 'static
{
    /// The corresponding dtype.
    const DTYPE: DType;
    /// Reads `count` elements from memory that `fill` writes in the format of a device: one byte
    /// for a boolean, otherwise the element itself.
    ///
    /// # Errors
    /// Returns the error of `fill`.
    fn read_with<E>(
        count: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<Vec<Self>, E>;
    /// Converts the value to a scalar literal.
    fn to_scalar(self) -> crate::dtypes::Scalar;
}

macro_rules! element {
    ($($t:ty, $d:ident, |$v:ident| $scalar:expr;)*) => { $(
        impl Element for $t {
            const DTYPE: DType = $d;
            fn read_with<E>(
                count: usize,
                fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
            ) -> Result<Vec<Self>, E> {
                let mut values = vec![<$t>::default(); count];
                fill(bytemuck::cast_slice_mut(&mut values))?;
                Ok(values)
            }
            fn to_scalar(self) -> crate::dtypes::Scalar { let $v = self; $scalar }
        }
    )* };
}
element! {
    i8, I8, |v| crate::dtypes::Scalar::Int(v.into());
    i16, I16, |v| crate::dtypes::Scalar::Int(v.into());
    i32, I32, |v| crate::dtypes::Scalar::Int(v.into());
    i64, I64, |v| crate::dtypes::Scalar::Int(v);
    u8, U8, |v| crate::dtypes::Scalar::Uint(v.into());
    u16, U16, |v| crate::dtypes::Scalar::Uint(v.into());
    u32, U32, |v| crate::dtypes::Scalar::Uint(v.into());
    u64, U64, |v| crate::dtypes::Scalar::Uint(v);
    bf16, BF16, |v| crate::dtypes::Scalar::Float(v.to_f64());
    f16, F16, |v| crate::dtypes::Scalar::Float(v.to_f64());
    f32, F32, |v| crate::dtypes::Scalar::Float(v.into());
    f64, F64, |v| crate::dtypes::Scalar::Float(v);
    Complex<f32>, C64, |v| crate::dtypes::Scalar::Complex(v.re.into(), v.im.into());
    Complex<f64>, C128, |v| crate::dtypes::Scalar::Complex(v.re, v.im);
}

impl Element for bool {
    const DTYPE: DType = Bool;
    fn read_with<E>(
        count: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<Vec<Self>, E> {
        let bytes = u8::read_with(count, fill)?;
        Ok(bytes.into_iter().map(|b| b != 0).collect())
    }
    fn to_scalar(self) -> crate::dtypes::Scalar {
        crate::dtypes::Scalar::Bool(self)
    }
}
