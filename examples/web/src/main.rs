//! Trains a classifier of XOR where no plugin can be loaded: in WebAssembly.
//!
//! `cargo run --release` in this folder runs it by Node.js; `index.html` runs it in a page.
#![forbid(unsafe_code)]

use ramie::optim::{adam, sigmoid_binary_cross_entropy};
use ramie::prelude::*;
use std::time::Instant;

type Mlp = (Linear, Linear);

fn logits((hidden, out): &Mlp, x: &Array) -> Array {
    out.forward(&hidden.forward(x).tanh()).squeeze(&[-1])
}

fn step((optimizer, model): &mut (Optimizer, Mlp), x: Array, y: Array) -> Array {
    let (loss, grads) = nn::value_and_grad(model, |model| {
        sigmoid_binary_cross_entropy(&logits(model, &x), &y).mean()
    });
    optimizer.update(model, grads);
    loss
}

fn main() {
    let start = Instant::now();
    let x = Array::from([[0.0f32, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]);
    let y = Array::from([0.0f32, 1.0, 1.0, 0.0]);
    let rngs = &mut Rngs::new(0);
    let model = (Linear::new(2, 8, rngs), Linear::new(8, 1, rngs));
    let mut state = (Optimizer::new(&model, adam(0.05)), model);
    let train = jit(step);
    for i in 0..=500 {
        let loss = train(&mut state, x.clone(), y.clone());
        if i % 100 == 0 {
            println!("step {i}: loss {loss:.4}, after {:.0?}", start.elapsed());
        }
    }
    let classify = jit(|model: Mlp, x: Array| logits(&model, &x).gt(0.0));
    println!("0^0, 0^1, 1^0, 1^1 = {}", classify(state.1, x));
}
