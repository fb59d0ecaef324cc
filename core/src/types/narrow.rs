//! Elements of fewer than 16 bits that have no Rust type: 8-bit and 4-bit floats, 4-bit and 2-bit
//! integers. On the host each is stored in a byte.

use crate::dtypes::Scalar;
use crate::{DType, Element};
use bytemuck::NoUninit;
use std::fmt;

/// The representation of overflow and NaN in a format.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Has infinities and NaN as in IEEE 754.
    Ieee,
    /// NaN is all ones; there are no infinities.
    Finite,
    /// NaN has the bits of minus zero; there are no infinities.
    Unsigned0,
    /// No NaN and no infinities: values that are too large become the largest.
    Saturating,
    /// Powers of two only, without sign or zero; all ones is NaN.
    Power,
}

/// A floating-point format of at most eight bits.
#[derive(Clone, Copy)]
pub(crate) struct NarrowFloat {
    /// Number of stored fraction bits.
    fraction: u32,
    /// Exponent of the smallest normal number.
    min_exponent: i32,
    /// Bits of the largest number.
    largest: u8,
    sign: u8,
    kind: Kind,
}

impl NarrowFloat {
    /// Returns the format of a dtype, if it is a narrow float.
    pub(crate) const fn of(dtype: DType) -> Option<NarrowFloat> {
        let (fraction, min_exponent, largest, sign, kind) = match dtype {
            DType::F8E4M3Fn => (3, -6, 0x7E, 0x80, Kind::Finite),
            DType::F8E5M2 => (2, -14, 0x7B, 0x80, Kind::Ieee),
            DType::F8E4M3Fnuz => (3, -7, 0x7F, 0x80, Kind::Unsigned0),
            DType::F8E5M2Fnuz => (2, -15, 0x7F, 0x80, Kind::Unsigned0),
            DType::F8E8M0Fnu => (0, -127, 0xFE, 0, Kind::Power),
            DType::F4E2M1Fn => (1, 0, 0x07, 0x08, Kind::Saturating),
            _ => return None,
        };
        Some(NarrowFloat {
            fraction,
            min_exponent,
            largest,
            sign,
            kind,
        })
    }

    /// Returns whether the format has infinities.
    pub(crate) fn has_infinity(self) -> bool {
        self.kind == Kind::Ieee
    }

    /// Returns the number of stored fraction bits.
    pub(crate) fn fraction_bits(self) -> u32 {
        self.fraction
    }

    /// Returns the exponent of the smallest normal number.
    pub(crate) fn min_exponent(self) -> i32 {
        self.min_exponent
    }

    /// Returns the largest finite number.
    pub(crate) fn max(self) -> f64 {
        self.decode(self.largest)
    }

    /// Returns the smallest number: the negated largest, if the format has a sign.
    pub(crate) fn min(self) -> f64 {
        match self.kind {
            Kind::Power => self.decode(0),
            _ => -self.max(),
        }
    }

    /// Returns the bits of the nearest number; ties round to the number with an even last bit.
    pub(crate) fn encode(self, x: f64) -> u8 {
        if self.kind == Kind::Power {
            return self.encode_power(x);
        }
        let sign = if x.is_sign_negative() { self.sign } else { 0 };
        if x.is_nan() {
            return match self.kind {
                Kind::Ieee => 0x7E | sign,
                Kind::Finite => 0x7F | sign,
                Kind::Unsigned0 | Kind::Saturating | Kind::Power => self.sign,
            };
        }
        let size = x.abs();
        let exponent = exponent(size).max(self.min_exponent);
        let magnitude = if size.is_infinite() || exponent > 127 {
            i64::from(u8::MAX)
        } else {
            let quantum = f64::from(exponent - self.fraction as i32).exp2();
            let steps = (size / quantum).round_ties_even() as i64;
            (i64::from(exponent - self.min_exponent) << self.fraction) + steps
        };
        match (u8::try_from(magnitude), self.kind) {
            (Ok(0), Kind::Unsigned0) => 0,
            (Ok(bits), _) if bits <= self.largest => bits | sign,
            (_, Kind::Ieee) => 0x7C | sign,
            (_, Kind::Finite) => 0x7F | sign,
            (_, Kind::Saturating) => self.largest | sign,
            (_, Kind::Unsigned0 | Kind::Power) => self.sign,
        }
    }

