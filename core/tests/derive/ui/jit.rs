//! Functions that `jit` and `grad` do not accept.
use ramie_core::{Array, grad, jit};

struct Settings;

fn main() {
    // A type that is not a tree.
    jit(|x: Array, _: Settings| x);
    // The state comes second.
    jit(|x: Array, count: &mut Array| *count += x);
    // More than eight arguments.
    type A = Array;
    jit(|a: A, _: A, _: A, _: A, _: A, _: A, _: A, _: A, _: A| a);
    // A boxed function that is not `Send + Sync`.
    let boxed: Box<dyn Fn(Array) -> Array> = Box::new(|x| x);
    jit(boxed);
    // A slice.
    grad(|x: &[Array]| x[0].sum());
}
