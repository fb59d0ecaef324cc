//! The classifier and its loss.

use ramie::nn::{Linear, Rngs};
use ramie::optim::softmax_cross_entropy_with_integer_labels;
use ramie::{Array, Module};

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

    /// Maps images `[n, 8, 8]` to logits `[n, 10]`.
    pub fn forward(&self, x: &Array) -> Array {
        let x = x.reshape(&[x.shape()[0], self.n_features]);
        let x = self.linear1.forward(&x).selu();
        let x = self.linear2.forward(&x).selu();
        self.linear3.forward(&x)
    }
}

/// Returns the mean loss on images `[n, 8, 8]` and labels `[n]`.
pub fn loss(model: &mut Classifier, images: Array, labels: Array) -> Array {
    let logits = model.forward(&images);
    softmax_cross_entropy_with_integer_labels(&logits, &labels).mean()
}

/// Returns the loss on images `[n, 8, 8]` and the predicted digits.
pub fn evaluate(model: &Classifier, images: &Array, labels: &Array) -> (Array, Array) {
    let logits = model.forward(images);
    let losses = softmax_cross_entropy_with_integer_labels(&logits, labels);
    (losses.mean(), logits.argmax(-1))
}
