//! `xor` and `digits`: dense layers trained by gradient descent.

use crate::Parameters;
use crate::classes;
use crate::protocol::Workload;
use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{Linear, Module, SGD, VarBuilder, linear, loss, ops};

/// Creates layers of these sizes.
fn layers(sizes: &[usize], vars: VarBuilder<'_>) -> Result<Vec<Linear>> {
    let pairs = sizes.windows(2).enumerate();
    pairs
        .map(|(i, pair)| linear(pair[0], pair[1], vars.pp(i)))
        .collect()
}

/// Returns the outputs of the last layer, with an activation between layers.
fn forward(
    layers: &[Linear],
    x: &Tensor,
    activation: impl Fn(&Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    let (last, hidden) = layers.split_last().expect("a layer");
    let mut x = x.clone();
    for layer in hidden {
        x = activation(&layer.forward(&x)?)?;
    }
    last.forward(&x)
}

pub fn xor() -> Result<Workload> {
    let bits = classes(2, &[128, 2])?;
    let noise = Tensor::randn(0f32, 0.1, (128, 2), &Device::Cpu)?;
    let x = (bits.to_dtype(DType::F32)? + noise)?;
    let y = bits.sum(1)?.eq(1u32)?.to_dtype(DType::F32)?;
    let truth = y.gt(0.5f32)?;
    let parameters = Parameters::new();
    let layers = layers(&[2, 8, 1], parameters.builder())?;
    parameters.train::<SGD>(0.1, move || {
        let logits = forward(&layers, &x, Tensor::tanh)?.squeeze(1)?;
        let right = logits.gt(0f32)?.eq(&truth)?;
        let _accuracy = right.to_dtype(DType::F32)?.mean_all()?;
        loss::binary_cross_entropy_with_logit(&logits, &y)
    })
}

pub fn digits() -> Result<Workload> {
    // From 0 to 1: inputs from 0 to 16 produce NaN with Candle's initial weights.
    let x = (classes(17, &[1347, 64])?.to_dtype(DType::F32)? / 16.0)?;
    let y = classes(10, &[1347])?;
    let parameters = Parameters::new();
    let layers = layers(&[64, 128, 128, 10], parameters.builder())?;
    let selu = |x: &Tensor| ops::selu(x, 1.673_263_2, 1.050_701);
    parameters.train::<SGD>(0.05, move || {
        let logits = forward(&layers, &x, selu)?;
        loss::cross_entropy(&logits, &y)
    })
}
