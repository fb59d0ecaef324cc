//! `cnn`: two blocks of convolution, batch normalization with running statistics, ReLU and max
//! pooling. Images are channels-first, as in Burn.

use crate::protocol::Workload;
use crate::{adam, classes, normal, train};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::pool::{MaxPool2d, MaxPool2dConfig};
use burn::nn::{BatchNorm, BatchNormConfig, Linear, LinearConfig, PaddingConfig2d};
use burn::prelude::*;
use burn::tensor::activation::relu;

#[derive(Module, Debug)]
struct Block {
    conv: Conv2d,
    norm: BatchNorm,
    pool: MaxPool2d,
}

impl Block {
    fn new(channels: [usize; 2], device: &Device) -> Block {
        let conv = Conv2dConfig::new(channels, [3, 3]).with_padding(PaddingConfig2d::Same);
        Block {
            conv: conv.init(device),
            norm: BatchNormConfig::new(channels[1]).init(device),
            pool: MaxPool2dConfig::new([2, 2]).init(),
        }
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let x = self.norm.forward(self.conv.forward(x));
        self.pool.forward(relu(x))
    }
}

#[derive(Module, Debug)]
struct Cnn {
    block1: Block,
    block2: Block,
    out: Linear,
}

pub fn build(device: &Device) -> Workload {
    let x = normal([64, 1, 28, 28], device);
    let y = classes(10, [64], device);
    let loss = CrossEntropyLossConfig::new().init(device);
    let model = Cnn {
        block1: Block::new([1, 32], device),
        block2: Block::new([32, 64], device),
        out: LinearConfig::new(64 * 7 * 7, 10).init(device),
    };
    train(model, adam(0.0), 1e-3, move |model| {
        let h = model.block2.forward(model.block1.forward(x.clone()));
        let logits = model.out.forward(h.flatten(1, 3));
        loss.forward(logits, y.clone())
    })
}
