//! The classifier, its training step and its evaluation.

use ramie::nn::linen::{Dense, Module, Scope};
use ramie::nn::training::TrainState;
use ramie::optim::{sgd, sigmoid_binary_cross_entropy};
use ramie::{Array, DType, random, value_and_grad};

/// Two dense layers with tanh between them: 2 → hidden → 1.
#[derive(Clone, Debug)]
pub struct SimpleClassifier {
    pub num_hidden: usize,
    pub num_outputs: usize,
}

impl Module for SimpleClassifier {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let x = scope.named("linear1", &Dense::new(self.num_hidden), x);
        scope.named("linear2", &Dense::new(self.num_outputs), x.tanh())
    }
}

/// Creates a classifier with eight hidden units and plain gradient descent.
pub fn train_state(model: &SimpleClassifier, seed: u64, learning_rate: f64) -> TrainState {
    let x = Array::zeros(&[8, 2], DType::F32);
    let variables = model.init(random::key(seed), x);
    TrainState::create(variables.params(), sgd(learning_rate))
}

/// Returns the mean loss and accuracy of logits `[n]` for classes `[n]`.
pub fn loss_and_accuracy(logits: &Array, classes: &Array) -> (Array, Array) {
    let loss = sigmoid_binary_cross_entropy(logits, classes).mean();
    let right = logits.gt(0.0).eq(classes.gt(0));
    (loss, right.astype(DType::F32).mean())
}

/// Runs one step on points `[n, 2]` with classes `[n]`. Returns the loss and accuracy
/// before the update.
pub fn train_step(
    model: SimpleClassifier,
) -> impl Fn(&mut TrainState, Array, Array) -> (Array, Array) {
    move |state, x, y| {
        let objective = |params| {
            let variables = state.variables().with("params", params);
            let logits = model.apply(&variables, x.clone()).squeeze(&[-1]);
            loss_and_accuracy(&logits, &y)
        };
        let (out, grads) = value_and_grad(objective)(state.params.clone());
        state.apply_gradients(grads);
        out
    }
}

/// Counts the correctly classified points `[n, 2]`, as a 0-d `i32`.
pub fn count_right(model: SimpleClassifier) -> impl Fn(TrainState, Array, Array) -> Array {
    move |state, x, y| {
        let logits = model.apply(&state.variables(), x).squeeze(&[-1]);
        let right = logits.gt(0.0).eq(y.gt(0));
        right.astype(DType::I32).sum()
    }
}
