//! Models differentiate, change their state, and are trained, at once and
//! compiled.

use ramie_core::{Array, DType, State, jit, tree};
use ramie_nn::linen::{Dense, Module as _};
use ramie_nn::nnx::{Ema, of_type, predicate};
use ramie_nn::training::{TrainState, onehot};
use ramie_nn::{
    BatchStat, Linear, Module, Optimizer, Param, Rngs, Tree, grad, value_and_grad,
    value_and_grad_wrt,
};
use ramie_optim::{adam, sgd};
use ramie_testing::panic_message;

fn scalar(value: f32) -> Array {
    Array::from(value)
}

/// `y = slope · x + offset`; remembers the mean of its inputs and its calls.
#[derive(Module)]
struct Line {
    slope: Param,
    offset: Param,
    mean: BatchStat,
    calls: usize,
}

impl Line {
    fn new(slope: f32) -> Line {
        Line {
            slope: Param::new(scalar(slope)),
            offset: Param::new(scalar(0.0)),
            mean: BatchStat::new(scalar(0.0)),
            calls: 0,
        }
    }

    fn forward(&mut self, x: &Array) -> Array {
        self.mean.set(x.sum_over(0) / x.size());
        self.calls += 1;
        x * &self.slope + &self.offset
    }
}

fn is_module<M: Module>(_: &M) {}

fn data() -> (Array, Array) {
    (
        Array::from([0.0f32, 1.0, 2.0]),
        Array::from([1.0f32, 3.0, 5.0]),
    )
}

fn loss(y: &Array, target: &Array) -> Array {
    (y - target).square().sum_over(0)
}

#[test]
fn gradients_are_those_of_parameters_and_state_is_carried_out() {
    let mut line = Line::new(1.0);
    is_module(&line);
    let (x, y) = data();
    let ((value, predicted), grads) = value_and_grad(&mut line, |m| {
        let predicted = m.forward(&x);
        (loss(&predicted, &y), predicted)
    });
    assert_eq!(value.item::<f32>(), 14.0);
    assert_eq!(predicted.to_vec::<f32>(), [0.0, 1.0, 2.0]);
    assert_eq!(grads.paths().collect::<Vec<_>>(), ["slope", "offset"]);
    assert_eq!(grads.get("slope").map(Array::item::<f32>), Some(-16.0));
    assert_eq!(grads.get("offset").map(Array::item::<f32>), Some(-12.0));
    assert_eq!(line.mean.item::<f32>(), 1.0);
    assert_eq!(line.calls, 1);
    assert_eq!(line.slope.item::<f32>(), 1.0);

    let only = grad(&mut line, |m| loss(&m.forward(&x), &y));
    assert_eq!(only.get("slope").map(Array::item::<f32>), Some(-16.0));
    let (_, some) = value_and_grad_wrt(&mut line, predicate(|path, _| path == "offset"), |m| {
        loss(&m.forward(&x), &y)
    });
    assert_eq!(some.paths().collect::<Vec<_>>(), ["offset"]);
}

#[derive(Tree)]
struct Trainer {
    model: Line,
    optimizer: Optimizer,
}

#[test]
fn a_compiled_step_trains() {
    let model = Line::new(0.0);
    let mut trainer = Trainer {
        optimizer: Optimizer::new(&model, adam(0.1)),
        model,
    };
    let step = jit(|t: &mut Trainer, x: Array, y: Array| {
        t.model.calls = 0;
        let (value, grads) = value_and_grad(&mut t.model, |m| loss(&m.forward(&x), &y));
        t.model.calls = 0;
        t.optimizer.update(&mut t.model, grads);
        value
    });
    let (x, y) = data();
    let first = step(&mut trainer, x.clone(), y.clone()).item::<f32>();
    for _ in 0..299 {
        step(&mut trainer, x.clone(), y.clone());
    }
    assert_eq!(first, 35.0);
    assert!(
        (trainer.model.slope.item::<f32>() - 2.0).abs() < 0.05,
        "{:?}",
        trainer.model.slope
    );
    assert!((trainer.model.offset.item::<f32>() - 1.0).abs() < 0.05);
    assert_eq!(trainer.model.mean.item::<f32>(), 1.0);
    assert_eq!(trainer.optimizer.step.item::<u32>(), 300);
    assert_eq!(step.compilations(), 1);
}

#[test]
fn leaves_have_paths_and_kinds() {
    let model = Line::new(0.0);
    let trainer = Trainer {
        optimizer: Optimizer::new(&model, adam(0.1)),
        model,
    };
    let state = State::of(&trainer);
    let params: Vec<String> = state
        .of_kind(Param::KIND)
        .paths()
        .map(String::from)
        .collect();
    assert_eq!(params, ["model.slope", "model.offset"]);
    let expected = [
        "model.slope",
        "model.offset",
        "model.mean",
        "optimizer.step",
        "optimizer.opt_state.0.count",
        "optimizer.opt_state.0.mu.slope",
        "optimizer.opt_state.0.mu.offset",
        "optimizer.opt_state.0.nu.slope",
        "optimizer.opt_state.0.nu.offset",
    ];
    assert_eq!(tree::paths(&trainer), expected);
}