    /// Returns the bits of the nearest power of two; ties round up.
    fn encode_power(self, x: f64) -> u8 {
        if x <= 0.0 || !x.is_finite() {
            return u8::MAX;
        }
        let exponent = exponent(x);
        let up = x / f64::from(exponent).exp2() >= 1.5;
        let biased = exponent.max(-1000) + i32::from(up) - self.min_exponent;
        u8::try_from(biased.max(0)).unwrap_or(u8::MAX)
    }

    /// Returns the number with these bits.
    pub(crate) fn decode(self, bits: u8) -> f64 {
        let magnitude = bits & !self.sign;
        let negative = bits & self.sign != 0;
        match self.kind {
            Kind::Power if bits == u8::MAX => return f64::NAN,
            Kind::Power => return f64::from(i32::from(bits) + self.min_exponent).exp2(),
            Kind::Unsigned0 if bits == self.sign => return f64::NAN,
            Kind::Ieee if magnitude == 0x7C => {
                return if negative {
                    f64::NEG_INFINITY
                } else {
                    f64::INFINITY
                };
            }
            Kind::Ieee | Kind::Finite if magnitude > self.largest => return f64::NAN,
            _ => {}
        }
        let one = 1 << self.fraction;
        let (field, rest) = (magnitude >> self.fraction, magnitude & (one - 1));
        let (steps, exponent) = match field {
            0 => (rest, self.min_exponent),
            n => (rest + one, self.min_exponent + i32::from(n) - 1),
        };
        let size = f64::from(steps) * f64::from(exponent - self.fraction as i32).exp2();
        if negative { -size } else { size }
    }
}

/// Returns the exponent of the largest power of two that is not above `x`; for zero and subnormal
/// numbers a value far below every format's range.
pub(crate) fn exponent(x: f64) -> i32 {
    ((x.to_bits() >> 52) & 0x7FF) as i32 - 1023
}

macro_rules! floats {
    ($($(#[$doc:meta])* $ty:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// ```
        #[doc = concat!("use ramie_core::dtypes::", stringify!($ty), ";")]
        #[doc = concat!("let x = ", stringify!($ty), "::from_f64(2.1);")]
        #[doc = concat!("assert_eq!(", stringify!($ty), "::from_bits(x.to_bits()).to_f64(), 2.0);")]
        /// ```
        #[derive(Clone, Copy, Default, NoUninit)]
        #[repr(transparent)]
        pub struct $ty(u8);

        impl $ty {
            const FORMAT: NarrowFloat = NarrowFloat::of(DType::$ty).expect("a narrow float");

            /// Returns the number with these bits.
            pub const fn from_bits(bits: u8) -> $ty {
                $ty(bits)
            }

            /// Returns the bits of the number.
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// Returns the nearest number of this type.
            pub fn from_f64(x: f64) -> $ty {
                $ty(Self::FORMAT.encode(x))
            }

            /// Converts the number exactly.
            pub fn to_f64(self) -> f64 {
                Self::FORMAT.decode(self.0)
            }
        }

        impl PartialEq for $ty {
            /// Compares like floats: NaN is not equal to itself.
            fn eq(&self, other: &$ty) -> bool {
                self.to_f64() == other.to_f64()
            }
        }

        impl fmt::Debug for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f64(), f)
            }
        }

        impl fmt::Display for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.to_f64(), f)
            }
        }

        impl From<$ty> for f64 {
            fn from(x: $ty) -> f64 {
                x.to_f64()
            }
        }

        impl Element for $ty {
            const DTYPE: DType = DType::$ty;
            fn read_with<E>(
                count: usize,
                fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
            ) -> Result<Vec<Self>, E> {
                Ok(u8::read_with(count, fill)?.into_iter().map($ty).collect())
            }
            fn to_scalar(self) -> Scalar {
                Scalar::Float(self.to_f64())
            }
        }
    )* };
}

