//! Linen's reference program: a classifier of noisy XOR, and what is seen of it.

use ramie_core::{Array, DType, State, jit, random, value_and_grad};
use ramie_nn::linen::{self, Apply, BatchNorm, Dense, Dropout, Module, Scope, Tabulate, Variables};
use ramie_nn::training::TrainState;
use ramie_nn::{Deterministic, UseRunningAverage};
use ramie_optim::{losses, sgd};

/// With names for its parts.
#[derive(Clone, Debug)]
#[allow(dead_code)] // Printed.
struct SimpleClassifier {
    num_hidden: usize,
    num_outputs: usize,
}

impl Module for SimpleClassifier {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let x = scope.named("linear1", &Dense::new(self.num_hidden), x);
        scope.named("linear2", &Dense::new(self.num_outputs), x.tanh())
    }
}

/// The same with automatic names.
#[derive(Clone, Debug)]
struct SimpleClassifierCompact {
    num_hidden: usize,
    num_outputs: usize,
}

impl Module for SimpleClassifierCompact {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let x = scope.child(&Dense::new(self.num_hidden), x).tanh();
        scope.child(&Dense::new(self.num_outputs), x)
    }
}

fn model() -> SimpleClassifier {
    SimpleClassifier {
        num_hidden: 8,
        num_outputs: 1,
    }
}

fn shapes(variables: &Variables) -> Vec<String> {
    let state = State::of(variables);
    let shown = state
        .iter()
        .map(|(path, a)| format!("{path} {:?}", a.shape()));
    let mut shown: Vec<String> = shown.collect();
    shown.sort();
    shown
}

#[test]
fn parameters_have_names() {
    let x = random::normal(&random::key(1), &[8, 2], DType::F32);
    let params = model().init(random::key(0), x.clone());
    assert_eq!(
        shapes(&params),
        [
            "params.linear1.bias [8]",
            "params.linear1.kernel [2, 8]",
            "params.linear2.bias [1]",
            "params.linear2.kernel [8, 1]",
        ]
    );
    let out = model().apply(&params, x.clone());
    assert_eq!(out.shape(), [8, 1]);
    let compact = SimpleClassifierCompact {
        num_hidden: 8,
        num_outputs: 1,
    };
    let made = compact.init(random::key(0), x.clone());
    assert_eq!(
        shapes(&made),
        [
            "params.Dense_0.bias [8]",
            "params.Dense_0.kernel [2, 8]",
            "params.Dense_1.bias [1]",
            "params.Dense_1.kernel [8, 1]",
        ]
    );
    let mut bound = model().bind(&params, &Apply::new());
    let again: Array = bound.call(x);
    assert_eq!(again.to_vec::<f32>(), out.to_vec::<f32>());
    assert_eq!(
        format!("{:?}", model()),
        "SimpleClassifier { num_hidden: 8, num_outputs: 1 }"
    );
    let shown = format!("{bound:?}");
    assert!(
        shown.contains("num_hidden: 8") && shown.contains("linear1.kernel"),
        "{shown}"
    );
}

#[test]
fn parameters_from_shapes() {
    let x = Array::shape_dtype_struct(&[8, 2], DType::F32);
    let lazy = model().lazy_init(random::key(0), x.clone());
    let made = model().init(random::key(0), Array::ones(&[8, 2], DType::F32));
    for (path, a) in State::of(&made).iter() {
        let of_types = State::of(&lazy);
        let b = of_types.get(path).expect("the same paths");
        assert_eq!(a.to_vec::<f32>(), b.to_vec::<f32>(), "{path}");
    }
    let types = ramie_core::eval_shape(|x: Array| model().init(random::key(0), x), x);
    assert_eq!(shapes(&types), shapes(&made));
}

