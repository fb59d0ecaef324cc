//! Train states and scaled losses, against Flax.

use crate::common;

use common::Golden;
use ramie_core::{Array, DType, State, jit, random, value_and_grad, where_};
use ramie_nn::linen::{self, Apply, BatchNorm, Dense, Module, Scope, Variables};
use ramie_nn::training::{DynamicScale, TrainState};
use ramie_nn::{Tree, UseRunningAverage};
use ramie_optim::{ExtraArgs, adam, incremental_update, sgd};

#[derive(Clone)]
struct Net;

impl Module<(Array, bool)> for Net {
    fn call(&self, scope: &mut Scope, (x, train): (Array, bool)) -> Array {
        // A bias here would have a gradient of rounding errors.
        let x = scope.child(&Dense::new(4).without_bias(), x);
        let norm = BatchNorm::new().momentum(0.5);
        let x: Array = scope.child(&norm, (x, UseRunningAverage(!train)));
        scope.child(&Dense::new(2), x.tanh())
    }
}

/// What the state has beside parameters.
#[derive(Tree)]
struct Extra {
    batch_stats: State,
    ema: State,
}

#[test]
fn train_state_with_statistics_and_averages() {
    let golden = Golden::open("flax_training");
    let case = golden.case("train_state");
    let inputs = case.inputs();
    let made = Net.init(random::key(0), (inputs[0].clone(), true));
    case.expect_exactly("init", &State::of(&made));
    let extra = Extra {
        batch_stats: made["batch_stats"].clone(),
        ema: made.params(),
    };
    let mut state = TrainState::create_with(made.params(), adam(1e-2), extra);
    let step = jit(|state: &mut TrainState<Extra>, x: Array, y: Array| {
        let loss = |params: State| {
            let stats = state.extra.batch_stats.clone();
            let variables = Variables::from_params(params).with("batch_stats", stats);
            let options = Apply::new().mutable("batch_stats");
            let (out, updates) = Net.apply_with(&variables, (x.clone(), true), &options);
            ((out - &y).square().mean(), updates["batch_stats"].clone())
        };
        let ((loss, stats), grads) = value_and_grad(loss)(state.params.clone());
        state.apply_gradients(grads);
        state.extra.batch_stats = stats;
        state.extra.ema = incremental_update(&state.params, &state.extra.ema, 0.1);
        loss
    });
    let mut losses = Vec::new();
    for _ in 0..5 {
        losses.push(step(&mut state, inputs[0].clone(), inputs[1].clone()));
    }
    assert_eq!(step.compilations(), 1);
    assert_eq!(state.step.item::<i32>(), 5);
    let expected = case.array("losses").to_vec::<f32>();
    let got: Vec<f32> = losses.iter().map(|l| l.item::<f32>()).collect();
    let close = got.iter().zip(&expected).all(|(g, e)| (g - e).abs() < 1e-5);
    assert!(close && got.len() == 5, "{got:?}, expected {expected:?}");
    let after = Variables::from_params(state.params.clone())
        .with("batch_stats", state.extra.batch_stats.clone())
        .with("ema", state.extra.ema.clone());
    case.expect("after", &State::of(&after));
    // The state evaluates with what it learned.
    let variables = state
        .variables()
        .with("batch_stats", state.extra.batch_stats);
    let out = Net.apply(&variables, (inputs[0].clone(), false));
    assert_eq!(out.shape(), [8, 2]);
}

#[test]
fn train_state_with_extra_arguments() {
    let params = State::from_iter([("w", Array::scalar(2.0, DType::F32))]);
    let mut state = TrainState::create(params, sgd(0.1));
    let loss = |params: &State| params.arrays()[0].square();
    let (value, grads) = value_and_grad(|p: State| loss(&p))(state.params.clone());
    let extra = ExtraArgs::new().value(&value).grad(&grads).value_fn(&loss);
    state.apply_gradients_with(grads.clone(), &extra);
    assert!((state.params.arrays()[0].item::<f32>() - 1.6).abs() < 1e-6);
}

#[test]
fn scaled_losses() {
    let golden = Golden::open("flax_training");
    let rows = golden.case("dynamic_scale").array("rows");
    let expected = rows.to_vec::<f32>();
    let mut scale = DynamicScale {
        growth_interval: 2,
        ..DynamicScale::default()
    };
    let mut p = Array::scalar(1.5, DType::F32);
    for (i, row) in expected.chunks(4).enumerate() {
        let factor = Array::scalar(if i == 8 { 6e3 } else { 0.5 }, DType::F16);
        let loss = |p: Array| p.astype(DType::F16).square() * &factor;
        let step = scale.value_and_grad(loss, p.clone());
        p -= where_(&step.is_finite, step.grad * 0.01, 0.0);
        let got = [
            f32::from(u8::from(step.is_finite.item::<bool>())),
            scale.scale.item::<f32>(),
            scale.fin_steps.item::<i32>() as f32,
            p.item::<f32>(),
        ];
        assert_eq!(got[..3], row[..3], "step {i}");
        assert!((got[3] - row[3]).abs() < 1e-5, "step {i}: {got:?}, {row:?}");
    }
}

#[test]
fn scales_are_state_of_compiled_steps() {
    let params = State::from_iter([("w", Array::scalar(1.0, DType::F32))]);
    let mut state = TrainState::create_with(params, sgd(0.1), DynamicScale::default());
    let step = jit(|state: &mut TrainState<DynamicScale>| {
        let loss = |p: State| p.arrays()[0].astype(DType::F16).square();
        let found = state.extra.value_and_grad(loss, state.params.clone());
        let before = state.params.clone();
        state.apply_gradients(found.grad);
        let kept = |new: &Array, old: &Array| where_(&found.is_finite, new, old);
        state.params = state.params.zip(&before, kept);
        found.is_finite
    });
    assert!(!step(&mut state).item::<bool>());
    assert_eq!(state.params.arrays()[0].item::<f32>(), 1.0);
    while !step(&mut state).item::<bool>() {}
    assert!((state.params.arrays()[0].item::<f32>() - 0.8).abs() < 1e-3);
    assert_eq!(step.compilations(), 1);
}

#[test]
fn modules_are_called_in_one_scope() {
    // A part that is a function counts its children with the module around.
    let x = Array::ones(&[2, 3], DType::F32);
    let made = linen::init(0, |scope| {
        let x = scope.child(&Dense::new(3), x.clone());
        let again = linen::remat(linen::method(|scope: &mut Scope, x: Array| {
            scope.child(&Dense::new(4), x)
        }));
        let x = again.call(scope, x);
        scope.child(&Dense::new(5), x)
    });
    let names: Vec<&str> = made["params"]
        .paths()
        .filter(|p| p.ends_with("bias"))
        .collect();
    assert_eq!(names, ["Dense_0.bias", "Dense_1.bias", "Dense_2.bias"]);
}
