//! `lstm`: two layers over 64 steps, followed by a dense layer on the last state.

use crate::cnn::adam;
use crate::protocol::Workload;
use crate::{Parameters, classes};
use candle_core::{Device, Result, Tensor};
use candle_nn::rnn::{LSTMConfig, RNN, lstm};
use candle_nn::{AdamW, Module, linear, loss};

const WIDTH: usize = 256;

pub fn build() -> Result<Workload> {
    let x = Tensor::randn(0f32, 1.0, (32, 64, WIDTH), &Device::Cpu)?;
    let y = classes(10, &[32])?;
    let parameters = Parameters::new();
    let vars = parameters.builder();
    // A single bias, as in Flax's cell.
    let one_bias = LSTMConfig {
        b_ih_init: None,
        ..LSTMConfig::default()
    };
    let lower = lstm(WIDTH, WIDTH, one_bias, vars.pp("lower"))?;
    let upper = lstm(WIDTH, WIDTH, one_bias, vars.pp("upper"))?;
    let out = linear(WIDTH, 10, vars.pp("out"))?;
    parameters.train::<AdamW>(adam(0.0), move || {
        let hidden = lower.states_to_tensor(&lower.seq(&x)?)?;
        let states = upper.seq(&hidden)?;
        let last = states.last().expect("a step");
        loss::cross_entropy(&out.forward(last.h())?, &y)
    })
}
