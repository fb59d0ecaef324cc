//! Mistakes with transformations of functions.

use crate::document::{Case, case, f32};
use ramie::*;

pub fn cases() -> Vec<Case> {
    vec![
        case("The gradient of an array", || {
            let square = |x: Array| &x * &x;
            grad(square)(f32(&[3]))
        }),
        case("The gradient with respect to integers", || {
            let square = |x: Array| (&x * &x).sum();
            grad(square)(Array::arange(3))
        }),
        case("The gradient with respect to a key", || {
            grad(|key: random::Key| random::normal(&key, &[], DType::F32))(random::key(0))
        }),
        case("A Jacobian with respect to complex numbers", || {
            jacfwd(|z: Array| z.abs())(complex(f32(&[3]), 1.0))
        }),
        case("A Jacobian of complex numbers", || {
            jacrev(|z: Array| z.square())(complex(f32(&[3]), 1.0))
        }),
        case("The gradient of an integer", || {
            grad(|x: Array| x.sum().astype(DType::I32))(f32(&[3]))
        }),
        case("A tangent of another shape", || {
            jvp(|x: Array| x.sin(), f32(&[3]), f32(&[2]))
        }),
        case("A tangent of another type", || {
            jvp(|x: Array| x.sin(), f32(&[3]), Array::arange(3))
        }),
        case(
            "A tangent for a linearized function that does not fit",
            || {
                let (_, push) = linearize(|x: Array| x.sin(), f32(&[3]));
                push(f32(&[4]))
            },
        ),
        case("A cotangent of another shape", || {
            let (_, pull) = vjp(|x: Array| x.sum(), f32(&[3]));
            pull(f32(&[3]))
        }),
        case("Transposing a function that is not linear", || {
            let double = linear_transpose(|x: Array| x.sin() * 2.0, f32(&[3]));
            double(f32(&[3]))
        }),
        case("Transposing the product of two linear values", || {
            let transposed = linear_transpose(|x: Array| &x * &x, f32(&[3]));
            transposed(f32(&[3]))
        }),
        case("Batches of different sizes", || {
            vmap(|x: Array, y: Array| x + y)(f32(&[3]), f32(&[4]))
        }),
        case("A batch of an array without axes", || {
            vmap(|x: Array| x.sin())(f32(&[]))
        }),
        case("A batch along an axis that is not there", || {
            vmap_axes(|x: Array| x.sin(), [Some(2)], 0)(f32(&[3, 4]))
        }),
        case("A batch of nothing", || {
            vmap_axes(|x: Array| x.sin(), [None], 0)(f32(&[3]))
        }),
        case("Results along an axis that is not there", || {
            vmap_axes(|x: Array| x.sin(), 0, 2)(f32(&[3]))
        }),
        case("Batch axes for too few arguments", || {
            vmap_axes(|x: Array, y: Array| x + y, [Some(0)], 0)
        }),
        case("A mistake inside a transformed function", || {
            let loss = |w: Array, x: Array| x.matmul(&w).sum();
            jit(grad(loss))(f32(&[3, 2]), f32(&[4, 5]))
        }),
    ]
}
