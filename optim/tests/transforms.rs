//! Optimizers within scan, vmap and programs over a mesh.

mod common;

use common::{Run, close, mlp, problems, some_optimizers};
use ramie_core::{Array, DType, State, grad, jit, scan, vmap};
use ramie_optim::*;

/// Twelve steps, one after another.
fn loop_of_steps(tx: &GradientTransformation, first: Run) -> Run {
    let tx = tx.clone();
    let step = jit(move |run: &mut Run| {
        let taken = std::mem::replace(run, Run::new(&identity(), &State::new()));
        *run = taken.advance(&tx, mlp);
    });
    let mut run = first;
    for _ in 0..12 {
        step(&mut run);
    }
    run
}

fn network() -> State {
    let [_, _, (_, _, params)] = problems();
    params
}

#[test]
fn a_scan_makes_the_steps_of_a_loop() {
    for (name, tx) in some_optimizers() {
        let expected = loop_of_steps(&tx, Run::new(&tx, &network()));
        let of_scan = tx.clone();
        let whole = jit(move |run: Run| {
            let body = |run: Run, _: Array| (run.advance(&of_scan, mlp), ());
            scan(body, run, Array::iota(&[12], 0, DType::I32)).0
        });
        let got = whole(Run::new(&tx, &network()));
        close(name, &State::of(&got), &State::of(&expected));
    }
}

#[test]
fn vmap_trains_with_a_batch_of_learning_rates() {
    let objective = |p: State| p.arrays()[0].square().sum();
    let train = move |rate: Array| {
        let tx: GradientTransformation = adamw(rate).weight_decay(0.1).into();
        let mut params = State::from_iter([("w", Array::from([1.0f32, -2.0]))]);
        let mut state = tx.init(&params);
        for _ in 0..3 {
            let (updates, next) = tx.update(grad(objective)(params.clone()), state, Some(&params));
            params = apply_updates(&params, &updates);
            state = next;
        }
        (params, state)
    };
    let rates = [0.01f32, 0.1, 0.5];
    let (params, state) = vmap(train)(Array::from(rates));
    for (i, rate) in rates.into_iter().enumerate() {
        let (alone, alone_state) = train(Array::from(rate));
        let one = |all: &State| all.map(|a| a.index(i as isize));
        close("params", &one(&params), &alone);
        close("state", &one(&State::of(&state)), &State::of(&alone_state));
    }
}

#[test]
fn hyperparameters_change_without_a_new_program() {
    let rates = [("learning_rate", 0.1)];
    let tx: GradientTransformation =
        inject_hyperparams(rates, |h| sgd(h.get("learning_rate"))).into();
    let params = State::from_iter([("w", Array::from(1.0f32))]);
    let mut state = tx.init(&params);
    let step = jit(move |state: &mut OptState, grads: State| {
        let taken = std::mem::replace(state, OptState::new(()));
        let (updates, next) = tx.update(grads, taken, None);
        *state = next;
        updates
    });
    let update = |state: &mut OptState| step(state, params.clone()).arrays()[0].item::<f32>();
    assert_eq!(update(&mut state), -0.1);
    tree::set(&mut state, "hyperparams.learning_rate", 0.5);
    assert_eq!(update(&mut state), -0.5);
    let rate = tree::get(&state, "learning_rate").expect("it is in the state");
    assert_eq!((rate.item::<f32>(), step.compilations()), (0.5, 1));
}
