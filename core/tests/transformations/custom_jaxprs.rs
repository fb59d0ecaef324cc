//! Functions with derivatives of their own, and under `checkpoint`, print as
//! JAX's do.
//!
//! Each test is a program of `tests/golden/data/custom_jaxprs.json`, written
//! in Rust.

use ramie_core::lax::optimization_barrier;
use ramie_core::options::CheckpointOptions;
use ramie_core::*;
use ramie_testing::jaxprs;

type Pair = (Array, Array);

fn g(x: Array, y: Array) -> Array {
    x.sin() * y
}

fn g_jvp((x, y): Pair, (dx, dy): Pair) -> (Array, Array) {
    let out = x.sin() * &y;
    let dot = x.cos() * dx * y + x.sin() * dy;
    (out, dot)
}

fn g_fwd((x, y): Pair) -> (Array, (Array, Array, Array)) {
    let out = x.sin() * &y;
    (out, (x.cos(), x.sin(), y))
}

fn g_bwd((cos, sin, y): (Array, Array, Array), ct: Array) -> Pair {
    (cos * y * &ct, sin * ct)
}

fn sines(x: Array) -> Array {
    checkpoint_name(x.sin(), "a").sin().sin()
}

/// Called with the name that the recorded functions have.
mod inner {
    use super::{Array, Pair};

    pub fn g(x: Array, y: Array) -> Pair {
        (&x * y, x)
    }
    pub fn g_jvp(primals: Pair, tangents: Pair) -> (Pair, Pair) {
        (primals, tangents)
    }
}

ramie_testing::programs! {
    "custom_jaxprs";
    custom_jvp_call |x, y| vec![custom_jvp(g, g_jvp)(x, y) + 1.0];
    custom_jvp_jvp |x, y| {
        let g = custom_jvp(g, g_jvp);
        let (out, dot) = jvp(|x: Array| g(x, y.clone()), x, y.clone());
        vec![out, dot]
    };
    custom_jvp_captured |x, y| {
        fn g_jvp(x: Array, dx: Array) -> Pair {
            (x, dx)
        }
        let g = move |x: Array| x.sin() * &y;
        vec![custom_jvp(g, g_jvp)(x)]
    };
    custom_jvp_two_results |x, y| {
        let (a, b) = custom_jvp(inner::g, inner::g_jvp)(x, y);
        vec![a + b]
    };
    custom_vjp_call |x, y| vec![custom_vjp(g, g_fwd, g_bwd)(x, y) + 1.0];
    custom_vjp_vmap |x, y| {
        let g = custom_vjp(g, g_fwd, g_bwd);
        vec![vmap(move |x: Array, y: Array| g(x, y))(x, y)]
    };
    checkpoint_call |x| vec![checkpoint(sines)(x)];
    checkpoint_grad |x| {
        let f = checkpoint(sines);
        vec![grad(move |x: Array| f(x).sum())(x)]
    };
    checkpoint_named_grad |x| {
        let f = checkpoint_with(sines, CheckpointPolicy::save_only_these_names(["a"]));
        vec![grad(move |x: Array| f(x).sum())(x)]
    };
    checkpoint_vmap |x| {
        let options = CheckpointOptions { policy: None, prevent_cse: false };
        let f = checkpoint_with(sines, options);
        vec![vmap(move |x: Array| f(x))(x)]
    };
    checkpoint_jvp |x, t| {
        let f = checkpoint(sines);
        let (out, dot) = jvp(|x: Array| f(x), x, t);
        vec![out, dot]
    };
    checkpoint_dots |w, x| {
        let layers = |w: Array, x: Array| w.matmul(w.matmul(&x).tanh()).tanh();
        let f = checkpoint_with(layers, CheckpointPolicy::dots_saveable());
        vec![grad(move |w: Array, x: Array| f(w, x).sum())(w, x)]
    };
    barrier |x, y| {
        let (x, y) = optimization_barrier((x, y));
        vec![x, y]
    };
    barrier_grad |x| {
        let (_, pull) = vjp(|x: Array| optimization_barrier(x.sin()), x.clone());
        vec![pull(x)]
    };
}

/// The programs above are those of the file.
#[test]
fn every_program_is_checked() {
    assert_eq!(jaxprs::names("custom_jaxprs"), PROGRAMS);
}