floats! {
    /// An 8-bit float with 4 bits of exponent and 3 of fraction, up to ±448, with NaN but without
    /// infinities (`float8_e4m3fn`).
    F8E4M3Fn;
    /// An 8-bit float with 5 bits of exponent and 2 of fraction, up to ±57344, with NaN and
    /// infinities (`float8_e5m2`).
    F8E5M2;
    /// An 8-bit float with 4 bits of exponent and 3 of fraction, up to ±240, with one NaN, one
    /// zero and no infinities (`float8_e4m3fnuz`).
    F8E4M3Fnuz;
    /// An 8-bit float with 5 bits of exponent and 2 of fraction, up to ±57344, with one NaN, one
    /// zero and no infinities (`float8_e5m2fnuz`).
    F8E5M2Fnuz;
    /// An 8-bit power of two from 2⁻¹²⁷ to 2¹²⁷, or NaN: the scales of microscaling formats
    /// (`float8_e8m0fnu`).
    F8E8M0Fnu;
    /// A 4-bit float with 2 bits of exponent and 1 of fraction, up to ±6, without infinities or
    /// NaN (`float4_e2m1fn`).
    F4E2M1Fn;
}

macro_rules! integers {
    ($($(#[$doc:meta])* $ty:ident: $byte:ty, $scalar:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// ```
        #[doc = concat!("use ramie_core::dtypes::", stringify!($ty), ";")]
        #[doc = concat!("assert_eq!(", stringify!($ty), "::new(1).get(), 1);")]
        /// ```
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, NoUninit)]
        #[repr(transparent)]
        pub struct $ty($byte);

        impl $ty {
            /// Creates a number, wrapped into the range of the type.
            pub const fn new(value: $byte) -> $ty {
                const SPARE: u32 = 8 - DType::$ty.bits() as u32;
                $ty((value << SPARE) >> SPARE)
            }

            /// Returns the number.
            pub const fn get(self) -> $byte {
                self.0
            }
        }

        impl fmt::Debug for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl fmt::Display for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl Element for $ty {
            const DTYPE: DType = DType::$ty;
            fn read_with<E>(
                count: usize,
                fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
            ) -> Result<Vec<Self>, E> {
                let bytes = <$byte>::read_with(count, fill)?;
                Ok(bytes.into_iter().map($ty::new).collect())
            }
            fn to_scalar(self) -> Scalar {
                Scalar::$scalar(self.0.into())
            }
        }
    )* };
}

integers! {
    /// A 4-bit integer, from -8 to 7 (`int4`).
    I4: i8, Int;
    /// An unsigned 4-bit integer, from 0 to 15 (`uint4`).
    U4: u8, Uint;
    /// A 2-bit integer, from -2 to 1 (`int2`).
    I2: i8, Int;
    /// An unsigned 2-bit integer, from 0 to 3 (`uint2`).
    U2: u8, Uint;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_the_nearest_to_itself() {
        let floats = DType::ALL.into_iter().filter_map(NarrowFloat::of);
        for format in floats {
            for bits in 0..=u8::MAX {
                let x = format.decode(bits & (format.sign | format.largest | (format.largest + 1)));
                let again = format.decode(format.encode(x));
                assert!(again == x || (x.is_nan() && again.is_nan()), "{x} {again}");
            }
            assert_eq!(format.decode(format.largest), format.max());
        }
    }

    #[test]
    fn ties_go_to_even_and_overflow_is_of_the_format() {
        let bits = |dtype, x| NarrowFloat::of(dtype).map(|f| f.encode(x));
        assert_eq!(bits(DType::F8E4M3Fn, 464.0), Some(0x7E));
        assert_eq!(bits(DType::F8E4M3Fn, 465.0), Some(0x7F));
        assert_eq!(bits(DType::F8E5M2, 1e9), Some(0x7C));
        assert_eq!(bits(DType::F8E5M2Fnuz, -0.0), Some(0));
        assert_eq!(bits(DType::F4E2M1Fn, f64::INFINITY), Some(7));
        assert_eq!(bits(DType::F4E2M1Fn, 5.0), Some(6));
        assert_eq!(bits(DType::F8E8M0Fnu, 3.0), Some(129));
        assert_eq!(bits(DType::F8E8M0Fnu, 0.0), Some(255));
        assert_eq!(bits(DType::F8E8M0Fnu, 1e-45), Some(0));
        assert_eq!(I4::new(9).get(), -7);
        assert_eq!(U2::new(7).get(), 3);
    }
}
