//! The classifier and its training step, as pure functions of variables.

use ramie::nn::linen::{Dense, Module, Scope, Variables};
use ramie::nn::training::TrainState;
use ramie::optim::{sgd, softmax_cross_entropy_with_integer_labels};
use ramie::{Array, State, value_and_grad};

/// Three layers with SELU between them: 64 → 128 → 128 → 10.
#[derive(Clone, Debug)]
pub struct Classifier {
    pub hidden: usize,
    pub classes: usize,
}

impl Default for Classifier {
    fn default() -> Self {
        Classifier {
            hidden: 128,
            classes: 10,
        }
    }
}

impl Module for Classifier {
    /// Maps pixels `[n, 64]` to logits `[n, 10]`.
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let x = scope.named("linear1", &Dense::new(self.hidden), x).selu();
        let x = scope.named("linear2", &Dense::new(self.hidden), x).selu();
        scope.named("linear3", &Dense::new(self.classes), x)
    }
}

/// Creates the state of a step, with plain gradient descent.
pub fn train_state(params: State, learning_rate: f64) -> TrainState {
    TrainState::create(params, sgd(learning_rate))
}

fn loss(params: State, images: &Array, labels: &Array) -> (Array, Array) {
    let logits = Classifier::default().apply(&Variables::from_params(params), images.clone());
    let loss = softmax_cross_entropy_with_integer_labels(&logits, labels).mean();
    (loss, logits)
}

/// Runs one step on images `[n, 64]` and labels `[n]`. Returns the loss before the
/// update.
pub fn train_step(state: &mut TrainState, images: Array, labels: Array) -> Array {
    let objective = |params: State| loss(params, &images, &labels);
    let ((value, _), grads) = value_and_grad(objective)(state.params.clone());
    state.apply_gradients(grads);
    value
}

/// Returns the loss on images `[n, 64]` and the predicted digits.
pub fn evaluate(params: State, images: Array, labels: Array) -> (Array, Array) {
    let (loss, logits) = loss(params, &images, &labels);
    (loss, logits.argmax(-1))
}