#[test]
fn an_optimizer_of_some_parameters_leaves_the_others() {
    let mut line = Line::new(1.0);
    let (x, y) = data();
    let frozen = |path: &str, _: Option<&'static str>| path == "offset";
    let mut optimizer = Optimizer::wrt(&line, sgd(0.5), frozen);
    let (_, grads) = value_and_grad_wrt(&mut line, frozen, |m| loss(&m.forward(&x), &y));
    optimizer.update(&mut line, grads);
    assert_eq!(
        (line.slope.item::<f32>(), line.offset.item::<f32>()),
        (1.0, 6.0)
    );
}

#[test]
#[should_panic(expected = "must return a floating-point scalar loss, but it returned f32[3]")]
fn a_loss_that_is_not_a_scalar_is_refused() {
    let (x, _) = data();
    value_and_grad(&mut Line::new(1.0), |m| m.forward(&x));
}

#[test]
#[should_panic(expected = "`0` is i32[], but only floating-point leaves can be differentiated")]
fn a_parameter_of_integers_is_refused() {
    let mut model = (
        Param::new(Array::scalar(1, DType::I32)),
        Param::new(scalar(1.0)),
    );
    value_and_grad(&mut model, |m| m.1.square());
}

#[test]
#[should_panic(expected = "no parameters to differentiate")]
fn a_model_without_parameters_is_refused() {
    value_and_grad(&mut scalar(1.0), |m| m.square());
}

#[test]
fn a_train_state_calls_its_apply_fn() {
    let model = Dense::new(2);
    let x = Array::ones(&[4, 3], DType::F32);
    let variables = model.init(0, x.clone());
    let expected = model.apply(&variables, x.clone());
    let state = TrainState::create(variables.params(), sgd(0.1))
        .with_apply_fn(move |variables, x: Array| model.apply(variables, x));
    let found: Array = state.apply_fn(&state.variables(), x.clone());
    assert_eq!(found.to_vec::<f32>(), expected.to_vec::<f32>());
    // It is a fixed value: a copy of the state has it, and a tree of it has no more arrays.
    let copied: Array = state.clone().apply_fn(&state.variables(), x.clone());
    assert_eq!(copied.to_vec::<f32>(), expected.to_vec::<f32>());
    assert!(
        tree::paths(&state)
            .iter()
            .all(|path| !path.starts_with("apply_fn"))
    );
    let other = panic_message(|| {
        let _: f32 = state.apply_fn(&state.variables(), x.clone());
    });
    assert!(
        other.contains("returns Array, but the call passes Array and expects f32"),
        "{other}"
    );
    assert!(other.contains("help: pass the input"), "{other}");
    let none = TrainState::create(variables.params(), sgd(0.1));
    let none = panic_message(|| {
        let _: Array = none.apply_fn(&none.variables(), x.clone());
    });
    assert!(none.contains("no forward computation"), "{none}");
}

#[test]
fn trainers_are_cloned() {
    #[derive(Clone, Tree)]
    struct Trainer {
        model: Linear,
        optimizer: Optimizer,
        ema: Ema,
    }
    let model = Linear::new(3, 2, &mut Rngs::new(0));
    let mut trainer = Trainer {
        optimizer: Optimizer::new(&model, adam(0.1)),
        ema: Ema::new(&model, 0.9, of_type::<Param>()),
        model,
    };
    let best = trainer.clone();
    let x = Array::ones(&[4, 3], DType::F32);
    let (_, grads) = value_and_grad(&mut trainer.model, |m| m.forward(&x).square().mean());
    trainer.optimizer.update(&mut trainer.model, grads);
    trainer.ema.update(&trainer.model);
    assert_eq!(trainer.optimizer.step.item::<u32>(), 1);
    assert_eq!(best.optimizer.step.item::<u32>(), 0);
    let kernel = |trainer: &Trainer| trainer.model.kernel.to_vec::<f32>();
    assert_ne!(kernel(&trainer), kernel(&best));
    assert_eq!(best.ema.params["kernel"].to_vec::<f32>(), kernel(&best));
}

#[test]
fn narrow_labels_have_one_class_each() {
    let labels = [
        Array::from([5u8]),
        Array::from([5i8]),
        Array::from([true]),
        Array::from([5.0f32]),
    ];
    for labels in labels {
        let rows = onehot(&labels, 300, 1.0, 0.0);
        assert_eq!(rows.shape(), [1, 300]);
        assert_eq!(rows.sum().item::<f32>(), 1.0, "{}", labels.aval());
        let class = if labels.dtype() == DType::Bool { 1 } else { 5 };
        assert_eq!(rows.argmax(-1).item::<i32>(), class);
    }
}
