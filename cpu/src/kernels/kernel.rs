//! Kernels: one elementwise operation on a tile.

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

/// Computes a tile of a function of one operand.
pub fn unary<A: Pod, R: Pod>(inputs: &[&[u8]], output: &mut [u8], f: impl Fn(A) -> R) {
    let output: &mut [R] = bytemuck::cast_slice_mut(output);
    let a: &[A] = bytemuck::cast_slice(inputs[0]);
    for (o, &a) in output.iter_mut().zip(a) {
        *o = f(a);
    }
}

/// Computes a tile of a function of two operands.
pub fn binary<A: Pod, R: Pod>(inputs: &[&[u8]], output: &mut [u8], f: impl Fn(A, A) -> R) {
    let output: &mut [R] = bytemuck::cast_slice_mut(output);
    let a: &[A] = bytemuck::cast_slice(inputs[0]);
    let b: &[A] = bytemuck::cast_slice(inputs[1]);
    for (o, (&a, &b)) in output.iter_mut().zip(a.iter().zip(b)) {
        *o = f(a, b);
    }
}

impl Kernel {
    /// Returns the kernel that fills its output with an element.
    pub fn constant<R: Pod + Send + Sync>(value: R) -> Kernel {
        Kernel::Dynamic(Arc::new(move |_, output| {
            bytemuck::cast_slice_mut(output).fill(value)
        }))
    }

    /// Returns the kernel of a function of one operand.
    pub fn unary<A: Pod, R: Pod>(f: impl Fn(A) -> R + Send + Sync + 'static) -> Kernel {
        Kernel::Dynamic(Arc::new(move |inputs, output| unary(inputs, output, &f)))
    }

    /// Returns the kernel of a function of two operands.
    pub fn binary<A: Pod, R: Pod>(f: impl Fn(A, A) -> R + Send + Sync + 'static) -> Kernel {
        Kernel::Dynamic(Arc::new(move |inputs, output| binary(inputs, output, &f)))
    }

    /// Returns the kernel of a function of three operands.
    pub fn ternary<A: Pod, B: Pod, C: Pod, R: Pod>(
        f: impl Fn(A, B, C) -> R + Send + Sync + 'static,
    ) -> Kernel {
        Kernel::Dynamic(Arc::new(move |inputs, output| {
            let output: &mut [R] = bytemuck::cast_slice_mut(output);
            let n = output.len();
            let a: &[A] = &bytemuck::cast_slice(inputs[0])[..n];
            let b: &[B] = &bytemuck::cast_slice(inputs[1])[..n];
            let c: &[C] = &bytemuck::cast_slice(inputs[2])[..n];
            for (i, o) in output.iter_mut().enumerate() {
                *o = f(a[i], b[i], c[i]);
            }
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
