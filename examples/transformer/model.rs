//! The decoder, which is that of the projects that `ramie new --template transformer` writes, and
//! its optimizer.

#[path = "../../new/templates/transformer/model.rs"]
mod decoder;

pub use decoder::{Decoder, Sizes};

use ramie::optim::schedules::{WarmupCosineDecay, warmup_cosine_decay_schedule};
use ramie::optim::{GradientTransformation, adamw, chain, clip_by_global_norm};

/// Creates AdamW with clipped gradients. The learning rate rises during the first tenth of the
/// steps and then decays to a tenth of its peak.
pub fn optimizer(learning_rate: f64, steps: u64) -> GradientTransformation {
    let steps = steps as usize;
    let rate = warmup_cosine_decay_schedule(WarmupCosineDecay {
        peak_value: learning_rate,
        warmup_steps: steps / 10,
        decay_steps: steps.max(1),
        end_value: learning_rate / 10.0,
        ..Default::default()
    });
    chain((clip_by_global_norm(1.0), adamw(rate)))
}
