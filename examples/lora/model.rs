//! A classifier, with or without adapters.

use ramie::Array;
use ramie::nn::{Forward, Linear, LoraLinear, Module, Rngs};

/// Three layers with SELU between them: 64 → 256 → 256 → 10.
#[derive(Module)]
pub struct Classifier<L: Forward = Linear> {
    pub linear1: L,
    pub linear2: L,
    pub linear3: L,
}

const SIZES: [usize; 4] = [64, 256, 256, 10];

impl<L: Forward> Classifier<L> {
    fn of(mut layer: impl FnMut(usize, usize) -> L) -> Classifier<L> {
        Classifier {
            linear1: layer(SIZES[0], SIZES[1]),
            linear2: layer(SIZES[1], SIZES[2]),
            linear3: layer(SIZES[2], SIZES[3]),
        }
    }

    /// Maps pixels `[n, 64]` to logits `[n, 10]`.
    pub fn forward(&mut self, x: &Array) -> Array {
        let x = self.linear1.forward(x).selu();
        let x = self.linear2.forward(&x).selu();
        self.linear3.forward(&x)
    }
}

impl Classifier {
    pub fn new(rngs: &mut Rngs) -> Classifier {
        Classifier::of(|inputs, outputs| Linear::new(inputs, outputs, rngs))
    }
}

impl Classifier<LoraLinear> {
    /// Creates the same layers, each with an adapter of this rank. Kernels and biases have the
    /// same paths as without adapters.
    pub fn adapted(rank: usize, rngs: &mut Rngs) -> Classifier<LoraLinear> {
        Classifier::of(|inputs, outputs| LoraLinear::new(inputs, outputs, rank, rngs))
    }

    /// Returns the classifier with the adapters merged into its kernels, which costs as much as
    /// the base model.
    pub fn merged(&self) -> Classifier {
        Classifier {
            linear1: self.linear1.merged(),
            linear2: self.linear2.merged(),
            linear3: self.linear3.merged(),
        }
    }
}
