//! The workloads in Burn, on Flex, its pure Rust CPU backend.

#[path = "../../protocol.rs"]
mod protocol;
#[path = "../../sizes.rs"]
mod sizes;

mod cnn;
mod gpt;
mod lstm;
mod mlp;

use burn::module::Module;
use burn::optim::{AdamWConfig, GradientsParams, ModuleOptimizer};
use burn::prelude::*;
use burn::tensor::Distribution;
use protocol::Workload;

/// Creates a workload that trains `model`.
pub fn train<M: Module + 'static>(
    model: M,
    mut optimizer: ModuleOptimizer,
    rate: f64,
    loss: impl Fn(&M) -> Tensor<1> + 'static,
) -> Workload {
    let mut model = Some(model);
    let step = move || {
        let before = model.take().expect("the model");
        let value = loss(&before);
        let grads = GradientsParams::from_grads(value.backward(), &before);
        model = Some(optimizer.step(rate, before, grads));
        value.detach()
    };
    Workload::new(step, |loss: &Tensor<1>| loss.clone().into_scalar())
}

/// Returns Adam, or AdamW if the weight decay is not 0.
pub fn adam(weight_decay: f32) -> ModuleOptimizer {
    let config = AdamWConfig::new().with_epsilon(1e-8);
    config.with_weight_decay(weight_decay).init()
}

/// Returns random classes from `0` to `count - 1`.
pub fn classes<const D: usize>(count: usize, shape: [usize; D], device: &Device) -> Tensor<D, Int> {
    Tensor::<D>::random(shape, Distribution::Uniform(0.0, count as f64), device).int()
}

/// Returns normally distributed random numbers.
pub fn normal<const D: usize>(shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::random(shape, Distribution::Normal(0.0, 1.0), device)
}

fn scalar(device: &Device) -> Workload {
    let mut x = Tensor::<1>::zeros([1], device);
    let step = move || {
        x = x.clone().add_scalar(1.0);
        x.clone()
    };
    Workload::new(step, |x: &Tensor<1>| x.clone().into_scalar())
}

fn main() {
    protocol::main("burn", |name| {
        let plain = Device::flex();
        let device = plain.clone().autodiff();
        plain.seed(0);
        Some(match name {
            "scalar" => scalar(&plain),
            "xor" => mlp::xor(&device),
            "digits" => mlp::digits(&device),
            "cnn" => cnn::build(&device),
            "gpt" => gpt::build(&sizes::GPT, &device),
            "gpt2" => gpt::build(&sizes::GPT2, &device),
            "lstm" => lstm::build(&device),
            _ => return None,
        })
    });
}
