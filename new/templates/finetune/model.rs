//! The model, which a safetensors file initializes, and the step that fine-tunes it.

use ramie::nn::nnx::of_type;
use ramie::nn::{Linear, LoraParam, Rngs, value_and_grad_wrt};
use ramie::optim::softmax_cross_entropy_with_integer_labels;
use ramie::train::Training;
use ramie::{Array, Module};

/// Three linear layers: 64 pixels, two hidden layers, 10 classes.
#[derive(Module)]
pub struct Classifier {
    linear1: Linear,
    linear2: Linear,
    linear3: Linear,
}

impl Classifier {
    pub fn new(rngs: &mut Rngs) -> Classifier {
        Classifier {
            linear1: Linear::new(64, 256, rngs),
            linear2: Linear::new(256, 256, rngs),
            linear3: Linear::new(256, 10, rngs),
        }
    }

    /// Maps images `[n, 8, 8]`, with pixels from 0 to 16, to logits `[n, 10]`.
    pub fn forward(&mut self, images: &Array) -> Array {
        let x = images.reshape(&[images.shape()[0], 64]) / 16.0;
        let x = self.linear1.forward(&x).relu();
        let x = self.linear2.forward(&x).relu();
        self.linear3.forward(&x)
    }
}

/// Returns the mean loss and the accuracy on images `[n, 8, 8]` and labels `[n]`.
pub fn loss(model: &mut Classifier, images: Array, labels: Array) -> (Array, Array) {
    let logits = model.forward(&images);
    let loss = softmax_cross_entropy_with_integer_labels(&logits, &labels).mean();
    (loss, logits.argmax(-1).eq(&labels).mean())
}

/// The new task: the same images, rotated by 90 degrees.
fn rotated(images: &Array) -> Array {
    images.rot90(1, [1, 2])
}

/// Runs one step, which changes only the adapters. Returns the metrics before the update.
pub fn step(state: &mut Training<Classifier>, images: Array, labels: Array) -> (Array, Array) {
    let objective = |model: &mut Classifier| loss(model, rotated(&images), labels);
    let adapters = of_type::<LoraParam>();
    let (metrics, grads) = value_and_grad_wrt(&mut state.model, adapters, objective);
    state.optimizer.update(&mut state.model, grads);
    metrics
}

/// Returns the metrics of a state on other images.
pub fn evaluate(state: &Training<Classifier>, (images, labels): (Array, Array)) -> (Array, Array) {
    loss(&mut state.model.evaluated(), rotated(&images), labels)
}
