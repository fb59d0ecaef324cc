//! Three problems, and what Optax makes of them; `tests/golden/optimizers.py`
//! made the numbers and states the problems.
#![allow(dead_code)] // Each test binary uses a part.

use ramie_core::{Array, DType, State, Tree, jit, tree, value_and_grad};
use ramie_derive::Tree;
use ramie_optim::*;
use serde_json::Value;
use std::path::Path;

pub fn grid(shape: &[usize], scale: f64, shift: f64) -> Array {
    let n: usize = shape.iter().product();
    let numbers: Vec<f32> = (1..=n)
        .map(|i| (scale * (i as f64 * 1.7 + shift).sin()) as f32)
        .collect();
    Array::from(numbers).reshape(shape)
}

pub fn parabola(params: &State, _: &Array) -> Array {
    let distance = params.get("x").expect("x") - Array::from([0.5f32, -1.0, 2.0, 0.0]);
    (Array::from([1.0f32, 4.0, 0.25, 2.0]) * distance.square()).sum()
}

pub fn rosenbrock(params: &State, _: &Array) -> Array {
    let x = params.get("x").expect("x");
    let (ahead, here) = (x.index(1..), x.index(..-1));
    ((ahead - here.square()).square() * 10.0 + (1.0f64 - here).square()).sum()
}

pub fn mlp(params: &State, step: &Array) -> Array {
    let classes: Vec<i32> = (0..18).map(|i| i % 3).collect();
    let batch = step.remainder(3);
    let x = grid(&[3, 6, 4], 1.0, 0.3).dynamic_index_in_dim(&batch, 0, false);
    let y = Array::from(classes)
        .reshape(&[3, 6])
        .dynamic_index_in_dim(&batch, 0, false);
    let at = |path: &str| params.get(path).expect(path);
    let h = (x.matmul(at("hidden.kernel")) + at("hidden.bias")).tanh();
    let logits = h.matmul(at("out.kernel")) + at("out.bias");
    softmax_cross_entropy_with_integer_labels(&logits, &y).mean()
}

pub type Objective = fn(&State, &Array) -> Array;

pub fn problems() -> [(&'static str, Objective, State); 3] {
    let network = State::from_iter([
        ("hidden.bias", grid(&[5], 0.1, 0.0)),
        ("hidden.kernel", grid(&[4, 5], 0.6, 0.0)),
        ("out.bias", grid(&[3], 0.1, 2.0)),
        ("out.kernel", grid(&[5, 3], 0.8, 1.0)),
    ]);
    let x = |numbers: Vec<f32>| State::from_iter([("x", Array::from(numbers))]);
    [
        ("parabola", parabola, x(vec![2.0, 1.0, -1.0, 0.5])),
        ("rosenbrock", rosenbrock, x(vec![-0.5, 0.8, 1.2])),
        ("mlp", mlp, network),
    ]
}

pub fn golden() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden/data/optimizers.json");
    let text = std::fs::read_to_string(path).expect("the file is in the repository");
    serde_json::from_str(&text).expect("valid JSON")
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter().map(|x| x.as_f64().expect("a number")).collect()
}

/// A path without that of a parameter at its end: what the arrays of a moment
/// for all parameters have in common.
fn family(path: &str) -> &str {
    let parameters = [".hidden.bias", ".hidden.kernel", ".out.bias", ".out.kernel"];
    let found = parameters.iter().find_map(|p| path.strip_suffix(p));
    match found {
        Some(rest) => rest,
        None if parameters.iter().any(|p| path == &p[1..]) => "",
        None => path,
    }
}

/// What differs between arrays by path and Optax's: names, or numbers by more
/// than `tolerance` of the greatest in the same field of the state for all
/// parameters.
pub fn differences(what: &str, got: &impl Tree, expected: &Value, tolerance: f64) -> Vec<String> {
    let expected = expected.as_object().expect("arrays by path");
    let got = State::of(got);
    let greatest = |field: &str| {
        let of_field = expected.iter().filter(|(path, _)| family(path) == field);
        let all = of_field.flat_map(|(_, list)| numbers(list));
        all.fold(0.0, |a: f64, b| a.max(b.abs()))
    };
    let mut found = Vec::new();
    for path in got.paths().filter(|p| !expected.contains_key(*p)) {
        found.push(format!("{what}: Optax has no `{path}`"));
    }
    for (path, list) in expected {
        let size = greatest(family(path));
        let Some(array) = got.get(path) else {
            found.push(format!("{what}: there is no `{path}`"));
            continue;
        };
        let exact = !array.dtype().is_float();
        let (got, expected) = (array.astype(DType::F32).to_vec::<f32>(), numbers(list));
        if got.len() != expected.len() {
            found.push(format!(
                "{what}: `{path}` is {}, not {} numbers",
                array.aval(),
                expected.len()
            ));
            continue;
        }
        let limit = if exact { 0.0 } else { tolerance * size + 1e-30 };
        for (g, e) in got.iter().zip(&expected) {
            let e32 = f64::from(*e as f32);
            if (f64::from(*g) - e32).abs() > limit || g.is_nan() {
                let part = (f64::from(*g) - e).abs() / size;
                found.push(format!(
                    "{what}: `{path}` has {g} instead of {e} ({part:.1e})"
                ));
                break;
            }
        }
    }
    found
}

