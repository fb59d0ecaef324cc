//! Errors of tracing and `jit`.

use crate::document::{Case, case, error, f32};
use ramie::*;
use std::sync::Mutex;

pub fn cases() -> Vec<Case> {
    vec![
        case("item: the value is not known at trace time", || {
            let f = jit(|x: Array| {
                let n = x.sum().item::<f32>();
                x * n
            });
            f(f32(&[3]))
        }),
        case("if: the condition is not known at trace time", || {
            let f = grad(|x: Array| if x.gt(0).item::<bool>() { x } else { -x });
            f(f32(&[]))
        }),
        case("to_vec: the value is not known at trace time", || {
            vmap(|x: Array| Array::from(x.to_vec::<f32>()))(f32(&[3, 2]))
        }),
        case(
            "unique: the number of values is not known at trace time",
            || jit(|x: Array| x.unique())(f32(&[3])),
        ),
        case(
            "intersect1d: the number of values is not known at trace time",
            || jit(|x: Array, y: Array| x.intersect1d(&y))(f32(&[3]), f32(&[2])),
        ),
        case("jit: leaked tracer", || {
            let kept = Mutex::new(None);
            jit(|x: Array| {
                *kept.lock().unwrap() = Some(x.sin());
                x
            })(f32(&[3]));
            let leaked = kept.into_inner().unwrap().unwrap();
            leaked + 1.0
        }),
        case("jit: leaked tracer in the result", || {
            let kept = Mutex::new(None);
            let keep = jit(|x: Array| *kept.lock().unwrap() = Some(x));
            keep(f32(&[3]));
            jit(|x: Array| (x, kept.lock().unwrap().clone().unwrap()))(f32(&[3]))
        }),
        case("jit: infinite recursion", || {
            fn factorial(n: Array) -> Array {
                jit(|n: Array| &n * factorial(&n - 1))(n)
            }
            factorial(Array::from(5))
        }),
        case("device_get: the value is not known at trace time", || {
            jit(|x: Array| device_get(&x))(f32(&[3]))
        }),
        case("debug::print: a placeholder without an array", || {
            debug::print("{los:.3}", [("loss", &f32(&[]))])
        }),
        error(
            "Compiled::run: called with arguments for which it was not compiled",
            || {
                let compiled = jit(|x: Array| x.sin()).compile((f32(&[3]),))?;
                compiled.run((f32(&[4]),))
            },
        ),
    ]
}
