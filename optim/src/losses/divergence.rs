//! Kullback–Leibler divergences.

use super::check_floats;
use ramie_core::options::Reduction;
use ramie_core::{Array, where_};

/// Computes the Kullback–Leibler divergence of predictions from target probabilities
/// `[…, classes]`, with the result `[…]`. The predictions are log-probabilities
/// (`optax.kl_divergence`).
///
/// # Panics
/// Panics if an array does not contain floats, or the shapes do not broadcast.
#[track_caller]
pub fn kl_divergence(log_predictions: &Array, targets: &Array) -> Array {
    kl_divergence_over(log_predictions, targets, -1)
}

/// Computes [`kl_divergence`] with classes along other axes or with a mask.
///
/// # Panics
/// Panics in the same cases as [`kl_divergence`], and if an axis is out of range.
#[track_caller]
pub fn kl_divergence_over(
    log_predictions: &Array,
    targets: &Array,
    over: impl Into<Reduction>,
) -> Array {
    check_floats("kl_divergence", "predictions", log_predictions);
    check_floats("kl_divergence", "targets", targets);
    // A class with target 0 contributes nothing, also if the prediction is impossible.
    let none = targets.eq(0);
    let logs = where_(&none, 1, targets).log() - where_(&none, 0, log_predictions);
    (targets * logs).sum_over(over)
}

/// Computes [`kl_divergence`] from targets that are log-probabilities as well
/// (`optax.losses.kl_divergence_with_log_targets`).
///
/// # Panics
/// Panics in the same cases as [`kl_divergence`].
#[track_caller]
pub fn kl_divergence_with_log_targets(log_predictions: &Array, log_targets: &Array) -> Array {
    kl_divergence_with_log_targets_over(log_predictions, log_targets, -1)
}

/// Computes [`kl_divergence_with_log_targets`] with classes along other axes or with a mask.
///
/// # Panics
/// Panics in the same cases as [`kl_divergence_over`].
#[track_caller]
pub fn kl_divergence_with_log_targets_over(
    log_predictions: &Array,
    log_targets: &Array,
    over: impl Into<Reduction>,
) -> Array {
    const LOSS: &str = "kl_divergence_with_log_targets";
    check_floats(LOSS, "predictions", log_predictions);
    check_floats(LOSS, "targets", log_targets);
    let none = log_targets.eq(f64::NEG_INFINITY);
    let logs = where_(&none, 0, log_targets) - where_(&none, 0, log_predictions);
    (log_targets.exp() * logs).sum_over(over)
}

/// Computes [`kl_divergence`] generalized to measures whose sum is not 1, which is convex in both
/// arguments (`optax.losses.generalized_kl_divergence`).
///
/// # Panics
/// Panics in the same cases as [`kl_divergence`].
#[doc(alias = "convex_kl_divergence")]
#[track_caller]
pub fn generalized_kl_divergence(log_predictions: &Array, targets: &Array) -> Array {
    generalized_kl_divergence_over(log_predictions, targets, -1)
}

/// Computes [`generalized_kl_divergence`] with classes along other axes or with a mask.
///
/// # Panics
/// Panics in the same cases as [`kl_divergence_over`].
#[track_caller]
pub fn generalized_kl_divergence_over(
    log_predictions: &Array,
    targets: &Array,
    over: impl Into<Reduction>,
) -> Array {
    let over = over.into();
    let surplus = (log_predictions.exp() - targets).sum_over(&over);
    kl_divergence_over(log_predictions, targets, over) + surplus
}
