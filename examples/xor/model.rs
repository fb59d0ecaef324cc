//! The classifier, its training step and its evaluation.

use ramie::nn::linen::{Dense, Module, Scope, Variables};
use ramie::nn::training::TrainState;
use ramie::optim::{sgd, sigmoid_binary_cross_entropy};
use ramie::{Array, DType, State, random, value_and_grad};

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

/// Creates the state before the first step of plain gradient descent.
pub fn train_state(model: SimpleClassifier, seed: u64, learning_rate: f64) -> TrainState {
    let x = Array::zeros(&[8, 2], DType::F32);
    let params = model.init(random::key(seed), x).params();
    TrainState::create(params, sgd(learning_rate))
        .with_apply_fn(move |variables, x: Array| model.apply(variables, x))
}

/// Returns the mean loss and accuracy of logits `[n]` for classes `[n]`.
pub fn loss_and_accuracy(logits: &Array, classes: &Array) -> (Array, Array) {
    let loss = sigmoid_binary_cross_entropy(logits, classes).mean();
    let right = logits.gt(0.0).eq(classes.gt(0));
    (loss, right.astype(DType::F32).mean())
}

// ANCHOR: step
/// Returns the loss and accuracy of parameters on a batch of points `[n, 2]` and classes `[n]`.
/// The parameters are an argument besides the state, because the step differentiates by them.
pub fn calculate_loss_acc(
    state: &TrainState,
    params: State,
    (x, y): &(Array, Array),
) -> (Array, Array) {
    let logits: Array = state.apply_fn(&Variables::from_params(params), x.clone());
    loss_and_accuracy(&logits.squeeze(&[-1]), y)
}

/// Runs one step on a batch. Returns the loss and accuracy before the update.
pub fn train_step(state: &mut TrainState, x: Array, y: Array) -> (Array, Array) {
    let batch = (x, y);
    let loss_fn = |params| calculate_loss_acc(state, params, &batch);
    let (loss_acc, grads) = value_and_grad(loss_fn)(state.params.clone());
    state.apply_gradients(grads);
    loss_acc
}

/// Returns the accuracy on a batch.
pub fn eval_step(state: &TrainState, x: Array, y: Array) -> Array {
    calculate_loss_acc(state, state.params.clone(), &(x, y)).1
}
// ANCHOR_END: step
