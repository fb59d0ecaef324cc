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

/// Defines a function over types of elements, compiled for all processors of the platform and for the
/// vectors of most, which are used where they are. After a slash, the name of the same function that is compiled
/// for AVX-512 too: for all kernels, the crate would take a fifth longer to compile.
macro_rules! vectorized {
    (
        $(#[$doc:meta])*
        $visibility:vis fn $name:ident<$($T:ident),*>($($x:ident: $type:ty),* $(,)?) $body:block
    ) => {
        $(#[$doc])*
        $visibility fn $name<$($T: bytemuck::Pod),*>($($x: $type),*) {
            #[inline(always)]
            fn plain<$($T: bytemuck::Pod),*>($($x: $type),*) $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn wide<$($T: bytemuck::Pod),*>($($x: $type),*) {
                    plain($($x),*);
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the processor has the instructions.
                    return unsafe { wide($($x),*) };
                }
            }
            plain($($x),*);
        }
    };
    (
        $(#[$doc:meta])*
        $visibility:vis fn $name:ident / $wide:ident<$($T:ident),*>($($x:ident: $type:ty),* $(,)?) $body:block
    ) => {
        vectorized! { $(#[$doc])* $visibility fn $name<$($T),*>($($x: $type),*) $body }
        $(#[$doc])*
        $visibility fn $wide<$($T: bytemuck::Pod),*>($($x: $type),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
                fn wide<$($T: bytemuck::Pod),*>($($x: $type),*) $body
                if *HAS_AVX512 {
                    // SAFETY: the processor has the instructions.
                    return unsafe { wide($($x),*) };
                }
            }
            $name($($x),*);
        }
    };
}
pub(super) use vectorized;

/// Whether the processor has the instructions of AVX-512 that vectorized loops use. To ask for each of them at every
/// call took 1.6 % of a step of `xor`.
#[cfg(target_arch = "x86_64")]
static HAS_AVX512: std::sync::LazyLock<bool> = std::sync::LazyLock::new(|| {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("fma")
});

// With indices in place of iterators, the compiler keeps checks of bounds, and computes up to 32 elements of each
// tile one by one.

vectorized! {
    /// Computes a tile of a function of one operand.
    pub fn unary/unary_wide<A, R>(inputs: &[&[u8]], output: &mut [u8], f: impl Fn(A) -> R) {
        let output: &mut [R] = bytemuck::cast_slice_mut(output);
        let a: &[A] = &bytemuck::cast_slice(inputs[0])[..output.len()];
        for (o, a) in output.iter_mut().zip(a) {
            *o = f(*a);
        }
    }
}

vectorized! {
    /// Computes a tile of a function of two operands.
    pub fn binary/binary_wide<A, B, R>(inputs: &[&[u8]], output: &mut [u8], f: impl Fn(A, B) -> R) {
        let output: &mut [R] = bytemuck::cast_slice_mut(output);
        let a: &[A] = &bytemuck::cast_slice(inputs[0])[..output.len()];
        let b: &[B] = &bytemuck::cast_slice(inputs[1])[..output.len()];
        for (o, (a, b)) in output.iter_mut().zip(a.iter().zip(b)) {
            *o = f(*a, *b);
        }
    }
}

vectorized! {
    /// Computes a tile of a function of three operands.
    pub fn ternary/ternary_wide<A, B, C, R>(inputs: &[&[u8]], output: &mut [u8], f: impl Fn(A, B, C) -> R) {
        let output: &mut [R] = bytemuck::cast_slice_mut(output);
        let a: &[A] = &bytemuck::cast_slice(inputs[0])[..output.len()];
        let b: &[B] = &bytemuck::cast_slice(inputs[1])[..output.len()];
        let c: &[C] = &bytemuck::cast_slice(inputs[2])[..output.len()];
        for (o, ((a, b), c)) in output.iter_mut().zip(a.iter().zip(b).zip(c)) {
            *o = f(*a, *b, *c);
        }
    }
}

vectorized! {
    /// Writes elements that are each repeated, from the repetition with number `start` on.
    pub fn repeat<T>(elements: &[T], times: usize, start: usize, target: &mut [T]) {
        let elements = &elements[start / times..];
        let first = (times - start % times).min(target.len());
        let (target, rest) = target.split_at_mut(first);
        target.fill(elements[0]);
        for (target, element) in rest.chunks_mut(times).zip(&elements[1..]) {
            target.fill(*element);
        }
    }
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

    /// Returns whether two kernels are known to be the same.
    pub fn is_same(&self, other: &Kernel) -> bool {
        match (self, other) {
            (Kernel::Static(a), Kernel::Static(b)) => std::ptr::fn_addr_eq(*a, *b),
            (Kernel::Dynamic(a), Kernel::Dynamic(b)) => Arc::ptr_eq(a, b),
            _ => false,
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
