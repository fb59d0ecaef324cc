//! Mistakes with rules of one's own, axis names, callbacks and exports.

use crate::document::{Case, case, error, f32};
use ramie::*;

pub fn cases() -> Vec<Case> {
    vec![
        case("A rule that gives a result of another shape", || {
            let f = custom_jvp(
                |x: Array| x.sin(),
                |x: Array, dx: Array| (x.sin().sum(), dx),
            );
            grad(move |x: Array| f(x).sum())(f32(&[3]))
        }),
        case("A rule that gives a tangent of another shape", || {
            let f = custom_jvp(
                |x: Array| x.sin(),
                |x: Array, dx: Array| (x.sin(), dx.sum()),
            );
            grad(move |x: Array| f(x).sum())(f32(&[3]))
        }),
        case("A rule that gives a cotangent of another shape", || {
            let f = custom_vjp(
                |x: Array| x.sin(),
                |x: Array| (x.sin(), x.cos()),
                |cos: Array, ct: Array| (cos * ct).sum(),
            );
            grad(move |x: Array| f(x).sum())(f32(&[3]))
        }),
        case("Forward mode through a rule for reverse mode", || {
            let f = custom_vjp(
                |x: Array| x.sin(),
                |x: Array| (x.sin(), x.cos()),
                |cos: Array, ct: Array| cos * ct,
            );
            jvp(move |x: Array| f(x), f32(&[3]), f32(&[3]))
        }),
        case(
            "Differentiating what a function with a rule captures",
            || {
                grad(|w: Array| {
                    let f = custom_jvp(
                        {
                            let w = w.clone();
                            move |x: Array| x * &w
                        },
                        |x: Array, dx: Array| (x, dx),
                    );
                    f(w.clone())
                })(f32(&[]))
            },
        ),
        case("A batching rule that gives another type", || {
            let f = custom_vmap(
                |x: Array| x.sum(),
                |_: Mapped, x: Array| (x.sum_axes(&[0]), true),
            );
            vmap(move |x: Array| f(x))(f32(&[3, 2]))
        }),
        case(
            "A batch of what a function with a batching rule captures",
            || {
                vmap(|w: Array| {
                    let f = custom_vmap(
                        {
                            let w = w.clone();
                            move |x: Array| x * &w
                        },
                        |_: Mapped, x: Array| (x, true),
                    );
                    f(w.clone())
                })(f32(&[3]))
            },
        ),
        case("The gradient through a composite", || {
            let f = composite(|x: Array| x.sin(), "my.sine");
            grad(move |x: Array| f(x))(f32(&[]))
        }),
        case("A composite without a dialect", || {
            composite(|x: Array| x.sin(), "sine")
        }),
        case("A sum over an axis that has no name", || {
            psum(&f32(&[3]), "i")
        }),
        case("The place along an axis that has no name", || {
            vmap(|x: Array| x + axis_index("batch"))(f32(&[3]))
        }),
        case("The gradient through a callback", || {
            let double = |x: Array| x * 2.0;
            grad(move |x: Array| pure_callback(double, x.clone(), x))(f32(&[]))
        }),
        case("A batch of callbacks without a method", || {
            let double = |x: Array| x * 2.0;
            let result = Array::shape_dtype_struct(&[], DType::F32);
            vmap(move |x: Array| pure_callback(double, result.clone(), x))(f32(&[3]))
        }),
        error("Exporting a function that calls this process", || {
            let shout = jit(|x: Array| {
                debug::print("x = {}", &[&x]);
                x
            });
            core::export::export(&shout, (f32(&[3]),))
        }),
        error("Reading bytes that are no exported function", || {
            core::export::Exported::deserialize(b"not a program")
        }),
    ]
}
