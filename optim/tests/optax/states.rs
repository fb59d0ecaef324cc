//! States of optimizers in Flax's msgpack format, from Optax and back;
//! `tests/golden/optax_states.py` made the files.

use crate::common;

use common::{Run, Tally, compare, problems, skeleton};
use ramie_checkpoint::serialization::{self, StateDict, from_state_dict, to_state_dict};
use ramie_core::{Array, DType, State, jit};
use ramie_derive::Tree;
use ramie_optim::*;
use ramie_testing::golden;
use serde_json::{Map, Value};
use std::process::Command;

/// What the files keep: a dictionary, which a step of JAX gives back in the order
/// of the names.
#[derive(Tree)]
struct TrainState {
    opt_state: OptState,
    params: State,
}

fn optimizers() -> Vec<(&'static str, GradientTransformation)> {
    let decaying = Schedule::new(|count| 0.03_f64 / (count.astype(DType::F32) + 1.0));
    let kernels = |_: &str, array: &Array| array.ndim() > 1;
    let factored = adafactor().learning_rate(0.1).min_dim_size_to_factor(3);
    vec![
        ("sgd", sgd(0.05).momentum(0.9).into()),
        ("adam", adam(decaying).into()),
        ("adamw", adamw(0.05).weight_decay(0.1).mask(kernels).into()),
        ("clipped", chain((clip_by_global_norm(0.5), adam(0.05)))),
        ("multi_steps", multi_steps(adam(0.05), 3).into()),
        ("masked", chain((masked(trace(0.9), kernels), scale(-0.05)))),
        ("adafactor", factored.momentum(0.5).into()),
        ("lion", lion(0.02).into()),
    ]
}

fn start(tx: &GradientTransformation) -> TrainState {
    let [_, _, (_, _, params)] = problems();
    TrainState {
        opt_state: tx.init(&params),
        params,
    }
}

/// The state after the steps with these numbers.
fn advance(
    tx: &GradientTransformation,
    state: TrainState,
    steps: std::ops::Range<i32>,
) -> TrainState {
    let [_, _, (_, objective, _)] = problems();
    let of_step = tx.clone();
    let step = jit(move |run: &mut Run| {
        let taken = std::mem::replace(run, Run::new(&identity(), &State::new()));
        *run = taken.advance(&of_step, objective);
    });
    let mut run = Run {
        params: state.params,
        state: state.opt_state,
        step: Array::scalar(steps.start, DType::I32),
    };
    for _ in steps {
        step(&mut run);
    }
    assert_eq!(step.compilations(), 1);
    TrainState {
        params: run.params,
        opt_state: run.state,
    }
}

/// Compares a state with what is recorded: integers exactly, floats by 2e-6 of the
/// greatest in their field of the state.
fn compare_with(tally: &mut Tally, what: &str, state: &TrainState, recorded: &StateDict) {
    let recorded = recorded.to_state().unwrap();
    let list = |a: &Array| {
        let list = a.astype(DType::F32).to_vec::<f32>();
        list.into_iter().map(Value::from).collect::<Value>()
    };
    let by_path = |f: &dyn Fn(&Array) -> Value| -> Value {
        let pairs = recorded.iter().map(|(path, a)| (path.to_owned(), f(a)));
        pairs.collect::<Map<String, Value>>().into()
    };
    let may = |a: &Array| Value::from(if a.dtype().is_float() { f64::MAX } else { 0.0 });
    compare(
        tally,
        what,
        state,
        &by_path(&list),
        &by_path(&may),
        Some(2e-6),
    );
}

fn fixture() -> StateDict {
    serialization::load(golden::path("optax_states.msgpack")).unwrap()
}

#[test]
fn a_state_of_optax_is_loaded_written_and_continued() {
    let fixture = fixture();
    let mut tally = Tally::default();
    for (name, tx) in optimizers() {
        let recorded = |steps: &str| fixture.get(name).and_then(|run| run.get(steps)).unwrap();
        let mut state = start(&tx);
        from_state_dict(&mut state, recorded("10")).unwrap();
        let written = to_state_dict(&state).to_bytes().unwrap();
        assert!(written == recorded("10").to_bytes().unwrap(), "{name}");
        let state = advance(&tx, state, 10..20);
        let what = format!("{name} continued");
        compare_with(&mut tally, &what, &state, recorded("20"));
    }
    assert!(
        tally.differences.is_empty(),
        "{}",
        tally.differences.join("\n")
    );
}

#[test]
fn a_state_is_written_as_by_optax() {
    let fixture = fixture();
    let StateDict::Dict(names) = &fixture else {
        panic!("{fixture:?}");
    };
    assert_eq!(names.len(), optimizers().len());
    let mut tally = Tally::default();
    let mut written = Vec::new();
    for (name, tx) in optimizers() {
        let recorded = fixture.get(name).and_then(|run| run.get("10")).unwrap();
        let state = advance(&tx, start(&tx), 0..10);
        compare_with(&mut tally, name, &state, recorded);
        let dict = to_state_dict(&state);
        assert_eq!(skeleton(&dict), skeleton(recorded), "{name}");
        let run = StateDict::Dict(vec![("10".into(), dict)]);
        written.push((name.to_owned(), run));
    }
    assert!(
        tally.differences.is_empty(),
        "{}",
        tally.differences.join("\n")
    );

    // Optax itself goes on from it, where there is one.
    let Some(python) = std::env::var_os("RAMIE_PYTHON") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("states.msgpack");
    std::fs::write(&path, StateDict::Dict(written).to_bytes().unwrap()).unwrap();
    let script = golden::path("../optax_states.py");
    let checked = Command::new(python)
        .arg(script)
        .arg("--check")
        .arg(&path)
        .status();
    assert!(checked.unwrap().success());
}

#[test]
fn the_state_of_another_optimizer_is_refused() {
    let fixture = fixture();
    let mut state = start(&sgd(0.1).into());
    let error = from_state_dict(&mut state, fixture.get("lion.10").unwrap()).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("\n  not in the tree: `opt_state.0.count`, `opt_state.0.mu.hidden.bias`"),
        "{text}"
    );
}
