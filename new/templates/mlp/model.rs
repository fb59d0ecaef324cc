//! The model and its loss.

use ramie::nn::{Dropout, Linear, Rngs};
use ramie::optim::softmax_cross_entropy_with_integer_labels;
use ramie::{Array, Module};

/// A multilayer perceptron: 64 pixels, two hidden layers, 10 classes.
#[derive(Module)]
pub struct Mlp {
    hidden1: Linear,
    hidden2: Linear,
    dropout: Dropout,
    out: Linear,
}

impl Mlp {
    pub fn new(width: usize, rngs: &mut Rngs) -> Mlp {
        Mlp {
            hidden1: Linear::new(64, width, rngs),
            hidden2: Linear::new(width, width, rngs),
            dropout: Dropout::new(0.2, rngs),
            out: Linear::new(width, 10, rngs),
        }
    }

    /// Maps images `[n, 8, 8]`, with pixels from 0 to 16, to logits `[n, 10]`.
    pub fn forward(&mut self, images: &Array) -> Array {
        let x = images.reshape(&[images.shape()[0], 64]) / 16.0;
        let x = self.hidden1.forward(&x).relu();
        let x = self.hidden2.forward(&x).relu();
        self.out.forward(&self.dropout.forward(&x))
    }
}

/// Returns the mean loss and the accuracy on images `[n, 8, 8]` and labels `[n]`.
pub fn loss(model: &mut Mlp, images: Array, labels: Array) -> (Array, Array) {
    let logits = model.forward(&images);
    let loss = softmax_cross_entropy_with_integer_labels(&logits, &labels).mean();
    (loss, logits.argmax(-1).eq(&labels).mean())
}
