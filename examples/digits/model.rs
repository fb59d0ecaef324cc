//! The classifier and its training step.

use ramie::nn::{Linear, Optimizer, Rngs, value_and_grad};
use ramie::optim::{sgd, softmax_cross_entropy_with_integer_labels};
use ramie::{Array, Module, Tree};

/// Three layers with SELU between them: 64 → 128 → 128 → 10.
#[derive(Module)]
pub struct Classifier {
    pub linear1: Linear,
    pub linear2: Linear,
    pub linear3: Linear,
}

impl Classifier {
    pub fn new(rngs: &mut Rngs) -> Classifier {
        Classifier {
            linear1: Linear::new(64, 128, rngs),
            linear2: Linear::new(128, 128, rngs),
            linear3: Linear::new(128, 10, rngs),
        }
    }

    // ANCHOR: forward
    /// Maps pixels `[n, 64]` to logits `[n, 10]`.
    pub fn forward(&self, x: &Array) -> Array {
        let x = self.linear1.forward(x).selu();
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

fn loss(logits: &Array, labels: &Array) -> Array {
    softmax_cross_entropy_with_integer_labels(logits, labels).mean()
}

// ANCHOR: step
/// Runs one step on images `[n, 64]` and labels `[n]`. Returns the loss before the
/// update.
pub fn train_step(trainer: &mut Trainer, images: Array, labels: Array) -> Array {
    let (value, grads) = value_and_grad(&mut trainer.model, |m| loss(&m.forward(&images), &labels));
    trainer.optimizer.update(&mut trainer.model, grads);
    value
}
// ANCHOR_END: step

/// Returns the loss on images `[n, 64]` and the predicted digits.
pub fn evaluate(model: Classifier, images: Array, labels: Array) -> (Array, Array) {
    let logits = model.forward(&images);
    (loss(&logits, &labels), logits.argmax(-1))
}
