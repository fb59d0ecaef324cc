//! The recipes of `docs/scaling.md`: training over 8 virtual devices gives the
//! losses of training on one.

mod accumulation;
mod experts;
mod logical;
#[path = "../../examples/fsdp/model.rs"]
mod model;
mod pipeline;
mod rules;

use model::{Sizes, Trainer, sequences, train_step};
use ramie::*;
use ramie_testing::cpu_mesh as mesh;

const SIZES: Sizes = Sizes {
    vocabulary: 64,
    embed: 32,
    heads: 8,
    depth: 4,
    mlp: 64,
    layers: 2,
    length: 16,
};
const BATCH: usize = 16;
const STEPS: usize = 20;

fn batch(i: usize) -> Array {
    sequences(SIZES, BATCH, i)
}

/// The losses of training on one device.
fn losses_on_one_device() -> &'static [f32] {
    static LOSSES: std::sync::OnceLock<Vec<f32>> = std::sync::OnceLock::new();
    LOSSES.get_or_init(|| {
        mesh(&[8], &["x"]);
        let mut trainer = Trainer::new(SIZES, random::key(0));
        let step = jit(train_step);
        let losses: Vec<f32> = (0..STEPS)
            .map(|i| step(&mut trainer, batch(i)).item())
            .collect();
        // There is something to see: it learns.
        assert!(losses[STEPS - 1] < 0.9 * losses[0], "{losses:?}");
        losses
    })
}

#[track_caller]
fn assert_close(what: &str, got: &[f32], want: &[f32], tolerance: f32) {
    assert_eq!(got.len(), want.len());
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        assert!(
            (g - w).abs() <= tolerance * w.abs().max(1.0),
            "{what}: {i}: {g} and {w}"
        );
    }
}
