//! The classifier and its training step.

use ramie::nn::{Linear, Optimizer, Rngs, value_and_grad};
use ramie::optim::{sgd, softmax_cross_entropy_with_integer_labels};
use ramie::{Array, Module, Tree};

/// Three layers with SELU between them.
#[derive(Debug, Module)]
pub struct Classifier {
    pub n_features: usize,
    pub linear1: Linear,
    pub linear2: Linear,
    pub linear3: Linear,
}

impl Classifier {
    pub fn new(n_features: usize, n_hidden: usize, n_targets: usize, rngs: &mut Rngs) -> Self {
        Classifier {
            n_features,
            linear1: Linear::new(n_features, n_hidden, rngs),
            linear2: Linear::new(n_hidden, n_hidden, rngs),
            linear3: Linear::new(n_hidden, n_targets, rngs),
        }
    }

    // ANCHOR: forward
    /// Maps images `[n, 8, 8]` to logits `[n, 10]`.
    pub fn forward(&self, x: &Array) -> Array {
        let x = x.reshape(&[x.shape()[0], self.n_features]);
        let x = self.linear1.forward(&x).selu();
        let x = self.linear2.forward(&x).selu();
        self.linear3.forward(&x)
    }
    // ANCHOR_END: forward
}

/// State of a step.
#[derive(Tree)]
pub struct Trainer {
    pub model: Classifier,
    pub optimizer: Optimizer,
}

impl Trainer {
    /// Creates a trainer with plain gradient descent.
    pub fn new(model: Classifier, learning_rate: f64) -> Trainer {
        let optimizer = Optimizer::new(&model, sgd(learning_rate));
        Trainer { model, optimizer }
    }
}

/// Returns the mean loss on images `[n, 8, 8]` and labels `[n]`, and the logits.
fn loss(model: &Classifier, images: &Array, labels: &Array) -> (Array, Array) {
    let logits = model.forward(images);
    let losses = softmax_cross_entropy_with_integer_labels(&logits, labels);
    (losses.mean(), logits)
}

// ANCHOR: step
/// Runs one step on images `[n, 8, 8]` and labels `[n]`. Returns the loss before the
/// update.
pub fn train_step(trainer: &mut Trainer, images: Array, labels: Array) -> Array {
    let (value, grads) = value_and_grad(&mut trainer.model, |m| loss(m, &images, &labels).0);
    trainer.optimizer.update(&mut trainer.model, grads);
    value
}
// ANCHOR_END: step

/// Returns the loss on images `[n, 8, 8]` and the predicted digits.
pub fn evaluate(model: &Classifier, images: &Array, labels: &Array) -> (Array, Array) {
    let (loss, logits) = loss(model, images, labels);
    (loss, logits.argmax(-1))
}
