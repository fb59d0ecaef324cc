//! Errors of gradients and `vmap`.

use crate::document::{Case, case, f32};
use ramie::numpy::complex;
use ramie::*;

pub fn cases() -> Vec<Case> {
    vec![
        case("grad: the function must return a scalar", || {
            let square = |x: Array| &x * &x;
            grad(square)(f32(&[3]))
        }),
        case(
            "grad: the differentiated argument is not floating-point",
            || {
                let square = |x: Array| (&x * &x).sum();
                grad(square)(Array::arange(3))
            },
        ),
        case("grad: the differentiated argument is a PRNG key", || {
            grad(|key: random::Key| random::normal(&key, &[], DType::F32))(random::key(0))
        }),
        case("jacfwd: the differentiated argument is complex", || {
            jacfwd(|z: Array| z.abs())(complex(f32(&[3]), 1.0))
        }),
        case(
            "hessian: the differentiated argument is not floating-point",
            || hessian(|x: Array| x.square().sum())(Array::arange(3)),
        ),
        case("jacrev: the result is complex", || {
            jacrev(|z: Array| z.square())(complex(f32(&[3]), 1.0))
        }),
        case(
            "grad: the function must return a floating-point scalar",
            || grad(|x: Array| x.sum().astype(DType::I32))(f32(&[3])),
        ),
        case("jvp: the tangent has another shape", || {
            jvp(|x: Array| x.sin(), f32(&[3]), f32(&[2]))
        }),
        case("jvp: the tangent has another dtype", || {
            jvp(|x: Array| x.sin(), f32(&[3]), Array::arange(3))
        }),
        case("linearize: the tangent has another shape", || {
            let (_, push) = linearize(|x: Array| x.sin(), f32(&[3]));
            push(f32(&[4]))
        }),
        case("vjp: the cotangent has another shape", || {
            let (_, pull) = vjp(|x: Array| x.sum(), f32(&[3]));
            pull(f32(&[3]))
        }),
        case("linear_transpose: the function is not linear", || {
            let double = linear_transpose(|x: Array| x.sin() * 2.0, f32(&[3]));
            double(f32(&[3]))
        }),
        case(
            "linear_transpose: a product of two operands is not linear",
            || {
                let transposed = linear_transpose(|x: Array| &x * &x, f32(&[3]));
                transposed(f32(&[3]))
            },
        ),
        case("vmap: batch sizes differ", || {
            vmap(|x: Array, y: Array| x + y)(f32(&[3]), f32(&[4]))
        }),
        case("vmap: a scalar has no axis to batch over", || {
            vmap(|x: Array| x.sin())(f32(&[]))
        }),
        case("vmap: in_axes out of range", || {
            vmap_with(|x: Array| x.sin(), [Some(2)])(f32(&[3, 4]))
        }),
        case("vmap: no argument has a batch axis", || {
            vmap_with(|x: Array| x.sin(), [None])(f32(&[3]))
        }),
        case("vmap: out_axis out of range", || {
            vmap_with(|x: Array| x.sin(), (0, 2))(f32(&[3]))
        }),
        case("vmap: in_axes has too few entries", || {
            vmap_with(|x: Array, y: Array| x + y, [Some(0)])
        }),
        case("jit and grad: an error inside the function", || {
            let loss = |w: Array, x: Array| x.matmul(&w).sum();
            jit(grad(loss))(f32(&[3, 2]), f32(&[4, 5]))
        }),
    ]
}
