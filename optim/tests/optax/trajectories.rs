//! Optimizers step by step against Optax; `tests/golden/optim.py` made the
//! numbers and states the problem.

use ramie_core::{Array, DType, State, Tree, grad, jit, tree};
use ramie_optim::*;

fn parameters() -> State {
    State::from_iter([
        ("a", Array::from([1.0f32, -2.0, 0.5])),
        ("b", Array::from([[0.3f32, -0.7, 1.1], [2.0, 0.0, -1.5]])),
    ])
}

fn objective(params: State) -> Array {
    let (a, b) = (&params.arrays()[0], &params.arrays()[1]);
    let bowl = (Array::from([1.0f32, 10.0, 0.1]) * a.square()).sum_over(0);
    let coupling = ((b * a).sum_over(1) - 1.0).square().sum_over(0);
    bowl + coupling + b.square().sum_over([0, 1]) * 0.5
}

fn golden() -> serde_json::Value {
    ramie_testing::golden::json("optim.json")
}

fn numbers(value: &serde_json::Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter().map(|x| x.as_f64().expect("a number")).collect()
}

#[track_caller]
fn check(what: &str, got: &Array, expected: &[f64], tolerance: f64) {
    let got = got.to_vec::<f32>();
    assert_eq!(got.len(), expected.len(), "{what}");
    for (g, e) in got.iter().zip(expected) {
        let distance = (f64::from(*g) - e).abs();
        assert!(
            distance <= tolerance * (1.0 + e.abs()),
            "{what}: {g} instead of {e}"
        );
    }
}

fn follow(name: &str, tx: impl Into<GradientTransformation>) {
    let tx = tx.into();
    let golden = &golden()["trajectories"][name];
    let mut state = (parameters(), tx.init(&parameters()));
    let step = jit(move |s: &mut (State, OptState)| {
        let grads = grad(objective)(s.0.clone());
        let taken = std::mem::replace(&mut s.1, OptState::new(()));
        let (updates, next) = tx.update(grads, taken, Some(&s.0));
        *s = (apply_updates(&s.0, &updates), next);
    });
    for i in 0..20 {
        step(&mut state);
        for (path, array) in state.0.iter() {
            let what = format!("{name}, {path} after {} updates", i + 1);
            check(&what, array, &numbers(&golden[path][i]), 2e-5);
        }
    }
    assert_eq!(step.compilations(), 1, "{name} is compiled once");
}

#[test]
fn sgd_and_momentum() {
    follow("sgd", sgd(0.02));
    follow("sgd_momentum", sgd(0.01).momentum(0.9));
    follow("sgd_nesterov", sgd(0.01).momentum(0.9).nesterov());
    let decaying = Schedule::new(|count| 0.1_f64 / (count.astype(DType::F32) + 1.0));
    follow("sgd_schedule", sgd(decaying));
}

#[test]
fn adam_and_its_kin() {
    follow("adam", adam(0.05));
    let tuned = adam(0.05).b1(0.8).b2(0.95).eps(1e-4).eps_root(1e-6);
    follow("adam_nesterov", tuned.nesterov());
    follow("adamw", adamw(0.05).weight_decay(0.1));
    let decays = |path: &str, _: &Array| path == "b";
    follow("adamw_mask", adamw(0.05).weight_decay(0.1).mask(decays));
}

#[test]
fn chains() {
    follow(
        "clipped",
        chain((clip_by_global_norm(1.0), sgd(0.1).momentum(0.5))),
    );
    follow("clipped_elements", chain([clip(0.3), scale(-0.2)]));
}

#[test]
fn states_have_stable_names() {
    let tx = GradientTransformation::from(adam(Schedule::new(|c| c.astype(DType::F32))));
    let state = tx.init(&parameters());
    let expected = ["0.count", "0.mu.a", "0.mu.b", "0.nu.a", "0.nu.b", "1.count"];
    assert_eq!(tree::paths(&state), expected);
    let states = state.get::<Vec<OptState>>().expect("a chain");
    assert!(states[0].get::<ScaleByAdamState>().is_some());
}

/// What a compiled function would be compiled for.
fn fixed_values<T: Tree>(tree: &T) -> Vec<String> {
    struct Fixeds(Vec<String>);
    impl tree::Visitor for Fixeds {
        fn leaf(&mut self, _: &Array) {}
        fn fixed(&mut self, value: &dyn tree::Fixed) {
            self.0.push(value.describe());
        }
    }
    let mut v = Fixeds(Vec::new());
    tree.walk(&mut v);
    v.0
}

#[test]
fn transformations_are_fixed_values_told_apart() {
    let (a, b) = (scale(0.5), scale(0.5));
    assert_eq!(fixed_values(&a), fixed_values(&a.clone()));
    assert_ne!(fixed_values(&a), fixed_values(&b));
}

#[test]
fn counts_stop_at_the_greatest_value() {
    let count = |c: i32| safe_increment(&Array::from(c)).item::<i32>();
    assert_eq!((count(0), count(i32::MAX)), (1, i32::MAX));
}

#[test]
#[should_panic(expected = "the state belongs to another transformation")]
fn a_foreign_state_is_refused() {
    let state = scale(1.0).init(&parameters());
    GradientTransformation::from(adam(0.1)).update(parameters(), state, None);
}

#[test]
#[should_panic(expected = "`update` was called without parameters")]
fn weight_decay_needs_parameters() {
    let tx = add_decayed_weights(0.1);
    let state = tx.init(&parameters());
    tx.update(parameters(), state, None);
}
