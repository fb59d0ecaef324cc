//! Mistakes with values that are not known, and with compiled functions.

use crate::document::{Case, case, error, f32};
use ramie::*;
use std::sync::Mutex;

pub fn cases() -> Vec<Case> {
    vec![
        case("Reading a value while it is traced", || {
            let f = jit(|x: Array| {
                let n = x.sum().item::<f32>();
                x * n
            });
            f(f32(&[3]))
        }),
        case("Choosing by a value that is traced", || {
            let f = grad(|x: Array| if x.gt(0).item::<bool>() { x } else { -x });
            f(f32(&[]))
        }),
        case("Reading elements while they are traced", || {
            vmap(|x: Array| Array::from(x.to_vec::<f32>()))(f32(&[3, 2]))
        }),
        case("Keeping a traced value for later", || {
            let kept = Mutex::new(None);
            jit(|x: Array| {
                *kept.lock().unwrap() = Some(x.sin());
                x
            })(f32(&[3]));
            let leaked = kept.into_inner().unwrap().unwrap();
            leaked + 1.0
        }),
        case("Returning a traced value of another function", || {
            let kept = Mutex::new(None);
            let keep = jit(|x: Array| *kept.lock().unwrap() = Some(x));
            keep(f32(&[3]));
            jit(|x: Array| (x, kept.lock().unwrap().clone().unwrap()))(f32(&[3]))
        }),
        case("A traced function that calls itself without end", || {
            fn factorial(n: Array) -> Array {
                jit(|n: Array| &n * factorial(&n - 1))(n)
            }
            factorial(Array::from(5))
        }),
        case("Moving a traced value to a device", || {
            jit(|x: Array| device_put(&x, devices()[0]))(f32(&[3]))
        }),
        error("Running a program for other arguments", || {
            let compiled = jit(|x: Array| x.sin()).compile((f32(&[3]),))?;
            compiled.run((f32(&[4]),))
        }),
    ]
}
