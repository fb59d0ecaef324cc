//! Training runs in both ways, step by step those of Flax: images with batch
//! normalization and dropout, sequences with two layers of LSTM.

use crate::common;

use common::{Case, Golden, last_bits};
use ramie_core::lax::{Padding, max_pool};
use ramie_core::random::{self, Key};
use ramie_core::{Array, DType, State, jit, stack, value_and_grad};
use ramie_nn::linen::{
    Apply, BatchNorm, CollectionFilter, Conv, Dense, Dropout, Module, OptimizedLSTMCell, RNN,
    Scope, Variables,
};
use ramie_nn::{Deterministic, Optimizer, Rngs, UseRunningAverage};
use ramie_optim::{
    GradientTransformation, OptState, adam, apply_updates, sgd,
    softmax_cross_entropy_with_integer_labels,
};

const STEPS: isize = 20;
/// What rounding in another order leaves after all steps, as a part of the
/// greatest number of each array.
const TOLERANCE: f32 = 1e-4;

fn loss_of(logits: &Array, labels: &Array) -> Array {
    softmax_cross_entropy_with_integer_labels(logits, labels).mean()
}

/// A batch of what was recorded for all steps.
fn batch(all: &Array, step: isize) -> Array {
    all.index_in_dim(step, 0).squeeze(&[0])
}

fn pooled(x: &Array) -> Array {
    max_pool(x, &[2, 2], &[2, 2], Padding::Valid)
}

fn last_step(x: &Array) -> Array {
    x.index_in_dim(-1, 1).squeeze(&[1])
}

/// Everything is as recorded, to within a part of the greatest number.
fn same(what: &str, got: &State, expected: &State, tolerance: f32) {
    let mut paths: Vec<_> = got.paths().collect();
    let mut wanted: Vec<_> = expected.paths().collect();
    paths.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(paths, wanted, "{what}");
    for (path, e) in expected.iter() {
        let g = &got[path];
        assert_eq!((g.shape(), g.dtype()), (e.shape(), e.dtype()), "{path}");
        let (g, e) = (g.astype(DType::F32), e.astype(DType::F32));
        let greatest = e.abs().max().item::<f32>();
        let worst = (&g - &e).abs().max().item::<f32>();
        let far = worst > tolerance * greatest;
        assert!(!far, "{what}: {path} differs by {worst} of {greatest}");
    }
}

/// What a run reached: losses, logits afterwards, and the state.
fn reached(case: &Case, losses: Vec<Array>, logits: Array, state: &State, tolerance: f32) {
    let got = State::from_iter([("0", stack(&losses, 0)), ("1", logits)]);
    same("losses and logits", &got, &case.below("out"), tolerance);
    same("state", state, &dotted(case, "after"), tolerance);
}

/// What is recorded of a part, the collection first in each path.
fn dotted(case: &Case, part: &str) -> State {
    let state = case.below(part);
    let paths = state.iter();
    paths
        .map(|(path, a)| (path.replacen('/', ".", 1), a.clone()))
        .collect()
}

/// Whether the model is trained.
type Train = bool;

struct Cnn {
    train: Train,
}

impl Module for Cnn {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let off = Deterministic(!self.train);
        let x = scope.child(&Conv::new(4, [3, 3]).without_bias(), x);
        let norm = BatchNorm::new().momentum(0.9);
        let x: Array = scope.child(&norm, (x, UseRunningAverage(!self.train)));
        let x: Array = scope.child(&Dropout::new(0.25), (pooled(&x.relu()), off));
        let x = x.reshape(&[x.shape()[0], 64]);
        let x = scope.child(&Dense::new(16), x).tanh();
        let x: Array = scope.child(&Dropout::new(0.5), (x, off));
        scope.child(&Dense::new(3), x)
    }
}

struct Lstm;

impl Module for Lstm {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let rnn = RNN::new(OptimizedLSTMCell::new(6));
        let x: Array = scope.child(&rnn, x);
        let x: Array = scope.child(&rnn, x);
        scope.child(&Dense::new(3), last_step(&x))
    }
}

/// What a step of a model in the way of Linen changes.
#[derive(ramie_nn::Tree)]
struct Run {
    variables: Variables,
    opt_state: OptState,
}

fn trained<M: Module + Send + Sync + 'static>(
    case: &Case,
    model: impl Fn(Train) -> M + Send + Sync + 'static,
    xs: &Array,
    labels: &Array,
    tx: GradientTransformation,
) {
    let variables = model(false).init(random::key(0), batch(xs, 0));
    let tolerance = last_bits(1e-6) as f32;
    same(
        "init",
        &State::of(&variables),
        &dotted(case, "init"),
        tolerance,
    );
    // Go on from Flax's own values.
    let mut recorded = Variables::new();
    for collection in variables.names() {
        recorded.set(collection, case.below(&format!("init/{collection}")));
    }
    let mut run = Run {
        opt_state: tx.init(&recorded.params()),
        variables: recorded,
    };
    let evaluated = model(false);
    let step = jit(move |run: &mut Run, x: Array, y: Array, key: Key| {
        let params = run.variables.params();
        let options = Apply::new()
            .rngs([("dropout", key)])
            .mutable(CollectionFilter::all_but(["params"]));
        let loss = |params: State| {
            let variables = run.variables.clone().with("params", params);
            let (logits, updates) = model(true).apply_with(&variables, x.clone(), &options);
            (loss_of(&logits, &y), updates)
        };
        let ((loss, stats), grads) = value_and_grad(loss)(params.clone());
        let state = std::mem::replace(&mut run.opt_state, OptState::new(()));
        let (updates, state) = tx.update(grads, state, Some(&params));
        run.opt_state = state;
        let variables = std::mem::take(&mut run.variables).updated(stats);
        run.variables = variables.with("params", apply_updates(&params, &updates));
        loss
    });
    let key = |i: isize| random::key(1).fold_in(Array::scalar(i as u32, DType::U32));
    let losses: Vec<Array> = (0..STEPS)
        .map(|i| step(&mut run, batch(xs, i), batch(labels, i), key(i)))
        .collect();
    assert_eq!(step.compilations(), 1);
    let logits = evaluated.apply(&run.variables, batch(xs, 0));
    reached(case, losses, logits, &State::of(&run.variables), TOLERANCE);
}

