//! Errors of custom derivatives, collectives, callbacks and export.

use crate::document::{Case, case, error, f32};
use ramie::lax::{axis_index, composite, psum};
use ramie::typing::Mapped;
use ramie::*;

pub fn cases() -> Vec<Case> {
    vec![
        case(
            "custom_jvp: the rule returns a value of another shape",
            || {
                let f = custom_jvp(
                    |x: Array| x.sin(),
                    |x: Array, dx: Array| (x.sin().sum(), dx),
                );
                grad(move |x: Array| f(x).sum())(f32(&[3]))
            },
        ),
        case(
            "custom_jvp: the rule returns a tangent of another shape",
            || {
                let f = custom_jvp(
                    |x: Array| x.sin(),
                    |x: Array, dx: Array| (x.sin(), dx.sum()),
                );
                grad(move |x: Array| f(x).sum())(f32(&[3]))
            },
        ),
        case(
            "custom_vjp: the backward rule returns a cotangent of another shape",
            || {
                let f = custom_vjp(
                    |x: Array| x.sin(),
                    |x: Array| (x.sin(), x.cos()),
                    |cos: Array, ct: Array| (cos * ct).sum(),
                );
                grad(move |x: Array| f(x).sum())(f32(&[3]))
            },
        ),
        case(
            "custom_vjp: cannot be differentiated in forward mode",
            || {
                let f = custom_vjp(
                    |x: Array| x.sin(),
                    |x: Array| (x.sin(), x.cos()),
                    |cos: Array, ct: Array| cos * ct,
                );
                jvp(move |x: Array| f(x), f32(&[3]), f32(&[3]))
            },
        ),
        case(
            "custom_jvp: the function captures a differentiated value",
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
        case("custom_vmap: the rule returns another shape", || {
            let f = custom_vmap(
                |x: Array| x.sum(),
                |_: Mapped, x: Array| (x.sum_over(0), true),
            );
            vmap(move |x: Array| f(x))(f32(&[3, 2]))
        }),
        case("custom_vmap: the function captures a batched value", || {
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
        }),
        case("composite: no derivative", || {
            let f = composite(|x: Array| x.sin(), "my.sine");
            grad(move |x: Array| f(x))(f32(&[]))
        }),
        case("composite: not a valid operation name", || {
            composite(|x: Array| x.sin(), "sine")
        }),
        case("psum: no mapped axis has this name", || {
            psum(&f32(&[3]), "i")
        }),
        case("axis_index: no mapped axis has this name", || {
            vmap(|x: Array| x + axis_index("batch"))(f32(&[3]))
        }),
        case("pure_callback: no derivative", || {
            let double = |x: Array| x * 2.0;
            grad(move |x: Array| pure_callback(double, x.clone(), x))(f32(&[]))
        }),
        case("pure_callback: vmap requires a vmap method", || {
            let double = |x: Array| x * 2.0;
            let result = Array::shape_dtype_struct(&[], DType::F32);
            vmap(move |x: Array| pure_callback(double, result.clone(), x))(f32(&[3]))
        }),
        error(
            "export: the function calls functions of this process",
            || {
                let shout = jit(|x: Array| {
                    debug::print("x = {}", &[&x]);
                    x
                });
                core::export::export(&shout, (f32(&[3]),))
            },
        ),
        error(
            "Exported::deserialize: the bytes are damaged or truncated",
            || core::export::Exported::deserialize(b"not a program"),
        ),
    ]
}
