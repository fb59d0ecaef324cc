//! Optimizers that take more than gradients and parameters, or gradients that
//! are not finite, step by step against Optax; `tests/golden/optax_functions.py`
//! made the numbers.

use crate::common;

use common::{Tally, compare, golden_of, grid, mlp, problems};
use ramie_core::numpy::complex;
use ramie_core::random;
use ramie_core::{Array, DType, State, grad, jit, tree, vmap};
use ramie_optim::contrib::*;
use ramie_optim::*;
use serde_json::Value;

fn found(section: &str) -> Value {
    golden_of("optax_functions")["found"][section].clone()
}

/// Makes 20 steps and compares parameters after some and the state at the end;
/// `shown` are the parameters as Optax has them.
fn follow(
    what: &str,
    golden: &Value,
    tx: &GradientTransformation,
    params: State,
    step: impl Fn(State, OptState, &Array) -> (State, OptState) + Send + Sync + 'static,
    shown: impl Fn(&State) -> State,
    tolerance: f64,
) {
    let state = tx.init(&params);
    let once = jit(move |run: &mut (State, OptState), i: Array| {
        let state = std::mem::replace(&mut run.1, OptState::new(()));
        *run = step(run.0.clone(), state, &i);
    });
    let mut run = (params, state);
    let mut tally = Tally::default();
    let none = golden["spread"].is_null();
    let spread = |part: &str, step: &str| match none {
        // Of these it is not recorded how far Optax is from itself.
        true => Value::Null,
        false if step.is_empty() => golden["spread"][part].clone(),
        false => golden["spread"][part][step].clone(),
    };
    for i in 1..=20 {
        once(&mut run, Array::from(i - 1));
        let made = i.to_string();
        if let Some(params) = golden["params"].get(&made) {
            let what = format!("{what} after {i} steps");
            let spread = spread("params", &made);
            compare(
                &mut tally,
                &what,
                &shown(&run.0),
                params,
                &spread,
                Some(tolerance),
            );
        }
    }
    let spread = spread("state", "");
    compare(
        &mut tally,
        what,
        &run.1,
        &golden["state"],
        &spread,
        Some(2.0 * tolerance),
    );
    let differences = tally.differences;
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert_eq!(once.compilations(), 1, "{what}");
}

#[test]
fn slow_parameters_follow_fast_ones() {
    for (section, reset) in [("lookahead", false), ("lookahead_reset", true)] {
        let golden = found(section);
        for (name, objective, params) in problems() {
            let ahead = lookahead(adam(0.05), 4usize, 0.3);
            let ahead = if reset { ahead.reset_state() } else { ahead };
            let tx: GradientTransformation = ahead.into();
            let of_step = tx.clone();
            follow(
                &format!("{section}, {name}"),
                &golden[name],
                &tx,
                LookaheadParams::init_synced(&params).to_state(),
                move |params, state, i| {
                    let i = i.remainder(3);
                    let fast = LookaheadParams::from_state(&params).fast;
                    let grads = grad(|p: State| objective(&p, &i))(fast);
                    let (updates, state) = of_step.update(grads, state, Some(&params));
                    (apply_updates(&params, &updates), state)
                },
                State::clone,
                1e-6,
            );
        }
    }
}

#[test]
fn sharpness_within_one_call() {
    let climb = || chain((normalize(), sgd(0.05)));
    let steep = || GradientTransformation::from(sgd(0.002).momentum(0.5));
    let cases: [(&str, GradientTransformation, usize, bool); 3] = [
        ("sam_opaque", climb(), 2, true),
        ("sam_opaque_three", steep(), 3, true),
        ("sam_opaque_kept", steep(), 3, false),
    ];
    for (section, adversary, period, reset) in cases {
        let golden = found(section);
        for (name, objective, params) in problems() {
            let tx: GradientTransformation = sam(sgd(0.01).momentum(0.5), adversary.clone())
                .sync_period(period.into())
                .reset_state(reset)
                .opaque_mode()
                .into();
            let of_step = tx.clone();
            follow(
                &format!("{section}, {name}"),
                &golden[name],
                &tx,
                params,
                move |params, state, i| {
                    let i = i.remainder(3);
                    let grad_fn = |p: &State, _| grad(|p: State| objective(&p, &i))(p.clone());
                    let extra = ExtraArgs::new().grad_fn(&grad_fn);
                    let grads = grad_fn(&params, 0);
                    let (updates, state) = of_step.update_with(grads, state, Some(&params), &extra);
                    (apply_updates(&params, &updates), state)
                },
                State::clone,
                1e-6,
            );
        }
    }
}

