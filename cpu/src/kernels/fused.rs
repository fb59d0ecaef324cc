//! Products added to other numbers, rounded once.
#![allow(unsafe_code)]

use super::Kernel;
use crate::ElementType;
use bytemuck::Pod;

#[inline(always)]
fn ternary<T: Pod>(inputs: &[&[u8]], output: &mut [u8], f: impl Fn(T, T, T) -> T) {
    let output: &mut [T] = bytemuck::cast_slice_mut(output);
    let [a, b, c] = [0, 1, 2].map(|i| bytemuck::cast_slice::<u8, T>(inputs[i]));
    for (o, ((&a, &b), &c)) in output.iter_mut().zip(a.iter().zip(b).zip(c)) {
        *o = f(a, b, c);
    }
}

/// Returns the kernel of a function of three numbers that uses `mul_add`.
macro_rules! kernel {
    ($T:ty, $f:expr) => {
        Kernel::Static(|inputs, output| {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn wide(inputs: &[&[u8]], output: &mut [u8]) {
                    ternary::<$T>(inputs, output, $f);
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the processor has the features of the function.
                    return unsafe { wide(inputs, output) };
                }
            }
            // Without the instructions, a function of the C library gives the same bits.
            ternary::<$T>(inputs, output, $f)
        })
    };
}

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

/// Returns the kernel of a sum for `f32` or `f64`.
pub fn fused(sum: Sum, element: ElementType) -> Option<Kernel> {
    Some(match (sum, element) {
        (Sum::Plus, ElementType::F32) => kernel!(f32, |a: f32, b, c| a.mul_add(b, c)),
        (Sum::Minus, ElementType::F32) => kernel!(f32, |a: f32, b, c: f32| a.mul_add(b, -c)),
        (Sum::From, ElementType::F32) => kernel!(f32, |a: f32, b, c| (-a).mul_add(b, c)),
        (Sum::Plus, ElementType::F64) => kernel!(f64, |a: f64, b, c| a.mul_add(b, c)),
        (Sum::Minus, ElementType::F64) => kernel!(f64, |a: f64, b, c: f64| a.mul_add(b, -c)),
        (Sum::From, ElementType::F64) => kernel!(f64, |a: f64, b, c| (-a).mul_add(b, c)),
        _ => return None,
    })
}
