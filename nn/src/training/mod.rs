//! Utilities for training loops of Linen models (`flax.training`).

mod apply_fn;
mod common_utils;
mod dynamic_scale;
mod train_state;

pub use apply_fn::ApplyFn;
pub use common_utils::{get_metrics, onehot, shard, shard_over, shard_prng_key, stack_forest};
pub use dynamic_scale::{DynamicScale, ScaledGradient};
pub use train_state::TrainState;
