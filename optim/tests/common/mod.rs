//! Three problems, and what Optax makes of them; `tests/golden/optimizers.py`
//! made the numbers and states the problems.
#![allow(dead_code)] // Each test binary uses a part.

mod skeleton;
pub mod table;

use ramie_checkpoint::to_state_dict;
use ramie_core::{Array, DType, State, Tree, jit, tree, value_and_grad};
use ramie_derive::Tree;
use ramie_optim::*;
use ramie_testing::is_linked;
use serde_json::Value;

pub use skeleton::skeleton;

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
    let x = grid(&[3, 6, 4], 1.0, 0.3)
        .dynamic_index_in_dim(&batch, 0)
        .squeeze(&[0]);
    let y = Array::from(classes)
        .reshape(&[3, 6])
        .dynamic_index_in_dim(&batch, 0)
        .squeeze(&[0]);
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
    golden_of("optimizers")
}

/// The document of a script.
pub fn golden_of(name: &str) -> Value {
    ramie_testing::golden::json(&format!("{name}.json"))
}

/// The numbers of a list.
pub fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    let number = |x: &Value| match x {
        Value::Bool(yes) => f64::from(u8::from(*yes)),
        x => x.as_f64().expect("a number"),
    };
    list.iter().map(number).collect()
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

/// By how many times Optax's distance from itself numbers of the linked CPU backend may differ. Its sums have
/// another order than those of both recordings, which XLA computed.
const OTHER_ORDER: f64 = 6.0;

/// How much of what is compared is how near.
#[derive(Default)]
pub struct Tally {
    /// Floating-point elements.
    pub elements: usize,
    /// Those further than 1e-6 of themselves, and than Optax's own number with another rounding.
    pub further: usize,
    /// What differs.
    pub differences: Vec<String>,
}

impl Tally {
    /// The part of the elements that are further.
    fn far(&self) -> f64 {
        self.further as f64 / self.elements as f64
    }
}

