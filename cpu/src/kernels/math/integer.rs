//! Functions of integers, with XLA's results for divisions by zero and wide shifts.

use bytemuck::Pod;

/// An integer type.
pub trait Integer: Pod + Ord + Send + Sync {
    /// Zero.
    const ZERO: Self;
    /// Number of bits.
    const BITS: u32;
    /// Returns the quotient toward zero. All bits are set if the divisor is zero.
    fn quotient(self, divisor: Self) -> Self;
    /// Returns the remainder with the dividend's sign, the dividend if the divisor is zero.
    fn remainder(self, divisor: Self) -> Self;
    /// Returns the power, which wraps.
    fn power(self, exponent: Self) -> Self;
    /// Returns -1, 0 or 1.
    fn sign(self) -> Self;
    /// Returns the magnitude, which wraps.
    fn magnitude(self) -> Self;
    /// Shifts left. Wide shifts give zero.
    fn shift_left(self, count: Self) -> Self;
    /// Shifts right and inserts zeros.
    fn shift_logical(self, count: Self) -> Self;
    /// Shifts right and repeats the sign.
    fn shift_arithmetic(self, count: Self) -> Self;
    /// Returns the upper half of the product of double width.
    fn high_product(self, other: Self) -> Self;
}

/// Raises by repeated squaring; the exponent is not negative.
macro_rules! squaring {
    ($base:expr, $exponent:expr) => {{
        let (mut base, mut exponent, mut result) = ($base, $exponent, 1);
        while exponent != 0 {
            if exponent & 1 != 0 {
                result = base.wrapping_mul(result);
            }
            base = base.wrapping_mul(base);
            exponent >>= 1;
        }
        result
    }};
}

macro_rules! signed {
    ($($T:ty, $U:ty);*) => {$(
        impl Integer for $T {
            const ZERO: Self = 0;
            const BITS: u32 = <$T>::BITS;
            fn quotient(self, divisor: Self) -> Self {
                if divisor == 0 { -1 } else { self.wrapping_div(divisor) }
            }
            fn remainder(self, divisor: Self) -> Self {
                if divisor == 0 { self } else { self.wrapping_rem(divisor) }
            }
            fn power(self, exponent: Self) -> Self {
                if exponent >= 0 {
                    return squaring!(self, exponent);
                }
                match self {
                    1 => 1,
                    -1 => if exponent & 1 == 0 { 1 } else { -1 },
                    _ => 0,
                }
            }
            fn sign(self) -> Self { self.signum() }
            fn magnitude(self) -> Self { self.wrapping_abs() }
            fn shift_left(self, count: Self) -> Self { (self as $U).shift_left(count as $U) as $T }
            fn shift_logical(self, count: Self) -> Self { (self as $U).shift_logical(count as $U) as $T }
            fn shift_arithmetic(self, count: Self) -> Self {
                self >> (count as $U).min(<$U>::BITS as $U - 1)
            }
            fn high_product(self, other: Self) -> Self {
                ((self as i128 * other as i128) >> <$T>::BITS) as $T
            }
        }
    )*};
}

macro_rules! unsigned {
    ($($T:ty, $S:ty);*) => {$(
        impl Integer for $T {
            const ZERO: Self = 0;
            const BITS: u32 = <$T>::BITS;
            fn quotient(self, divisor: Self) -> Self {
                self.checked_div(divisor).unwrap_or(<$T>::MAX)
            }
            fn remainder(self, divisor: Self) -> Self {
                if divisor == 0 { self } else { self % divisor }
            }
            fn power(self, exponent: Self) -> Self { squaring!(self, exponent) }
            fn sign(self) -> Self { (self != 0) as $T }
            fn magnitude(self) -> Self { self }
            fn shift_left(self, count: Self) -> Self {
                if count < <$T>::BITS as $T { self << count } else { 0 }
            }
            fn shift_logical(self, count: Self) -> Self {
                if count < <$T>::BITS as $T { self >> count } else { 0 }
            }
            fn shift_arithmetic(self, count: Self) -> Self {
                ((self as $S) >> count.min(<$T>::BITS as $T - 1)) as $T
            }
            fn high_product(self, other: Self) -> Self {
                ((self as u128 * other as u128) >> <$T>::BITS) as $T
            }
        }
    )*};
}

signed!(i8, u8; i16, u16; i32, u32; i64, u64);
unsigned!(u8, i8; u16, i16; u32, i32; u64, i64);
