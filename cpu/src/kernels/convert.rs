//! Conversions between all element types.

use super::formats::{decode, encode, is_narrow};
use super::{Kernel, unary};
use crate::ElementType::{self, *};
use half::{bf16, f16};
use num_complex::Complex;

/// Kernels with the types of their results. Each converts the result of the one before it.
pub type Chain = Vec<(Kernel, ElementType)>;

/// Returns the kernel of a function of one operand without attributes.
macro_rules! tile {
    ($f:expr) => {
        Kernel::Static(|inputs, output| unary(inputs, output, $f))
    };
}

/// Runs an expression with `$T` as the Rust type of an integer element, or another expression.
macro_rules! with_integer {
    ($element:expr, $T:ident => $body:expr, _ => $else:expr) => {
        match $element {
            $crate::ElementType::I2 | $crate::ElementType::I4 | $crate::ElementType::I8 => {
                type $T = i8;
                $body
            }
            $crate::ElementType::I16 => {
                type $T = i16;
                $body
            }
            $crate::ElementType::I32 => {
                type $T = i32;
                $body
            }
            $crate::ElementType::I64 => {
                type $T = i64;
                $body
            }
            $crate::ElementType::U2 | $crate::ElementType::U4 | $crate::ElementType::U8 => {
                type $T = u8;
                $body
            }
            $crate::ElementType::U16 => {
                type $T = u16;
                $body
            }
            $crate::ElementType::U32 => {
                type $T = u32;
                $body
            }
            $crate::ElementType::U64 => {
                type $T = u64;
                $body
            }
            _ => $else,
        }
    };
}
pub(crate) use with_integer;

/// Runs an expression with `$T` as the unsigned integer of an integer element's width, or another
/// expression: for operations that do not depend on the sign.
macro_rules! with_bits {
    ($element:expr, $T:ident => $body:expr, _ => $else:expr) => {
        match $element {
            $crate::ElementType::I2
            | $crate::ElementType::I4
            | $crate::ElementType::I8
            | $crate::ElementType::U2
            | $crate::ElementType::U4
            | $crate::ElementType::U8 => {
                type $T = u8;
                $body
            }
            $crate::ElementType::I16 | $crate::ElementType::U16 => {
                type $T = u16;
                $body
            }
            $crate::ElementType::I32 | $crate::ElementType::U32 => {
                type $T = u32;
                $body
            }
            $crate::ElementType::I64 | $crate::ElementType::U64 => {
                type $T = u64;
                $body
            }
            _ => $else,
        }
    };
}
pub(crate) use with_bits;

/// Returns the number of bits of an integer narrower than a byte.
fn narrow_bits(element: ElementType) -> Option<u32> {
    matches!(element, I2 | I4 | U2 | U4).then_some(element.bits() as u32)
}

/// Returns the kernel that reduces bytes to the values of an integer type of 2 or 4 bits.
pub fn wrap(element: ElementType) -> Option<Kernel> {
    let shift = 8 - narrow_bits(element)?;
    Some(match element {
        I2 | I4 => Kernel::unary(move |x: i8| x << shift >> shift),
        _ => Kernel::unary(move |x: u8| x << shift >> shift),
    })
}

/// Returns the type in which a hub converts a type without loss: `i64`, `ui64`, `f64` or `complex<f64>`.
fn hub(element: ElementType) -> ElementType {
    match element {
        U64 => U64,
        C64 | C128 => C128,
        Bool | I2 | I4 | I8 | I16 | I32 | I64 | U2 | U4 | U8 | U16 | U32 => I64,
        _ => F64,
    }
}

fn to_hub(element: ElementType) -> Kernel {
    match element {
        U64 | I64 | F64 | C128 => Kernel::identity(),
        Bool => tile!(|x: u8| i64::from(x != 0)),
        Bf16 => tile!(|x: bf16| x.to_f64()),
        F16 => tile!(|x: f16| x.to_f64()),
        F32 => tile!(|x: f32| f64::from(x)),
        C64 => tile!(|x: Complex<f32>| Complex::new(f64::from(x.re), f64::from(x.im))),
        _ => with_integer!(element, T => tile!(|x: T| x as i64), _ => {
            Kernel::unary(move |x: u8| decode(element, x))
        }),
    }
}

/// A number of a hub.
trait Hub: bytemuck::Pod + PartialEq + Send + Sync {
    const ZERO: Self;
    fn f64(self) -> f64;
    fn f32(self) -> f32;
}

macro_rules! hubs {
    ($($T:ty),*) => {$(
        impl Hub for $T {
            const ZERO: Self = 0 as $T;
            fn f64(self) -> f64 { self as f64 }
            fn f32(self) -> f32 { self as f32 }
        }
    )*};
}