/// Parameters, state and number of the step.
#[derive(Tree)]
pub struct Run {
    pub params: State,
    pub state: OptState,
    pub step: Array,
}

impl Run {
    pub fn new(tx: &GradientTransformation, params: &State) -> Run {
        Run {
            params: params.clone(),
            state: tx.init(params),
            step: Array::scalar(0, DType::I32),
        }
    }

    /// One step of training.
    pub fn advance(self, tx: &GradientTransformation, objective: Objective) -> Run {
        self.advance_on(tx, objective, 3)
    }

    /// One step of training on the first batches.
    pub fn advance_on(
        self,
        tx: &GradientTransformation,
        objective: Objective,
        batches: i32,
    ) -> Run {
        let Run {
            params,
            state,
            step: made,
        } = self;
        let step = made.remainder(batches);
        let value_fn = |p: &State| objective(p, &step);
        let (value, grads) = value_and_grad(|p: State| objective(&p, &step))(params.clone());
        let extra = ExtraArgs::new()
            .value(&value)
            .grad(&grads)
            .value_fn(&value_fn);
        let (updates, state) = tx.update_with(grads.clone(), state, Some(&params), &extra);
        Run {
            params: apply_updates(&params, &updates),
            state,
            step: made + 1,
        }
    }
}

/// Follows the optimizers of a group for 20 steps, against Optax.
///
/// Line searches make 6 steps of the first batch: they are for objectives that
/// stay the same, and close to a minimum they choose by differences that are
/// rounding. `tolerance` is that of parameters; states have twice as much.
pub fn follow_group(group: &str, tolerance: f64, optimizers: Vec<(&str, GradientTransformation)>) {
    let (steps, batches) = if group == "linesearches" {
        (6, 1)
    } else {
        (20, 3)
    };
    let golden = &golden()["groups"][group];
    let mut expected: Vec<&String> = golden
        .as_object()
        .expect("optimizers by name")
        .keys()
        .collect();
    let mut given: Vec<&str> = optimizers.iter().map(|(name, _)| *name).collect();
    expected.sort();
    given.sort();
    assert_eq!(given, expected, "the optimizers of the group {group}");
    let mut found = Vec::new();
    for (name, tx) in optimizers {
        let runs: Vec<Run> = problems()
            .iter()
            .map(|(_, _, p)| Run::new(&tx, p))
            .collect();
        let mut runs = runs;
        let of_step = tx.clone();
        // All problems in one program: compiling takes most of the time.
        let step = jit(move |runs: &mut Vec<Run>| {
            let taken = std::mem::take(runs);
            let objectives = problems().map(|(_, f, _)| f);
            let next = taken.into_iter().zip(objectives);
            *runs = next
                .map(|(run, f)| run.advance_on(&of_step, f, batches))
                .collect();
        });
        for i in 1..=steps {
            step(&mut runs);
            for (run, (problem, _, _)) in runs.iter().zip(problems()) {
                let golden = &golden[name][problem];
                let what = format!("{name}, {problem} after {i} steps");
                if let Some(params) = golden["params"].get(i.to_string()) {
                    found.extend(differences(&what, &run.params, params, tolerance));
                }
                if i == steps {
                    let what = format!("{name}, {problem}, state");
                    found.extend(differences(
                        &what,
                        &run.state,
                        &golden["state"],
                        2.0 * tolerance,
                    ));
                }
            }
        }
        if step.compilations() != 1 {
            found.push(format!("{name} is compiled {} times", step.compilations()));
        }
        tree::block_until_ready(&runs);
    }
    assert!(
        found.is_empty(),
        "{} differences\n{}",
        found.len(),
        found.join("\n")
    );
}

/// Checks that two states have the same arrays, but for rounding.
#[track_caller]
pub fn close(what: &str, a: &State, b: &State) {
    assert!(a.paths().eq(b.paths()), "{what}: {a:?} and {b:?}");
    for ((path, a), (_, b)) in a.iter().zip(b.iter()) {
        let numbers = |x: &Array| x.astype(DType::F32).to_vec::<f32>();
        for (x, y) in numbers(a).iter().zip(&numbers(b)) {
            let near = (x - y).abs() <= 2e-5 * (1.0 + y.abs());
            assert!(near, "{what}, {path}: {x} and {y}");
        }
    }
}

/// Optimizers of different kinds.
pub fn some_optimizers() -> Vec<(&'static str, GradientTransformation)> {
    let kernels = |_: &str, a: &Array| a.ndim() > 1;
    let factored = adafactor().learning_rate(0.1).min_dim_size_to_factor(3);
    let clipped = chain((clip_by_global_norm(1.0), adam(0.05)));
    vec![
        ("adamw", adamw(0.05).weight_decay(0.1).mask(kernels).into()),
        ("adafactor", factored.into()),
        ("multi_steps", multi_steps(clipped, 3).into()),
        ("muon", contrib::muon(0.02).into()),
    ]
}
