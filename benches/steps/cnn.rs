//! `cnn`: two blocks of 3×3 convolution, batch normalization, ReLU and max pooling, with 32 and
//! 64 features, followed by a dense layer. Images are 28×28×1, with 64 per step. The optimizer is
//! Adam, and the running statistics are updated.

use crate::linen_step::{Trainer, cross_entropy, trainer};
use crate::measure::Workload;
use ramie::core::lax::Padding;
use ramie::core::{Array, DType, Result, random};
use ramie::nn::linen::{BatchNorm, Conv, Dense, Module, Scope};
use ramie::nn::max_pool;
use ramie::optim::adam;

#[derive(Clone)]
struct Cnn;

impl Module for Cnn {
    fn call(&self, scope: &mut Scope, mut x: Array) -> Array {
        for features in [32, 64] {
            x = scope.child(&Conv::new(features, [3, 3]), x);
            x = scope
                .child(&BatchNorm::new().use_running_average(false), x)
                .relu();
            x = max_pool(&x, &[2, 2], &[2, 2], Padding::Valid);
        }
        scope.child(&Dense::new(10), x.flatten(1..))
    }
}

pub fn build() -> Result<Workload<Trainer, impl FnMut(&mut Trainer) -> Array>> {
    let key = random::key(0);
    let x = random::normal(&key, &[64, 28, 28, 1], DType::F32);
    let y = random::randint(&key.fold_in(1), &[64], 0, 10, DType::I32);
    trainer(Cnn, adam(1e-3), x, y, cross_entropy)
}
