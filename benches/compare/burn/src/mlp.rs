//! `xor` and `digits`: dense layers trained by gradient descent.

use crate::protocol::Workload;
use crate::{classes, normal, train};
use burn::nn::loss::{BinaryCrossEntropyLossConfig, CrossEntropyLossConfig};
use burn::nn::{Linear, LinearConfig};
use burn::optim::SgdConfig;
use burn::prelude::*;
use burn::tensor::activation::selu;

#[derive(Module, Debug)]
struct Mlp {
    layers: Vec<Linear>,
}

impl Mlp {
    fn new(sizes: &[usize], device: &Device) -> Mlp {
        let layer = |pair: &[usize]| LinearConfig::new(pair[0], pair[1]).init(device);
        let layers = sizes.windows(2).map(layer).collect();
        Mlp { layers }
    }

    /// Returns the outputs of the last layer, with an activation between layers.
    fn forward(&self, mut x: Tensor<2>, activation: impl Fn(Tensor<2>) -> Tensor<2>) -> Tensor<2> {
        let (last, hidden) = self.layers.split_last().expect("a layer");
        for layer in hidden {
            x = activation(layer.forward(x));
        }
        last.forward(x)
    }
}

pub fn xor(device: &Device) -> Workload {
    let bits = classes(2, [128, 2], device);
    let x = bits.clone().float() + normal([128, 2], device) * 0.1;
    let y = bits.sum_dim(1).squeeze_dim::<1>(1).equal_scalar(1).int();
    let truth = y.clone().greater_scalar(0);
    let loss = BinaryCrossEntropyLossConfig::new()
        .with_logits(true)
        .init(device);
    let model = Mlp::new(&[2, 8, 1], device);
    train(model, SgdConfig::new().init(), 0.1, move |model| {
        let logits = model.forward(x.clone(), Tensor::tanh).squeeze_dim::<1>(1);
        let right = logits.clone().greater_scalar(0.0).equal(truth.clone());
        let _accuracy = right.float().mean();
        loss.forward(logits, y.clone())
    })
}

pub fn digits(device: &Device) -> Workload {
    // From 0 to 1, as in the Candle program.
    let x = classes(17, [1347, 64], device).float() / 16.0;
    let y = classes(10, [1347], device);
    let loss = CrossEntropyLossConfig::new().init(device);
    let model = Mlp::new(&[64, 128, 128, 10], device);
    train(model, SgdConfig::new().init(), 0.05, move |model| {
        loss.forward(model.forward(x.clone(), selu), y.clone())
    })
}
