//! Products added to other numbers, rounded once.

use super::{Kernel, ternary, ternary_wide};
use crate::ElementType;

/// The sums of a product `a b` and a number `c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    /// `a b + c`.
    Plus,
    /// `a b - c`.
    Minus,
    /// `c - a b`.
    From,
}

/// Returns the kernel of a sum for `f32` or `f64`. Without the instruction, a function of the C library
/// gives the same bits.
pub fn fused(sum: Sum, element: ElementType) -> Option<Kernel> {
    macro_rules! kernel {
        ($T:ty, $ternary:ident) => {
            match sum {
                Sum::Plus => Kernel::Static(|i, o| $ternary(i, o, |a: $T, b, c| a.mul_add(b, c))),
                Sum::Minus => {
                    Kernel::Static(|i, o| $ternary(i, o, |a: $T, b, c: $T| a.mul_add(b, -c)))
                }
                Sum::From => {
                    Kernel::Static(|i, o| $ternary(i, o, |a: $T, b, c| (-a).mul_add(b, c)))
                }
            }
        };
    }
    match element {
        ElementType::F32 => Some(kernel!(f32, ternary_wide)),
        ElementType::F64 => Some(kernel!(f64, ternary)),
        _ => None,
    }
}