fn data(golden: &Golden) -> [Array; 3] {
    golden.case("data").inputs().try_into().expect("three")
}

#[test]
fn images_in_linen() {
    let golden = Golden::open("flax_runs");
    let [images, _, labels] = data(golden);
    let case = golden.case("cnn");
    trained(
        &case,
        |train| Cnn { train },
        &images,
        &labels,
        adam(1e-2).into(),
    );
}

#[test]
fn sequences_in_linen() {
    let golden = Golden::open("flax_runs");
    let [_, series, labels] = data(golden);
    let case = golden.case("lstm");
    let tx = sgd(0.1).momentum(0.9);
    trained(&case, |_| Lstm, &series, &labels, tx.into());
}

/// The same models, which hold their variables.
mod structs {
    use super::{last_step, pooled};
    use ramie_core::Array;
    use ramie_nn::{BatchNorm, Conv, Dropout, Linear, Module, OptimizedLSTMCell, RNN, Rngs};

    pub trait Model: Module {
        fn forward(&mut self, x: &Array) -> Array;
    }

    #[derive(Module)]
    pub struct Cnn {
        conv: Conv,
        norm: BatchNorm,
        drop1: Dropout,
        hidden: Linear,
        drop2: Dropout,
        out: Linear,
    }

    impl Cnn {
        pub fn new(rngs: &mut Rngs) -> Cnn {
            Cnn {
                conv: Conv::features(4, [3, 3]).without_bias().build(1, rngs),
                norm: BatchNorm::config().momentum(0.9).build(4, rngs),
                drop1: Dropout::new(0.25, rngs),
                hidden: Linear::new(64, 16, rngs),
                drop2: Dropout::new(0.5, rngs),
                out: Linear::new(16, 3, rngs),
            }
        }
    }

    impl Model for Cnn {
        fn forward(&mut self, x: &Array) -> Array {
            let x = self.norm.forward(&self.conv.forward(x)).relu();
            let x = self.drop1.forward(&pooled(&x));
            let x = self.hidden.forward(&x.reshape(&[x.shape()[0], 64])).tanh();
            self.out.forward(&self.drop2.forward(&x))
        }
    }

    #[derive(Module)]
    pub struct Lstm {
        first: RNN<OptimizedLSTMCell>,
        second: RNN<OptimizedLSTMCell>,
        out: Linear,
    }

    impl Lstm {
        pub fn new(rngs: &mut Rngs) -> Lstm {
            Lstm {
                first: RNN::new(OptimizedLSTMCell::new(3, 6, rngs)),
                second: RNN::new(OptimizedLSTMCell::new(6, 6, rngs)),
                out: Linear::new(6, 3, rngs),
            }
        }
    }

    impl Model for Lstm {
        fn forward(&mut self, x: &Array) -> Array {
            let x = self.second.forward(&self.first.forward(x));
            self.out.forward(&last_step(&x))
        }
    }
}

/// What a step of a model that holds its variables changes.
#[derive(ramie_nn::Tree)]
struct Trainer<M> {
    model: M,
    optimizer: Optimizer,
}

fn trained_struct<M: structs::Model>(
    case: &Case,
    mut model: M,
    xs: &Array,
    labels: &Array,
    tx: GradientTransformation,
) {
    let tolerance = last_bits(1e-6) as f32;
    same("init", &State::of(&model), &case.below("init"), tolerance);
    case.below("init").apply_to(&mut model).expect("its paths");
    model.train();
    let optimizer = Optimizer::new(&model, tx);
    let mut trainer = Trainer { model, optimizer };
    let step = jit(|t: &mut Trainer<M>, x: Array, y: Array| {
        let loss = |m: &mut M| loss_of(&m.forward(&x), &y);
        let (loss, grads) = ramie_nn::value_and_grad(&mut t.model, loss);
        t.optimizer.update(&mut t.model, grads);
        loss
    });
    let losses: Vec<Array> = (0..STEPS)
        .map(|i| step(&mut trainer, batch(xs, i), batch(labels, i)))
        .collect();
    assert_eq!(step.compilations(), 1);
    let state = State::of(&trainer.model);
    trainer.model.eval();
    let logits = trainer.model.forward(&batch(xs, 0));
    reached(case, losses, logits, &state, TOLERANCE);
}

#[test]
fn images_in_nnx() {
    let golden = Golden::open("flax_runs");
    let [images, _, labels] = data(golden);
    let model = structs::Cnn::new(&mut Rngs::new(0).stream("dropout", 1));
    let case = golden.case("nnx_cnn");
    trained_struct(&case, model, &images, &labels, adam(1e-2).into());
}

#[test]
fn sequences_in_nnx() {
    let golden = Golden::open("flax_runs");
    let [_, series, labels] = data(golden);
    let model = structs::Lstm::new(&mut Rngs::new(0));
    let case = golden.case("nnx_lstm");
    let tx = sgd(0.1).momentum(0.9);
    trained_struct(&case, model, &series, &labels, tx.into());
}
