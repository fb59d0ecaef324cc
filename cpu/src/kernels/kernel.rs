//! Kernels: one elementwise operation on a tile.
#![allow(unsafe_code)]

use bytemuck::Pod;
use std::sync::Arc;

/// Computes the bytes of one output from those of the inputs, which have as many elements.
type Function = dyn Fn(&[&[u8]], &mut [u8]) + Send + Sync;

/// An elementwise operation on tiles of fixed element types.
#[derive(Clone)]
pub enum Kernel {
    /// A function without attributes.
    Static(fn(&[&[u8]], &mut [u8])),
    /// A function with attributes.
    Dynamic(Arc<Function>),
}

/// Defines the loop of a function over the elements of tiles, compiled for all processors of the platform
/// and for the vectors of most, which are used where they are.
macro_rules! tiles {
    ($(#[$doc:meta])* $name:ident, $($T:ident $x:ident $i:tt),*) => {
        $(#[$doc])*
        pub fn $name<$($T: Pod,)* R: Pod>(
            inputs: &[&[u8]],
            output: &mut [u8],
            f: impl Fn($($T),*) -> R,
        ) {
            #[inline(always)]
            fn each<$($T: Pod,)* R: Pod>(
                inputs: &[&[u8]],
                output: &mut [u8],
                f: impl Fn($($T),*) -> R,
            ) {
                let output: &mut [R] = bytemuck::cast_slice_mut(output);
                let n = output.len();
                $(let $x: &[$T] = &bytemuck::cast_slice(inputs[$i])[..n];)*
                for (i, o) in output.iter_mut().enumerate() {
                    *o = f($($x[i]),*);
                }
            }
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn wide<$($T: Pod,)* R: Pod>(
                    inputs: &[&[u8]],
                    output: &mut [u8],
                    f: impl Fn($($T),*) -> R,
                ) {
                    each(inputs, output, f);
                }
                if has_vectors() {
                    // SAFETY: the processor has the instructions.
                    return unsafe { wide(inputs, output, f) };
                }
            }
            each(inputs, output, f);
        }
    };
}

/// Returns whether the processor has the instructions of the loops for vectors.
#[cfg(target_arch = "x86_64")]
pub fn has_vectors() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

tiles! {
    /// Computes a tile of a function of one operand.
    unary, A a 0
}
tiles! {
    /// Computes a tile of a function of two operands.
    binary, A a 0, B b 1
}
tiles! {
    /// Computes a tile of a function of three operands.
    ternary, A a 0, B b 1, C c 2
}

#[expect(
    clippy::redundant_closure,
    reason = "a reference to a function would be called for each element"
)]
impl Kernel {
    /// Returns the kernel that fills its output with an element.
    pub fn constant<R: Pod + Send + Sync>(value: R) -> Kernel {
        Kernel::Dynamic(Arc::new(move |_, output| {
            bytemuck::cast_slice_mut(output).fill(value)
        }))
    }

    /// Returns the kernel of a function of one operand.
    pub fn unary<A: Pod, R: Pod>(f: impl Fn(A) -> R + Send + Sync + 'static) -> Kernel {
        Kernel::Dynamic(Arc::new(move |inputs, output| {
            unary(inputs, output, |a| f(a));
        }))
    }

    /// Returns the kernel of a function of two operands.
    pub fn binary<A: Pod, R: Pod>(f: impl Fn(A, A) -> R + Send + Sync + 'static) -> Kernel {
        Kernel::Dynamic(Arc::new(move |inputs, output| {
            binary(inputs, output, |a, b| f(a, b));
        }))
    }

    /// Returns the kernel of a function of three operands.
    pub fn ternary<A: Pod, B: Pod, C: Pod, R: Pod>(
        f: impl Fn(A, B, C) -> R + Send + Sync + 'static,
    ) -> Kernel {
        Kernel::Dynamic(Arc::new(move |inputs, output| {
            ternary(inputs, output, |a, b, c| f(a, b, c))
        }))
    }

    /// Computes a tile.
    pub fn call(&self, inputs: &[&[u8]], output: &mut [u8]) {
        match self {
            Kernel::Static(f) => f(inputs, output),
            Kernel::Dynamic(f) => f(inputs, output),
        }
    }

    /// Returns the kernel that copies its operand.
    pub fn identity() -> Kernel {
        Kernel::Static(|inputs, output| output.copy_from_slice(&inputs[0][..output.len()]))
    }
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Kernel")
    }
}