/// The network's loss of one example of a batch.
fn of_example(params: &State, batch: &Array, example: &Array) -> Array {
    let classes: Vec<i32> = (0..18).map(|i| i % 3).collect();
    let pick = |x: Array| {
        let of_batch = x.dynamic_index_in_dim(batch, 0).squeeze(&[0]);
        of_batch.dynamic_index_in_dim(example, 0).squeeze(&[0])
    };
    let x = pick(grid(&[3, 6, 4], 1.0, 0.3));
    let y = pick(Array::from(classes).reshape(&[3, 6]));
    let at = |path: &str| params.get(path).expect(path);
    let h = (x.matmul(at("hidden.kernel")) + at("hidden.bias")).tanh();
    let logits = h.matmul(at("out.kernel")) + at("out.bias");
    softmax_cross_entropy_with_integer_labels(&logits, &y)
}

#[test]
fn private_gradients() {
    let [_, _, (_, _, params)] = problems();
    let descent = dpsgd(0.1)
        .l2_norm_clip(0.8)
        .noise_multiplier(0.3)
        .key(random::key(4))
        .momentum(0.9)
        .nesterov();
    let noisy = differentially_private_aggregate(0.5, 1.1, random::key(9));
    let cases: [(&str, GradientTransformation); 2] = [
        ("dpsgd", descent.into()),
        ("aggregate", chain((noisy, scale(-0.2)))),
    ];
    for (section, tx) in cases {
        let of_step = tx.clone();
        follow(
            section,
            &found(section),
            &tx,
            params.clone(),
            move |params, state, i| {
                let batch = i.remainder(3);
                let one = |k: Array| grad(|p: State| of_example(&p, &batch, &k))(params.clone());
                let grads = vmap(one)(Array::iota(&[6], 0, DType::I32));
                let (updates, state) = of_step.update(grads, state, Some(&params));
                (apply_updates(&params, &updates), state)
            },
            State::clone,
            2e-6,
        );
    }
}

#[test]
fn gradients_that_are_not_finite() {
    let mut bad = [0.0f32; 20];
    for (step, value) in [
        (2, f32::NAN),
        (5, f32::INFINITY),
        (6, f32::NAN),
        (7, f32::NEG_INFINITY),
        (8, f32::NAN),
        (12, f32::INFINITY),
    ] {
        bad[step] = value;
    }
    let [_, _, (_, _, params)] = problems();
    let cases: [(&str, GradientTransformation); 3] = [
        ("apply_if_finite", apply_if_finite(adam(0.05), 10)),
        (
            "skip_not_finite",
            multi_steps(adam(0.05), 2).skip(skip_not_finite).into(),
        ),
        ("zero_nans", chain((clip(1.0), zero_nans(), adam(0.05)))),
    ];
    for (section, tx) in cases {
        let of_step = tx.clone();
        follow(
            section,
            &found(section),
            &tx,
            params.clone(),
            move |params, state, i| {
                let batch = i.remainder(3);
                let grads = grad(|p: State| mlp(&p, &batch))(params.clone());
                let added = Array::from(bad).dynamic_index_in_dim(i, 0).squeeze(&[0]);
                let grads = grads.map(|g| g + &added);
                let (updates, state) = of_step.update(grads, state, Some(&params));
                (apply_updates(&params, &updates), state)
            },
            State::clone,
            1e-6,
        );
    }
}

/// After too many gradients that are not finite one after another they are let
/// through, so that the mistake shows.
#[test]
fn too_many_gradients_that_are_not_finite() {
    let params = State::from_iter([("w", Array::from([1.0f32, 2.0]))]);
    let tx = apply_if_finite(sgd(0.1), 2);
    let mut state = tx.init(&params);
    let bad = State::from_iter([("w", Array::from([f32::NAN, 1.0]))]);
    let mut seen = Vec::new();
    for _ in 0..4 {
        let (updates, next) = tx.update(bad.clone(), state, Some(&params));
        state = next;
        seen.push(updates.arrays()[0].to_vec::<f32>()[1]);
    }
    assert_eq!(seen, [0.0, 0.0, -0.1, -0.1]);
    let count = |name: &str| tree::paths(&state).iter().any(|p| p == name);
    assert!(count("notfinite_count") && count("total_notfinite"));
}

#[test]
fn complex_parameters_as_pairs() {
    let target = complex(grid(&[4], 1.0, 0.0), grid(&[4], 1.0, 1.0));
    let params = State::from_iter([
        ("x", grid(&[2], 1.0, 0.0)),
        ("z", complex(grid(&[4], 1.0, 0.5), grid(&[4], 1.0, 2.0))),
    ]);
    let tx = split_real_and_imaginary(adam(0.05));
    let of_step = tx.clone();
    follow(
        "complex",
        &found("complex"),
        &tx,
        params,
        move |params, state, _| {
            let objective = |p: State| {
                let (x, z) = (p.get("x").expect("x"), p.get("z").expect("z"));
                (z * z - &target).abs().square().sum() + x.square().sum()
            };
            let grads = ramie_optim::tree::conj(&grad(objective)(params.clone()));
            let (updates, state) = of_step.update(grads, state, Some(&params));
            (apply_updates(&params, &updates), state)
        },
        |params| {
            let z = params.get("z").expect("z");
            let x = params.get("x").expect("x").clone();
            State::from_iter([("x", x), ("real", z.real()), ("imaginary", z.imag())])
        },
        1e-6,
    );
}
