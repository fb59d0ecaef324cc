//! Gradient accumulation: a batch in parts, one after the other, and one update.

use crate::model::{Trainer, shardings};
use crate::{SIZES, STEPS, assert_close, batch, losses_on_one_device, mesh};
use ramie::nn::accumulate;
use ramie::options::JitOptions;
use ramie::sharding::{LogicalAxisRules, set_logical_axis_rules};
use ramie::*;

/// One step on `i32[parts, batch, length + 1]`; activations need the memory of one part.
fn accumulating_step(t: &mut Trainer, parts: Array) -> Array {
    let (loss, grads) = accumulate(&mut t.model, parts, |m, tokens| m.loss(&tokens));
    t.optimizer.update(&mut t.model, grads);
    loss
}

#[test]
fn parts_of_a_batch_make_the_steps_of_the_whole() {
    let mesh = mesh(&[4, 2], &["data", "model"]);
    let rules = LogicalAxisRules::new()
        .rule("batch", "data")
        .rule("heads", "model")
        .rule("mlp", "model")
        .rule("embed", "data");
    let _mesh = set_mesh(mesh);
    let _rules = set_logical_axis_rules(rules);
    let options = JitOptions {
        out_shardings: Some(shardings(mesh, rules)),
        ..JitOptions::default()
    };
    let mut trainer = jit_with(|key| Trainer::new(SIZES, key), options)(random::key(0));
    let step = jit(accumulating_step);
    let losses: Vec<f32> = (0..STEPS)
        .map(|i| {
            let tokens = batch(i);
            let (rows, length) = (tokens.shape()[0], tokens.shape()[1]);
            let parts = tokens.reshape(&[4, rows / 4, length]);
            let parts = device_put(&parts, P![None, "data"]);
            step(&mut trainer, parts).item()
        })
        .collect();
    assert_close("accumulation", &losses, losses_on_one_device(), 1e-4);
}
