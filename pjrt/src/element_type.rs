//! Element types of device buffers.

use std::fmt;

macro_rules! element_types {
    ($($variant:ident = $code:literal, $name:literal, $bytes:literal, $doc:literal;)*) => {
        /// The type of an element. The numbers are those of the PJRT ABI.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u32)]
        pub enum ElementType {
            $(#[doc = $doc] $variant = $code,)*
        }

        impl ElementType {
            /// All element types.
            pub const ALL: &'static [ElementType] = &[$(ElementType::$variant),*];

            /// Returns the element type with this number in the ABI.
            pub fn from_raw(code: u32) -> Option<ElementType> {
                match code { $($code => Some(ElementType::$variant),)* _ => None }
            }

            /// Returns the size of an element in host memory in bytes. Types narrower than a byte
            /// occupy a whole byte on the host.
            pub const fn byte_size(self) -> usize {
                match self { $(ElementType::$variant => $bytes,)* }
            }

            /// Returns `true` if an element occupies whole bytes on every device, as it does on
            /// the host.
            pub(crate) const fn is_whole_bytes(self) -> bool {
                use ElementType::{F4E2M1Fn, S2, S4, Token, U2, U4};
                !matches!(self, S2 | U2 | S4 | U4 | F4E2M1Fn | Token)
            }

            /// Returns the name in StableHLO text, such as `f32`, `i64` or `ui8`.
            pub const fn name(self) -> &'static str {
                match self { $(ElementType::$variant => $name,)* }
            }
        }
    };
}

element_types! {
    Pred = 1, "i1", 1, "A boolean, one byte of 0 or 1.";
    S8 = 2, "i8", 1, "Signed 8-bit integer.";
    S16 = 3, "i16", 2, "Signed 16-bit integer.";
    S32 = 4, "i32", 4, "Signed 32-bit integer.";
    S64 = 5, "i64", 8, "Signed 64-bit integer.";
    U8 = 6, "ui8", 1, "Unsigned 8-bit integer.";
    U16 = 7, "ui16", 2, "Unsigned 16-bit integer.";
    U32 = 8, "ui32", 4, "Unsigned 32-bit integer.";
    U64 = 9, "ui64", 8, "Unsigned 64-bit integer.";
    F16 = 10, "f16", 2, "IEEE half-precision float.";
    F32 = 11, "f32", 4, "IEEE single-precision float.";
    F64 = 12, "f64", 8, "IEEE double-precision float.";
    Bf16 = 13, "bf16", 2, "16-bit float, the upper half of an `f32`.";
    C64 = 14, "complex<f32>", 8, "Complex number of two `f32`: real and imaginary part.";
    C128 = 15, "complex<f64>", 16, "Complex number of two `f64`: real and imaginary part.";
    F8E5M2 = 16, "f8E5M2", 1, "8-bit float, 5 exponent and 2 mantissa bits, with infinities.";
    F8E4M3Fn = 17, "f8E4M3FN", 1, "8-bit float, 4 exponent and 3 mantissa bits, finite.";
    F8E4M3B11Fnuz = 18, "f8E4M3B11FNUZ", 1, "Like `F8E4M3Fnuz`, with exponent bias 11.";
    F8E5M2Fnuz = 19, "f8E5M2FNUZ", 1, "8-bit float, 5 exponent and 2 mantissa bits, finite, no \
                                       negative zero.";
    F8E4M3Fnuz = 20, "f8E4M3FNUZ", 1, "8-bit float, 4 exponent and 3 mantissa bits, finite, no \
                                       negative zero.";
    S4 = 21, "i4", 1, "Signed 4-bit integer.";
    U4 = 22, "ui4", 1, "Unsigned 4-bit integer.";
    Token = 23, "!stablehlo.token", 0, "An ordering token without data.";
    S2 = 24, "i2", 1, "Signed 2-bit integer.";
    U2 = 25, "ui2", 1, "Unsigned 2-bit integer.";
    F8E4M3 = 26, "f8E4M3", 1, "8-bit float, 4 exponent and 3 mantissa bits, with infinities.";
    F8E3M4 = 27, "f8E3M4", 1, "8-bit float, 3 exponent and 4 mantissa bits, with infinities.";
    F8E8M0Fnu = 28, "f8E8M0FNU", 1, "8-bit exponent without mantissa or sign.";
    F4E2M1Fn = 29, "f4E2M1FN", 1, "4-bit float, 2 exponent bits and 1 mantissa bit, finite.";
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_round_trip_and_unknown_ones_are_refused() {
        for &ty in ElementType::ALL {
            assert_eq!(ElementType::from_raw(ty as u32), Some(ty));
        }
        assert_eq!(ElementType::ALL.len(), 29);
        assert_eq!(ElementType::from_raw(0), None);
        assert_eq!(ElementType::from_raw(30), None);
    }

    #[test]
    fn sizes_are_those_of_host_memory() {
        assert_eq!(ElementType::Pred.byte_size(), 1);
        assert_eq!(ElementType::Bf16.byte_size(), 2);
        assert_eq!(ElementType::C128.byte_size(), 16);
        assert_eq!(ElementType::S4.byte_size(), 1);
    }
}