/// Compares arrays by path with Optax's: names and numbers.
///
/// An element may differ by 1e-6 of itself; where Optax's own number changes
/// by more with another rounding (`spread`), by three times that. And never by
/// more than `tolerance` of the greatest number in the same field of the state
/// for all parameters, if there is a tolerance. On the linked backend, by
/// [`OTHER_ORDER`] times what Optax's own number changes in any case, and without
/// a tolerance by 1e-6, where both reached a minimum.
pub fn compare(
    tally: &mut Tally,
    what: &str,
    got: &impl Tree,
    expected: &Value,
    spread: &Value,
    tolerance: Option<f64>,
) {
    let expected = expected.as_object().expect("arrays by path");
    let linked = is_linked();
    let got = State::of(got);
    let greatest = |field: &str| {
        let of_field = expected.iter().filter(|(path, _)| family(path) == field);
        let all = of_field.flat_map(|(_, list)| numbers(list));
        all.fold(0.0, |a: f64, b| a.max(b.abs()))
    };
    for path in got.paths().filter(|p| !expected.contains_key(*p)) {
        tally
            .differences
            .push(format!("{what}: Optax has no `{path}`"));
    }
    for (path, list) in expected {
        let Some(array) = got.get(path) else {
            tally
                .differences
                .push(format!("{what}: there is no `{path}`"));
            continue;
        };
        let float = array.dtype().is_float();
        let (got, expected) = (array.astype(DType::F32).to_vec::<f32>(), numbers(list));
        if got.len() != expected.len() {
            let (array, n) = (array.aval(), expected.len());
            tally
                .differences
                .push(format!("{what}: `{path}` is {array}, not {n} numbers"));
            continue;
        }
        // Where it is not recorded, only the field counts.
        let own = match spread {
            Value::Null => f64::INFINITY,
            spread => spread[path].as_f64().expect("a number"),
        };
        let (other, minimum) = if linked && own.is_finite() {
            (OTHER_ORDER * own, tolerance.map_or(1e-6, |_| 0.0))
        } else {
            (own, 0.0)
        };
        let most = tolerance.map_or(f64::INFINITY, |t| t * greatest(family(path)) + 1e-30);
        let most = if linked && own.is_finite() {
            most.max(other)
        } else {
            most
        };
        let mut worst: Option<(f64, String)> = None;
        for (g, e) in got.iter().zip(&expected) {
            let (g, e) = (f64::from(*g), f64::from(*e as f32));
            let (distance, near) = ((g - e).abs(), 1e-6 * e.abs() + 1e-30);
            let limit = if float {
                most.min(near + other.max(3.0 * own) + minimum)
            } else {
                own
            };
            if float {
                tally.elements += 1;
                let explained = if own.is_finite() {
                    near.max(other)
                } else {
                    near
                };
                tally.further += usize::from(distance > explained);
            }
            let over = distance / limit.max(1e-30);
            if (distance > limit || g.is_nan()) && worst.as_ref().is_none_or(|(w, _)| over > *w) {
                let text = format!(
                    "{what}: `{path}` has {g:e} instead of {e:e}: {distance:.1e}, at most {limit:.1e} \
                     (Optax with another rounding: {own:.1e})"
                );
                worst = Some((over, text));
            }
        }
        tally.differences.extend(worst.map(|(_, text)| text));
    }
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

/// Parts of the greatest number in a field by which parameters may differ, where
/// it is not 1e-6, for the optimizers whose names begin so, and why. Of those
/// with infinity only counts how far Optax is from itself.
const TOLERANCES: [(&str, f64, &str); 7] = [
    (
        "muon",
        1e-5,
        "the iteration magnifies rounding: Optax is 2.5e-6 from itself, and 7e-6 with Dion's coefficients",
    ),
    (
        "dadapt_adamw",
        2e-6,
        "the numerator of the estimate cancels: 2.4e-6 of 2.7e-9, where Optax is 7e-5 from itself",
    ),
    (
        "mechanize",
        f64::INFINITY,
        "its sums `r` and `v` are of inner products that cancel: Optax is 9e-5 from itself in `r` on the \
         parabola, and 1e-5 in the parameters of Rosenbrock's function",
    ),
    (
        "polyak_sgd",
        f64::INFINITY,
        "its rate is the value divided by the square of the gradient: Optax is 0.5 from itself after 20 steps on \
         Rosenbrock's function",
    ),
    (
        "normalize",
        4e-6,
        "it divides by the norm of the gradient: Optax is 5e-6 from itself on Rosenbrock's function",
    ),
    (
        "momo_adam_adapting",
        2e-6,
        "the estimate of the least value is a difference: Optax is 5e-6 from itself in the first moments",
    ),
    (
        "multi_steps_sum",
        1e-5,
        "it diverges to 1e25 on Rosenbrock's function: Optax is 1.4e-5 of that from itself",
    ),
];

/// Optimizers (whose names begin so) whose states are compared in magnitudes: singular vectors are
/// known but for their signs, which differ between decompositions.
const WITHOUT_SIGNS: &str = "galore";

/// By which part of the greatest number in a field parameters may differ from
/// Optax's after some steps. Line searches choose by differences of values of
/// the objective, which are rounding close to a minimum: after 20 steps Optax
/// is 7e-4 (L-BFGS on Rosenbrock's function) and 2e-3 (on the network) from
/// itself, so that only that counts after the fifth step.
fn tolerance(group: &str, name: &str, step: usize) -> Option<f64> {
    if group == "linesearches" {
        return (step <= 5).then_some(5e-6);
    }
    let listed = TOLERANCES
        .iter()
        .find(|(listed, _, _)| name.starts_with(listed));
    Some(listed.map_or(1e-6, |(_, tolerance, _)| *tolerance))
}

/// Optimizers that store a mean in `bf16`, and those with the same options in `f32`, with whose numbers
/// they are compared. Optax multiplies the mean in `bf16` by the decay rate rounded to `bf16`, 0.8984 for
/// 0.9, so its numbers are further from those in `f32`.
const ROUNDED: [(&str, &str); 2] = [
    ("adam_bf16", "adam"),
    ("sgd_bf16_accumulator", "sgd_momentum"),
];

/// The part of the greatest number in a field by which these may differ.
const ROUNDING: f64 = 0.03;

fn without_signs(state: &Value) -> Value {
    let arrays = state.as_object().expect("arrays by path");
    let magnitudes = |list: &Value| numbers(list).iter().map(|x| x.abs()).collect::<Vec<f64>>();
    let each = arrays
        .iter()
        .map(|(path, list)| (path.clone(), magnitudes(list).into()));
    Value::Object(each.collect())
}

/// The part of the elements that may be further than 1e-6 of themselves, and further than Optax with
/// another rounding. They are numbers near zero that larger ones cancelled to.
const FURTHER: f64 = 0.02;

/// Follows the optimizers of a group for 20 steps, against Optax, as [`compare`]
/// does with [`tolerance`], and twice that for states.
pub fn follow_group(group: &str, optimizers: Vec<(&str, GradientTransformation)>) {
    let states = &golden_of("optax_states")["groups"][group];
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
    let mut tally = Tally::default();
    for (name, tx) in optimizers {
        let [_, _, (_, _, network)] = problems();
        let state = skeleton(&to_state_dict(&tx.init(&network)));
        if states[name] != *state {
            let theirs = &states[name];
            let text = format!("{name}: the state is {state}, in Optax {theirs}");
            tally.differences.push(text);
        }
        let exact = ROUNDED.iter().find(|(rounded, _)| *rounded == name);
        let of_it = match exact {
            Some((_, exact)) => rounded(group, name, &tx, &golden[*exact]),
            None => followed(group, name, &tx, &golden[name], tolerance),
        };
        tally.elements += of_it.elements;
        tally.further += of_it.further;
        tally.differences.extend(of_it.differences);
    }
    let part = tally.far();
    println!(
        "{group}: {} of {} elements are further from Optax than Optax with another rounding",
        tally.further, tally.elements
    );
    assert!(
        tally.differences.is_empty(),
        "{} differences\n{}",
        tally.differences.len(),
        tally.differences.join("\n")
    );
    assert!(
        part <= FURTHER,
        "{group}: {part:.4} of the elements are further from Optax than Optax with another rounding"
    );
}

/// Follows an optimizer that rounds its state, against the numbers of one that does not.
fn rounded(group: &str, name: &str, tx: &GradientTransformation, golden: &Value) -> Tally {
    let mut golden = golden.clone();
    for (problem, _, _) in problems() {
        golden[problem]["spread"] = Value::Null;
    }
    let tally = followed(group, name, tx, &golden, |_, _, _| Some(ROUNDING));
    Tally {
        differences: tally.differences,
        ..Tally::default()
    }
}

/// Follows one optimizer on all problems.
///
/// Line searches are for objectives that stay the same: they see the first
/// batch only.
fn followed(
    group: &str,
    name: &str,
    tx: &GradientTransformation,
    golden: &Value,
    tolerance: impl Fn(&str, &str, usize) -> Option<f64>,
) -> Tally {
    let batches = if group == "linesearches" { 1 } else { 3 };
    let mut tally = Tally::default();
    let mut runs: Vec<Run> = problems().iter().map(|(_, _, p)| Run::new(tx, p)).collect();
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
    for i in 1..=20 {
        step(&mut runs);
        for (run, (problem, _, _)) in runs.iter().zip(problems()) {
            let golden = &golden[problem];
            let (made, spread) = (i.to_string(), &golden["spread"]);
            if let Some(params) = golden["params"].get(&made) {
                let what = format!("{name}, {problem} after {i} steps");
                let (spread, tolerance) = (&spread["params"][&made], tolerance(group, name, i));
                compare(&mut tally, &what, &run.params, params, spread, tolerance);
            }
            if i == 20 {
                let what = format!("{name}, {problem}, state");
                let (state, spread) = (&golden["state"], &spread["state"]);
                let twice = tolerance(group, name, i).map(|t| 2.0 * t);
                if name.starts_with(WITHOUT_SIGNS) {
                    let magnitudes = tree::map(&run.state, |a| a.abs());
                    let state = without_signs(state);
                    compare(&mut tally, &what, &magnitudes, &state, spread, twice);
                } else {
                    compare(&mut tally, &what, &run.state, state, spread, twice)
                }
            }
        }
    }
    if step.compilations() != 1 {
        let text = format!("{name} is compiled {} times", step.compilations());
        tally.differences.push(text);
    }
    tree::block_until_ready(&runs);
    tally
}

/// Checks that two states have the same arrays, but for a part `tolerance` of
/// each element, or of 1 for small ones.
#[track_caller]
pub fn close(what: &str, a: &State, b: &State, tolerance: f32) {
    assert!(a.paths().eq(b.paths()), "{what}: {a:?} and {b:?}");
    for ((path, a), (_, b)) in a.iter().zip(b.iter()) {
        assert_eq!(a.shape(), b.shape(), "{what}, {path}");
        let numbers = |x: &Array| x.astype(DType::F32).to_vec::<f32>();
        for (x, y) in numbers(a).iter().zip(&numbers(b)) {
            let near = x == y || (x - y).abs() <= tolerance * (1.0 + y.abs());
            assert!(near, "{what}, {path}: {x} and {y}");
        }
    }
}