#[test]
fn tables() {
    let x = Array::shape_dtype_struct(&[8, 2], DType::F32);
    let options = Tabulate::default().flops().vjp_flops();
    let summary = model().tabulate(random::key(0), x.clone(), &options);
    let paths: Vec<&str> = summary.rows.iter().map(|r| r.path.as_str()).collect();
    assert_eq!(paths, ["", "linear1", "linear2"]);
    let first = summary.row("linear1").expect("a row");
    assert_eq!(first.class, "Dense");
    assert_eq!(first.inputs[0].to_string(), "f32[8,2]");
    assert_eq!(first.outputs[0].to_string(), "f32[8,8]");
    assert_eq!(
        (first.size("params").elements, first.size("params").bytes),
        (24, 96)
    );
    assert_eq!(
        (
            summary.total("params").elements,
            summary.total("params").bytes
        ),
        (33, 132)
    );
    // Two operations for each product of the matrices, one for each sum with the bias.
    assert_eq!(first.flops, Some(2 * 8 * 2 * 8 + 8 * 8));
    let flops = |path: &str| summary.row(path).and_then(|r| r.flops).expect("counted");
    assert!(flops("") >= flops("linear1") + flops("linear2"));
    let vjp = first.vjp_flops.expect("counted");
    assert!(vjp >= 2 * first.flops.expect("counted"), "{vjp}");
    let text = summary.to_string();
    let lines = [
        "SimpleClassifier summary",
        "kernel: f32[2,8]",
        "24 (96 B)",
        "Total: 33 (132 B)",
    ];
    for line in lines {
        assert!(text.contains(line), "no `{line}` in\n{text}");
    }
    let shallow = model().tabulate(random::key(0), x, &Tabulate::default().depth(0));
    assert_eq!(shallow.rows.len(), 1);
    assert_eq!(shallow.rows[0].size("params").elements, 33);
}

#[test]
fn tables_of_several_collections_and_repeated_calls() {
    let model = linen::method(|scope: &mut Scope, x: Array| {
        let mut dense = scope.setup("dense", &Dense::new(3));
        let x: Array = dense.call(x);
        let x: Array = dense.call(x);
        scope.child(&BatchNorm::new(), (x, UseRunningAverage(false)))
    });
    let x = Array::shape_dtype_struct(&[4, 3], DType::F32);
    let table = |options: Tabulate| model.tabulate(0, x.clone(), &options);
    let once = table(Tabulate::default());
    assert_eq!(once.rows.len(), 3);
    assert_eq!(once.collections, ["batch_stats", "params"]);
    assert_eq!(once.total("batch_stats").elements, 6);
    assert_eq!(once.total("params").elements, 18);
    let all = table(Tabulate::default().show_repeated());
    assert_eq!(all.rows.len(), 4);
    assert_eq!(all.total("params").elements, 18);
}

/// Points around the corners of a square with the exclusive or of their
/// coordinates.
fn noisy_xor(size: usize, seed: u64) -> (Array, Array) {
    let [corners, noise] = random::key(seed).split_into();
    let corners = random::bernoulli(&corners, 0.5, &[size, 2]).astype(DType::F32);
    let labels = corners.sum_over(1).eq(1.0).astype(DType::F32);
    let data = &corners + random::normal(&noise, &[size, 2], DType::F32) * 0.1;
    (data, labels)
}

#[test]
fn noisy_xor_is_learned() {
    let (data, labels) = noisy_xor(2500, 42);
    let variables = model().init(random::key(42), data.slice_in_dim(0, 8, 1, 0));
    let mut state = TrainState::create(variables.params(), sgd(0.1));
    let loss_and_accuracy = |params: State, x: &Array, y: &Array| {
        let logits = model().apply(&Variables::from_params(params), x.clone());
        let logits = logits.squeeze(&[-1]);
        let right = logits.gt(0.0).astype(DType::F32).eq(y);
        let loss = losses::sigmoid_binary_cross_entropy(&logits, y).mean();
        (loss, right.astype(DType::F32).mean())
    };
    let train_step = jit(move |state: &mut TrainState, x: Array, y: Array| {
        let loss = |params: State| loss_and_accuracy(params, &x, &y);
        let ((loss, accuracy), grads) = value_and_grad(loss)(state.params.clone());
        state.apply_gradients(grads);
        (loss, accuracy)
    });
    let eval_step =
        jit(move |state: TrainState, x: Array, y: Array| loss_and_accuracy(state.params, &x, &y).1);
    let take = |a: &Array, from: usize, to: usize| a.slice_in_dim(from, to, 1, 0);
    for epoch in 0..100u64 {
        let order = random::permutation(&random::key(epoch), 2500);
        let (x, y) = (data.take(&order, 0), labels.take(&order, 0));
        for batch in 0..2500 / 128 {
            let (from, to) = (batch * 128, batch * 128 + 128);
            train_step(&mut state, take(&x, from, to), take(&y, from, to));
        }
    }
    assert_eq!(train_step.compilations(), 1);
    assert_eq!(state.step.item::<i32>(), 1900);
    let (data, labels) = noisy_xor(500, 123);
    // The last batch is smaller: 116 points.
    let (mut right, mut seen) = (0.0, 0.0);
    for from in (0..500).step_by(128) {
        let to = (from + 128).min(500);
        let accuracy = eval_step(
            state.clone(),
            take(&data, from, to),
            take(&labels, from, to),
        );
        right += accuracy.item::<f32>() * (to - from) as f32;
        seen += (to - from) as f32;
    }
    assert_eq!(right / seen, 1.0);
    assert_eq!(eval_step.compilations(), 2);
}

