//! `lstm`: two layers over 64 steps, followed by a dense layer on the last state.

use crate::protocol::Workload;
use crate::{adam, classes, normal, train};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig, Lstm, LstmConfig};
use burn::prelude::*;

const WIDTH: usize = 256;

#[derive(Module, Debug)]
struct Model {
    lower: Lstm,
    upper: Lstm,
    out: Linear,
}

pub fn build(device: &Device) -> Workload {
    let x = normal([32, 64, WIDTH], device);
    let y = classes(10, [32], device);
    let loss = CrossEntropyLossConfig::new().init(device);
    let layer = LstmConfig::new(WIDTH, WIDTH, true);
    let model = Model {
        lower: layer.init(device),
        upper: layer.init(device),
        out: LinearConfig::new(WIDTH, 10).init(device),
    };
    train(model, adam(0.0), 1e-3, move |model| {
        let (hidden, _) = model.lower.forward(x.clone(), None);
        let (_, state) = model.upper.forward(hidden, None);
        loss.forward(model.out.forward(state.hidden), y.clone())
    })
}
