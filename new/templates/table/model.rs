//! The model and its loss.

use ramie::nn::{Linear, Rngs};
use ramie::optim::squared_error;
use ramie::{Array, DType, Module, concatenate};

/// A multilayer perceptron: 3 numbers and a category, two hidden layers, one number.
#[derive(Module)]
pub struct Regressor {
    hidden1: Linear,
    hidden2: Linear,
    out: Linear,
    #[tree(fixed)]
    categories: usize,
}

impl Regressor {
    pub fn new(categories: usize, rngs: &mut Rngs) -> Regressor {
        Regressor {
            hidden1: Linear::new(3 + categories, 64, rngs),
            hidden2: Linear::new(64, 64, rngs),
            out: Linear::new(64, 1, rngs),
            categories,
        }
    }

    /// Maps standardized numbers `[n, 3]` and categories `[n]` to standardized predictions `[n]`.
    pub fn forward(&self, numbers: &Array, categories: &Array) -> Array {
        let categories = categories.one_hot(self.categories, DType::F32);
        let x = concatenate(&[numbers, &categories], 1);
        let x = self.hidden1.forward(&x).relu();
        let x = self.hidden2.forward(&x).relu();
        self.out.forward(&x).squeeze(&[-1])
    }
}

/// Returns the mean squared error and the mean absolute error.
pub fn loss(
    model: &mut Regressor,
    numbers: Array,
    categories: Array,
    target: Array,
) -> (Array, Array) {
    let predictions = model.forward(&numbers, &categories);
    let error = (&predictions - &target).abs().mean();
    (squared_error(&predictions, &target).mean(), error)
}