/// A layer that behaves in one way in training and in another in evaluation.
struct Regularized;

impl Module<(Array, bool)> for Regularized {
    fn call(&self, scope: &mut Scope, (x, train): (Array, bool)) -> Array {
        let x = scope.child(&Dense::new(16), x);
        let x: Array = scope.child(&BatchNorm::new(), (x, UseRunningAverage(!train)));
        scope.child(&Dropout::new(0.5), (x, Deterministic(!train)))
    }
}

#[test]
fn training_and_evaluation() {
    let x = random::normal(&random::key(0), &[32, 4], DType::F32);
    let made = Regularized.init(random::key(1), (x.clone(), false));
    assert_eq!(made.names().collect::<Vec<_>>(), ["batch_stats", "params"]);
    // Dropout takes a key, and returns other values for another.
    let train = |variables: &Variables, seed: u64| {
        let options = Apply::new()
            .rngs([("dropout", random::key(seed))])
            .mutable("batch_stats");
        Regularized.apply_with(variables, (x.clone(), true), &options)
    };
    let (a, updates) = train(&made, 1);
    let (b, _) = train(&made, 2);
    let (again, _) = train(&made, 1);
    assert_ne!(a.to_vec::<f32>(), b.to_vec::<f32>());
    assert_eq!(a.to_vec::<f32>(), again.to_vec::<f32>());
    let zeros = a.eq(0.0).astype(DType::F32).mean().item::<f32>();
    assert!((0.35..0.65).contains(&zeros), "{zeros} dropped");
    // Statistics are next to the output, and the variables stay as they are.
    assert_eq!(updates.names().collect::<Vec<_>>(), ["batch_stats"]);
    let mean = |v: &Variables| v["batch_stats"]["BatchNorm_0.mean"].to_vec::<f32>();
    assert_eq!(mean(&made), [0.0; 16]);
    assert_ne!(mean(&updates), [0.0; 16]);
    let trained = made.clone().updated(updates);
    let evaluate = |v: &Variables| Regularized.apply(v, (x.clone(), false)).to_vec::<f32>();
    assert_eq!(evaluate(&trained), evaluate(&trained));
    assert_ne!(evaluate(&trained), evaluate(&made));
}

#[test]
fn dropout_takes_mode_and_key_of_the_call() {
    let x = Array::ones(&[64], DType::F32);
    let call = |train: bool, seed: u64| {
        let argument = (x.clone(), Deterministic(!train), random::key(seed));
        Dropout::new(0.5)
            .apply(&Variables::new(), argument)
            .to_vec::<f32>()
    };
    assert_eq!(call(false, 1), [1.0; 64]);
    assert_eq!(call(true, 1), call(true, 1));
    assert_ne!(call(true, 1), call(true, 2));
    let keyed = Dropout::new(0.5).deterministic(false);
    let same = keyed.apply(&Variables::new(), (x.clone(), random::key(1)));
    assert_eq!(call(true, 1), same.to_vec::<f32>());
}
