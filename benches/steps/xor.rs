//! `xor`: an MLP 2-8-1 with tanh and 128 examples per step, trained by gradient descent. The step
//! also returns the accuracy.

use crate::linen_step::{Trainer, trainer};
use crate::measure::Workload;
use ramie::core::{Array, DType, Result, random};
use ramie::nn::linen::{Dense, Module, Scope};
use ramie::optim::{sgd, sigmoid_binary_cross_entropy};

#[derive(Clone)]
struct Mlp;

impl Module for Mlp {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let x = scope.child(&Dense::new(8), x).tanh();
        scope.child(&Dense::new(1), x)
    }
}

pub fn build() -> Result<Workload<Trainer, impl FnMut(&mut Trainer) -> (Array, Array)>> {
    let key = random::key(0);
    let bits = random::randint(&key, &[128, 2], 0, 2, DType::I32);
    let noise = random::normal(&key.fold_in(1), &[128, 2], DType::F32) * 0.1;
    let x = bits.astype(DType::F32) + noise;
    let y = (bits.sum_over(1) % 2).astype(DType::F32);
    trainer(Mlp, sgd(0.1), x, y, |logits, y| {
        let logits = logits.squeeze(&[-1]);
        let right = logits.gt(0.0).eq(y.gt(0.5));
        let accuracy = right.astype(DType::F32).mean();
        (sigmoid_binary_cross_entropy(&logits, y).mean(), accuracy)
    })
}
