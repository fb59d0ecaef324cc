//! Functions with derivatives of their own, and under `checkpoint`, inside of
//! control flow and of mapped axes.

use ramie_core::lax::{cond, fori_loop, psum, scan, switch};
use ramie_core::options::VmapOptions;
use ramie_core::{
    Array, CheckpointPolicy, DType, checkpoint, checkpoint_with, custom_jvp, custom_vjp, grad, jit,
    jvp, make_jaxpr, saved_residuals, vjp, vmap, vmap_with,
};
use ramie_testing::panic_message;
use std::sync::Arc;

type F1 = Box<dyn Fn(Array) -> Array + Send + Sync>;

/// sin with a derivative three times as large.
fn steep() -> [Arc<F1>; 2] {
    let by_jvp: F1 = custom_jvp(
        |x: Array| x.sin(),
        |x: Array, dx: Array| (x.sin(), x.cos() * dx * 3.0),
    );
    let by_vjp: F1 = custom_vjp(
        |x: Array| x.sin(),
        |x: Array| (x.sin(), x.cos()),
        |cos: Array, ct: Array| ct * cos * 3.0,
    );
    [Arc::new(by_jvp), Arc::new(by_vjp)]
}

fn x0() -> Array {
    Array::from(0.7f32)
}

#[track_caller]
fn close(got: &Array, want: &Array) {
    assert!(
        got.allclose_with(want, (1e-5, 1e-6)).item::<bool>(),
        "{got} {want}"
    );
}

/// The function three times, as a program of some kind.
fn three_times(f: Arc<F1>, kind: &'static str) -> F1 {
    Box::new(move |x: Array| {
        let f = f.clone();
        let ones = Array::ones(&[3], DType::F32);
        match kind {
            "scan" => scan(|c: Array, one: Array| (f(c * one), ()), x, ones).0,
            "fori_loop" => fori_loop(0, 3, |_, c: Array| f(c), x),
            "cond" => {
                let again = f.clone();
                let positive = x.gt(-10.0);
                let two = move |x: Array| again(again(x));
                f(cond(positive, two, |x: Array| x, x))
            }
            "jit" => {
                let again = f.clone();
                let two = jit(move |x: Array| again(again(x)));
                f(two(x))
            }
            "checkpoint" => checkpoint(move |x: Array| f(f(f(x))))(x),
            "vmap" => vmap(move |x: Array| f(f(f(x))))(x.expand_dims(&[0])).sum(),
            _ => f(f(f(x))),
        }
    })
}

const KINDS: [&str; 6] = ["scan", "fori_loop", "cond", "jit", "checkpoint", "vmap"];

#[test]
fn rules_hold_inside_of_programs() {
    for f in steep() {
        let plain = grad(three_times(f.clone(), "plain"));
        let curve = {
            let slope = grad(three_times(f.clone(), "plain"));
            grad(move |x: Array| slope(x))(x0())
        };
        let slope = plain(x0());
        let inner = 0.7f32.sin();
        let chain = 27.0 * 0.7f32.cos() * inner.cos() * inner.sin().cos();
        close(&slope, &Array::from(chain));
        for kind in KINDS {
            let make = || three_times(f.clone(), kind);
            close(&grad(make())(x0()), &slope);
            close(&jit(grad(make()))(x0()), &slope);
            let batch = Array::from([0.7f32, 0.1]);
            close(
                &vmap(grad(make()))(batch.clone()),
                &Array::from([chain, plain(Array::from(0.1f32)).item()]),
            );
            let batched = vmap(make());
            let (_, pull) = vjp(|x: Array| batched(x), batch);
            let pulled = pull(Array::ones(&[2], DType::F32));
            close(&pulled.take(&Array::from(0), 0), &slope);
            let first = grad(make());
            close(&grad(move |x: Array| first(x))(x0()), &curve);
        }
    }
    let [by_jvp, _] = steep();
    for kind in KINDS {
        let f = three_times(by_jvp.clone(), kind);
        let (_, dot) = jvp(|x: Array| f(x), x0(), Array::from(1.0f32));
        close(&dot, &grad(three_times(by_jvp.clone(), "plain"))(x0()));
    }
}

