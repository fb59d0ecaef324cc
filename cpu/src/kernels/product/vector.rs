//! Vectors of processors.
//!
//! The functions of a vector are inlined into functions that are compiled for a processor which has it.

use bytemuck::Pod;
use std::ops::Add;

/// A type of real numbers.
pub trait Real: Pod + Send + Sync + Add<Output = Self> {
    /// Returns `self · a + b`.
    fn times_plus(self, a: Self, b: Self) -> Self;

    /// Returns `self - a`.
    fn minus(self, a: Self) -> Self;
}

macro_rules! real {
    ($T:ty) => {
        impl Real for $T {
            #[inline(always)]
            fn times_plus(self, a: $T, b: $T) -> $T {
                // Without the instruction, the function that rounds once is slow.
                if cfg!(target_arch = "aarch64") {
                    self.mul_add(a, b)
                } else {
                    self * a + b
                }
            }

            #[inline(always)]
            fn minus(self, a: $T) -> $T {
                self - a
            }
        }
    };
}

real!(f32);
real!(f64);

/// A vector of numbers.
///
/// # Safety
/// All functions need a processor that has the vector, and places in memory for all its elements.
pub trait Vector<T>: Copy {
    /// Number of elements.
    const LANES: usize;

    /// Returns a vector with one number in all places.
    unsafe fn splat(x: T) -> Self;

    /// Reads neighbors.
    unsafe fn load(from: *const T) -> Self;

    /// Writes neighbors.
    unsafe fn store(self, to: *mut T);

    /// Returns `self · a + b`, element by element.
    unsafe fn times_plus(self, a: Self, b: Self) -> Self;

    /// Returns `self + a`, element by element.
    unsafe fn plus(self, a: Self) -> Self;

    /// Returns `self - a`, element by element.
    unsafe fn minus(self, a: Self) -> Self;
}

#[cfg(target_arch = "x86_64")]
macro_rules! vector {
    ($V:ident, $T:ty, $lanes:literal, $splat:ident, $load:ident, $store:ident, $fused:ident, $add:ident, $sub:ident) => {
        impl Vector<$T> for $V {
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn splat(x: $T) -> $V {
                // SAFETY: the caller promises that the processor has the vector; the same below.
                unsafe { $splat(x) }
            }

            #[inline(always)]
            unsafe fn load(from: *const $T) -> $V {
                // SAFETY: the caller promises that the elements are readable.
                unsafe { $load(from) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $T) {
                // SAFETY: the caller promises that the elements are writable.
                unsafe { $store(to, self) }
            }

            #[inline(always)]
            unsafe fn times_plus(self, a: $V, b: $V) -> $V {
                // SAFETY: as above.
                unsafe { $fused(self, a, b) }
            }

            #[inline(always)]
            unsafe fn plus(self, a: $V) -> $V {
                // SAFETY: as above.
                unsafe { $add(self, a) }
            }

            #[inline(always)]
            unsafe fn minus(self, a: $V) -> $V {
                // SAFETY: as above.
                unsafe { $sub(self, a) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
mod x86 {
    use super::Vector;
    use std::arch::x86_64::*;

    vector!(__m256, f32, 8, _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_fmadd_ps, _mm256_add_ps, _mm256_sub_ps);
    vector!(__m256d, f64, 4, _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_fmadd_pd, _mm256_add_pd, _mm256_sub_pd);
    vector!(__m512, f32, 16, _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_fmadd_ps, _mm512_add_ps, _mm512_sub_ps);
    vector!(__m512d, f64, 8, _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_fmadd_pd, _mm512_add_pd, _mm512_sub_pd);
}

/// A vector of any processor, which the compiler chooses.
impl<T: Real, const N: usize> Vector<T> for [T; N] {
    const LANES: usize = N;

    #[inline(always)]
    unsafe fn splat(x: T) -> [T; N] {
        [x; N]
    }

    #[inline(always)]
    unsafe fn load(from: *const T) -> [T; N] {
        // SAFETY: the caller promises that the elements are readable.
        unsafe { *from.cast() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // SAFETY: the caller promises that the elements are writable.
        unsafe { *to.cast() = self }
    }

    #[inline(always)]
    unsafe fn times_plus(self, a: [T; N], b: [T; N]) -> [T; N] {
        std::array::from_fn(|i| self[i].times_plus(a[i], b[i]))
    }

    #[inline(always)]
    unsafe fn plus(self, a: [T; N]) -> [T; N] {
        std::array::from_fn(|i| self[i] + a[i])
    }

    #[inline(always)]
    unsafe fn minus(self, a: [T; N]) -> [T; N] {
        std::array::from_fn(|i| self[i].minus(a[i]))
    }
}
