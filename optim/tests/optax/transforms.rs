//! Every optimizer within scan and vmap makes the steps that it makes alone.

use crate::common;

use common::table::{GROUPS, Table, table, with_rate};
use common::{Run, close, grid, mlp, problems};
use ramie_core::lax::scan;
use ramie_core::{Array, DType, State, jit, vmap};
use ramie_optim::*;

fn network() -> State {
    let [_, _, (_, _, params)] = problems();
    params
}

/// How far apart roundings to a narrow type may take an optimizer.
fn tolerance(name: &str) -> f32 {
    if name.contains("bf16") { 2e-3 } else { 2e-5 }
}

/// Steps of several optimizers, one after another.
fn loop_of_steps(group: &str, steps: usize) -> Vec<Run> {
    let optimizers = table(group);
    let start = |(_, tx): &(&str, GradientTransformation)| Run::new(tx, &network());
    let mut runs: Vec<Run> = optimizers.iter().map(start).collect();
    let step = jit(move |runs: &mut Vec<Run>| {
        let taken = std::mem::take(runs).into_iter();
        let next = taken
            .zip(&optimizers)
            .map(|(run, (_, tx))| run.advance(tx, mlp));
        *runs = next.collect();
    });
    for _ in 0..steps {
        step(&mut runs);
    }
    runs
}

fn a_scan_makes_the_steps_of_a_loop(group: &str) {
    let steps = 6;
    let expected = loop_of_steps(group, steps);
    let optimizers = table(group);
    let names: Vec<&str> = optimizers.iter().map(|(name, _)| *name).collect();
    let whole = jit(move |runs: Vec<Run>| -> Vec<Run> {
        let each = runs.into_iter().zip(&optimizers);
        each.map(|(run, (_, tx))| {
            let body = |run: Run, _: Array| (run.advance(tx, mlp), ());
            scan(body, run, Array::iota(&[steps], 0, DType::I32)).0
        })
        .collect()
    });
    let start = |(_, tx): &(&str, GradientTransformation)| Run::new(tx, &network());
    let got = whole(table(group).iter().map(start).collect());
    assert_eq!(got.len(), names.len());
    for ((name, got), expected) in names.iter().zip(&got).zip(&expected) {
        close(name, &State::of(got), &State::of(expected), tolerance(name));
    }
}

macro_rules! scans {
    ($($test:ident $group:literal;)*) => {
        $(
            #[test]
            fn $test() {
                a_scan_makes_the_steps_of_a_loop($group);
            }
        )*
        #[test]
        fn every_group_is_scanned() {
            assert_eq!(GROUPS, [$($group),*]);
        }
    };
}

scans! {
    a_scan_of_descent "descent";
    a_scan_of_adams "adams";
    a_scan_of_scaled "scaled";
    a_scan_of_transformations "transformations";
    a_scan_of_wrappers "wrappers";
    a_scan_of_linesearches "linesearches";
    a_scan_of_contrib "contrib";
}

const RATES: [f32; 3] = [0.003, 0.02, 0.05];

fn small(params: &State, _: &Array) -> Array {
    let at = |path: &str| params.get(path).expect(path);
    (at("bias") + grid(&[4, 3], 1.0, 0.4).matmul(at("kernel")))
        .tanh()
        .square()
        .sum()
}

/// Two steps of each optimizer with a learning rate.
fn trained(rate: &Array, optimizers: &dyn Fn(&Array) -> Table) -> Vec<Run> {
    let params = State::from_iter([
        ("bias", grid(&[2], 0.3, 0.0)),
        ("kernel", grid(&[3, 2], 0.5, 1.0)),
    ]);
    let each = optimizers(rate).into_iter();
    each.map(|(_, tx)| {
        let first = Run::new(&tx, &params).advance(&tx, small);
        first.advance(&tx, small)
    })
    .collect()
}

/// How many optimizers one program has: compiling large ones takes longer.
const TOGETHER: usize = 8;

fn vmap_trains_as_alone(
    names: &[&str],
    optimizers: impl Fn(&Array) -> Table + Copy + Send + Sync + 'static,
) {
    for (chunk, names) in names.chunks(TOGETHER).enumerate() {
        let some = move |rate: &Array| {
            let all = optimizers(rate).into_iter();
            all.skip(chunk * TOGETHER).take(TOGETHER).collect()
        };
        let train = move |rate: Array| trained(&rate, &some);
        let together = jit(move |rates: Array| vmap(train)(rates));
        let together = together(Array::from(RATES));
        let alone = jit(train);
        for (i, rate) in RATES.into_iter().enumerate() {
            let alone = alone(Array::from(rate));
            for ((name, all), one) in names.iter().zip(&together).zip(&alone) {
                let of_rate = State::of(all).map(|a| a.index(i as isize));
                let what = format!("{name} with the learning rate {rate}");
                close(&what, &of_rate, &State::of(one), tolerance(name));
            }
        }
    }
}

#[test]
fn vmap_trains_with_a_batch_of_learning_rates() {
    let optimizers = with_rate(&Array::from(0.1f32));
    let names: Vec<&str> = optimizers.iter().map(|(name, _)| *name).collect();
    vmap_trains_as_alone(&names, with_rate);
}

/// What takes no learning rate, with its updates times a batch of numbers.
#[test]
fn vmap_trains_with_a_batch_of_factors() {
    for group in ["transformations", "wrappers", "linesearches"] {
        let names: Vec<&str> = table(group).iter().map(|(name, _)| *name).collect();
        vmap_trains_as_alone(&names, move |factor| {
            let scaled = |(name, tx)| (name, chain((tx, scale(factor * 30.0))));
            table(group).into_iter().map(scaled).collect()
        });
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

#[test]
fn a_hyperparameter_follows_the_loss() {
    let by_loss = StatefulSchedule::new(
        State::from_iter([("mean", Array::from(4.0f32))]),
        |state, extra: &ExtraArgs<'_>| {
            let loss = extra.expect_value("by_loss");
            state.map(|mean| (mean + loss) * 0.5)
        },
        |state, _| state.arrays()[0].clone() * 0.25,
    );
    let constants = [("momentum", 0.0)];
    let tx: GradientTransformation = inject_hyperparams(constants, |h| {
        sgd(h.get("learning_rate")).momentum(h.get("momentum"))
    })
    .stateful("learning_rate", by_loss)
    .into();
    let params = State::from_iter([("w", Array::from(1.0f32))]);
    let mut state = tx.init(&params);
    let step = jit(move |state: &mut OptState, loss: Array| {
        let taken = std::mem::replace(state, OptState::new(()));
        let extra = ExtraArgs::new().value(&loss);
        let (updates, next) = tx.update_with(params.clone(), taken, None, &extra);
        *state = next;
        updates
    });
    let mut update = |loss: f32| step(&mut state, Array::from(loss)).arrays()[0].item::<f32>();
    assert_eq!([update(2.0), update(1.0), update(0.0)], [-1.0, -0.75, -0.5]);
    let mean = tree::get(&state, "hyperparams_states.learning_rate.mean");
    assert_eq!(mean.expect("it is in the state").item::<f32>(), 1.0);
}