/// A loop over checkpointed steps keeps what they take, and no more.
#[test]
fn loops_of_checkpointed_steps_keep_their_arguments() {
    let step = |x: Array| x.sin().sin().sin();
    let kept = |f: fn(Array) -> Array| -> usize {
        let steps = move |x: Array| {
            scan(
                |c: Array, _: Array| (f(c), ()),
                x,
                Array::ones(&[5], DType::F32),
            )
            .0
        };
        let residuals = saved_residuals(steps)(x0());
        residuals.iter().map(|r| r.aval.size()).sum()
    };
    fn plain(x: Array) -> Array {
        x.sin().sin().sin()
    }
    fn recomputed(x: Array) -> Array {
        checkpoint(plain)(x)
    }
    fn dots(x: Array) -> Array {
        checkpoint_with(plain, CheckpointPolicy::new(|p, _| p.name() == "cos"))(x)
    }
    assert_eq!((kept(plain), kept(recomputed), kept(dots)), (15, 5, 15));
    for f in [plain, recomputed, dots] {
        let steps = move |x: Array| {
            scan(
                |c: Array, _: Array| (f(c), ()),
                x,
                Array::ones(&[5], DType::F32),
            )
            .0
        };
        let want = grad(move |x: Array| (0..5).fold(x, |x, _| step(x)))(x0());
        close(&jit(grad(steps))(x0()), &want);
    }
}

/// Rules may speak of a mapped axis, under which they are called.
#[test]
fn rules_speak_of_mapped_axes() {
    let mean = custom_vjp(
        |x: Array| psum(&x, "examples") / 3.0,
        |x: Array| (psum(&x, "examples") / 3.0, ()),
        |(), ct: Array| psum(&ct, "examples") * 10.0,
    );
    let options = VmapOptions {
        axis_name: Some("examples".into()),
        ..VmapOptions::default()
    };
    let mapped = vmap_with(move |x: Array| mean(x), options);
    let (out, pull) = vjp(|x: Array| mapped(x), Array::from([1.0f32, 2.0, 6.0]));
    close(&out, &Array::from([3.0f32, 3.0, 3.0]));
    close(
        &pull(Array::from([1.0f32, 0.0, 2.0])),
        &Array::from([30.0f32, 30.0, 30.0]),
    );
}

/// What a rule captures must outlive the program that is traced.
#[test]
fn rules_that_capture_values_of_a_program_are_refused() {
    let f = |x: Array| {
        let scale = x.cos().stop_gradient();
        let kept = scale.clone();
        let g = custom_jvp(
            move |y: Array| y * &scale,
            move |y: Array, dy: Array| (y * &kept, dy * &kept),
        );
        g(x)
    };
    let text = panic_message(|| grad(f)(x0()));
    assert!(
        text.contains("was used after its trace ended (leaked tracer)"),
        "{text}"
    );
    // As an argument it is no secret.
    let g = |x: Array| {
        let scale = x.cos().stop_gradient();
        let by_scale: Box<dyn Fn(Array, Array) -> Array + Send + Sync> = custom_jvp(
            |y: Array, scale: Array| y * scale,
            |(y, scale): (Array, Array), (dy, _): (Array, Array)| (y * &scale, dy * scale * 2.0),
        );
        by_scale(x, scale)
    };
    close(&grad(g)(x0()), &Array::from(2.0 * 0.7f32.cos()));
    assert!(make_jaxpr(g)(x0()).to_string().contains("custom_jvp_call"));
}

/// A rule that differentiates a choice: what the choice gives is known, and only
/// its tangent is linear, for all examples at once as for one.
#[test]
fn rules_that_choose_are_linearized_for_all_examples() {
    fn f(x: Array) -> Array {
        switch(1, &[&|x: Array| x.cos(), &|x| x.sin()], x)
    }
    let ruled = custom_jvp(f, |x: Array, dx: Array| jvp(f, x, dx));
    let all = vmap(move |x: Array| {
        let y = ruled(x);
        &y * &y
    });
    let x = Array::from([0.5f32, -1.0, 2.0]);
    let slopes = grad(move |x: Array| all(x).sum())(x.clone());
    for (slope, x) in slopes.to_vec::<f32>().iter().zip(x.to_vec::<f32>()) {
        let expected = 2.0 * x.sin() * x.cos();
        assert!((slope - expected).abs() < 1e-6, "{slope} {expected}");
    }
}
