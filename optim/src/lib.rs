//! Composable gradient transformations, schedules and losses, in the way of
//! Optax.
//!
//! An optimizer is a [`GradientTransformation`]: `init` makes its state from
//! the parameters, `update` turns gradients into updates. Big ones are chains
//! of small ones: [`adamw`] is
//! `chain((scale_by_adam(…), add_decayed_weights(…), scale_by_learning_rate(…)))`.
//!
//! Most users take this crate through `ramie`, which re-exports it.
#![forbid(unsafe_code)]

mod adam;
mod alias;
mod chain;
mod clip;
mod decay;
pub mod losses;
mod masked;
mod momentum;
mod numerics;
mod scale;
pub mod schedules;
mod transformation;

pub use adam::{ScaleByAdam, ScaleByAdamState, scale_by_adam};
pub use alias::{Adam, AdamW, Sgd, adam, adamw, sgd};
pub use chain::{Transformations, chain};
pub use clip::{clip, clip_by_global_norm};
pub use decay::add_decayed_weights;
pub use losses::{
    cosine_distance, cosine_similarity, ctc_loss, hinge_loss, huber_loss, kl_divergence, l2_loss,
    log_cosh, poly_loss_cross_entropy, safe_softmax_cross_entropy, sigmoid_binary_cross_entropy,
    sigmoid_focal_loss, smooth_labels, softmax_cross_entropy,
    softmax_cross_entropy_with_integer_labels, squared_error,
};
pub use masked::masked;
pub use momentum::{TraceState, trace};
pub use numerics::{global_norm, safe_increment};
pub use scale::{ScaleByScheduleState, scale, scale_by_learning_rate, scale_by_schedule};
pub use schedules::{
    Schedule, constant_schedule, cosine_decay_schedule, exponential_decay, join_schedules,
    linear_schedule, piecewise_constant_schedule, polynomial_schedule,
    warmup_cosine_decay_schedule,
};
pub use transformation::{GradientTransformation, OptState, apply_updates, identity};
