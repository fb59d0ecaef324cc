//! `cnn`: two blocks of convolution, batch normalization with running statistics, ReLU and max
//! pooling. Images are channels-first, as in Candle.

use crate::protocol::Workload;
use crate::{Parameters, classes};
use candle_core::{Device, Result, Tensor};
use candle_nn::{
    AdamW, BatchNorm, Conv2d, Conv2dConfig, Module, ParamsAdamW, batch_norm, conv2d, linear, loss,
};

fn block(x: &Tensor, conv: &Conv2d, norm: &BatchNorm) -> Result<Tensor> {
    let x = norm.forward_train(&conv.forward(x)?)?.relu()?;
    x.max_pool2d(2)
}

pub fn build() -> Result<Workload> {
    let x = Tensor::randn(0f32, 1.0, (64, 1, 28, 28), &Device::Cpu)?;
    let y = classes(10, &[64])?;
    let parameters = Parameters::new();
    let vars = parameters.builder();
    let same = Conv2dConfig {
        padding: 1,
        ..Default::default()
    };
    let conv1 = conv2d(1, 32, 3, same, vars.pp("conv1"))?;
    let norm1 = batch_norm(32, 1e-5, vars.pp("norm1"))?;
    let conv2 = conv2d(32, 64, 3, same, vars.pp("conv2"))?;
    let norm2 = batch_norm(64, 1e-5, vars.pp("norm2"))?;
    let out = linear(64 * 7 * 7, 10, vars.pp("out"))?;
    parameters.train::<AdamW>(adam(0.0), move || {
        let h = block(&block(&x, &conv1, &norm1)?, &conv2, &norm2)?;
        loss::cross_entropy(&out.forward(&h.flatten_from(1)?)?, &y)
    })
}

/// Returns the options of Adam with a learning rate of 1e-3, or of AdamW if the weight decay is
/// not 0.
pub fn adam(weight_decay: f64) -> ParamsAdamW {
    ParamsAdamW {
        weight_decay,
        ..ParamsAdamW::default()
    }
}