hubs!(i64, u64, f64);

/// Returns the kernel from a hub's numbers to a type of floats or complex numbers.
fn from_hub<H: Hub>(to: ElementType) -> Kernel {
    match to {
        Bool => tile!(|x: H| u8::from(x != H::ZERO)),
        Bf16 => tile!(|x: H| nearest_bf16(x.f64(), x.f32())),
        F16 => tile!(|x: H| f16::from_f64(x.f64())),
        F32 => tile!(|x: H| x.f32()),
        F64 => tile!(|x: H| x.f64()),
        C64 => tile!(|x: H| Complex::new(x.f32(), 0.0)),
        C128 => tile!(|x: H| Complex::new(x.f64(), 0.0)),
        _ => Kernel::unary(move |x: H| encode(to, x.f64())),
    }
}

/// Rounds once: from `f32` where that is exact, otherwise from `f64`.
fn nearest_bf16(exact: f64, single: f32) -> bf16 {
    if f64::from(single) == exact {
        bf16::from_f32(single)
    } else {
        bf16::from_f64(exact)
    }
}

/// Converts a float to an integer of 2 or 4 bits, which saturates.
fn saturated(bits: u32, signed: bool) -> Kernel {
    let (low, high) = if signed {
        (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1)
    } else {
        (0, (1i64 << bits) - 1)
    };
    Kernel::unary(move |x: f64| (x as i64).clamp(low, high) as i8)
}

/// Returns the direct kernels of conversions that occur often.
fn direct(from: ElementType, to: ElementType) -> Option<Kernel> {
    Some(match (from, to) {
        (F32, Bf16) => tile!(bf16::from_f32),
        (F32, F16) => tile!(f16::from_f32),
        (Bf16, F32) => tile!(bf16::to_f32),
        (F16, F32) => tile!(f16::to_f32),
        (F32, F64) => tile!(|x: f32| f64::from(x)),
        (F64, F32) => tile!(|x: f64| x as f32),
        (I32, F32) => tile!(|x: i32| x as f32),
        (U32, F32) => tile!(|x: u32| x as f32),
        (F32, I32) => tile!(|x: f32| x as i32),
        (Bool, F32) => tile!(|x: u8| f32::from(u8::from(x != 0))),
        (Bool, I32) => tile!(|x: u8| i32::from(x != 0)),
        (I32, U32) | (U32, I32) | (I64, U64) | (U64, I64) => Kernel::identity(),
        (I32, I64) => tile!(|x: i32| i64::from(x)),
        (I64, I32) => tile!(|x: i64| x as i32),
        (C64, F32) => tile!(|x: Complex<f32>| x.re),
        (F32, C64) => tile!(|x: f32| Complex::new(x, 0.0)),
        _ if is_narrow(from) && to == F32 => Kernel::unary(move |x: u8| decode(from, x) as f32),
        _ if is_narrow(to) && from == F32 => Kernel::unary(move |x: f32| encode(to, f64::from(x))),
        _ => return None,
    })
}

/// Returns the kernels that convert elements: integers wrap, floats are rounded to even, floats to
/// integers toward zero with saturation, complex numbers lose their imaginary part.
pub fn convert(from: ElementType, to: ElementType) -> Chain {
    if from == to {
        return vec![(Kernel::identity(), to)];
    }
    if let Some(kernel) = direct(from, to) {
        return vec![(kernel, to)];
    }
    let mut chain = vec![(to_hub(from), hub(from))];
    if hub(from) == C128 {
        match to {
            C64 => {
                chain.push((
                    tile!(|x: Complex<f64>| Complex::new(x.re as f32, x.im as f32)),
                    C64,
                ));
                return chain;
            }
            C128 => return chain,
            _ => chain.push((tile!(|x: Complex<f64>| x.re), F64)),
        }
    }
    let middle = chain.last().map_or(from, |(_, e)| *e);
    let last = match (middle, narrow_bits(to)) {
        (F64, Some(bits)) => saturated(bits, matches!(to, I2 | I4)),
        (F64, None) => {
            with_integer!(to, T => tile!(|x: f64| x as T), _ => from_hub::<f64>(to))
        }
        (I64, _) => {
            with_integer!(to, T => tile!(|x: i64| x as T), _ => from_hub::<i64>(to))
        }
        _ => with_integer!(to, T => tile!(|x: u64| x as T), _ => from_hub::<u64>(to)),
    };
    chain.push((last, to));
    if let Some(wrap) = wrap(to).filter(|_| middle != F64) {
        chain.push((wrap, to));
    }
    chain
}
