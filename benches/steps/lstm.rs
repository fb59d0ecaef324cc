//! `lstm`: two layers of width 256 over 64 steps of 256 features, with 32 sequences per step,
//! followed by a dense layer on the last state, trained with Adam.

use crate::linen_step::{Trainer, cross_entropy, trainer};
use crate::measure::Workload;
use ramie::core::{Array, DType, Result, random};
use ramie::nn::init;
use ramie::nn::linen::{Dense, Module, OptimizedLSTMCell, RNN, Scope};
use ramie::optim::adam;

const WIDTH: usize = 256;

#[derive(Clone)]
struct Lstm;

impl Module for Lstm {
    fn call(&self, scope: &mut Scope, mut x: Array) -> Array {
        for _ in 0..2 {
            // The same initializer as in the JAX program: the plugin lacks LAPACK, which JAX's
            // orthogonal initializer calls.
            let cell = OptimizedLSTMCell::new(WIDTH).recurrent_kernel_init(init::lecun_normal());
            x = scope.child(&RNN::new(cell), x);
        }
        let last = x.index_in_dim(-1, 1).squeeze(&[1]);
        scope.child(&Dense::new(10), last)
    }
}

pub fn build() -> Result<Workload<Trainer, impl FnMut(&mut Trainer) -> Array>> {
    let key = random::key(0);
    let x = random::normal(&key, &[32, 64, WIDTH], DType::F32);
    let y = random::randint(&key.fold_in(1), &[32], 0, 10, DType::I32);
    trainer(Lstm, adam(1e-3), x, y, cross_entropy)
}
