//! Divergences of Kullback and Leibler.

use super::{Over, check_floats};
use ramie_core::{Array, where_};

/// The divergence of predictions from target probabilities `[…, classes]`; the
/// predictions are logarithms of probabilities: `[…]` (`optax.kl_divergence`).
///
/// # Panics
/// If an array does not hold floats, or the shapes do not broadcast.
#[track_caller]
pub fn kl_divergence(log_predictions: &Array, targets: &Array) -> Array {
    kl_divergence_over(log_predictions, targets, &Over::default())
}

/// [`kl_divergence`] with classes along other axes, or a mask.
///
/// # Panics
/// As [`kl_divergence`], and if an axis is out of range.
#[track_caller]
pub fn kl_divergence_over(log_predictions: &Array, targets: &Array, over: &Over) -> Array {
    check_floats("kl_divergence", "predictions", log_predictions);
    check_floats("kl_divergence", "targets", targets);
    let logs = where_(&targets.eq(0), 0, targets.log());
    over.sum(&(targets * (logs - log_predictions)))
}

/// [`kl_divergence`] from targets that are logarithms too
/// (`optax.losses.kl_divergence_with_log_targets`).
///
/// # Panics
/// As [`kl_divergence`].
#[track_caller]
pub fn kl_divergence_with_log_targets(log_predictions: &Array, log_targets: &Array) -> Array {
    kl_divergence_with_log_targets_over(log_predictions, log_targets, &Over::default())
}

/// [`kl_divergence_with_log_targets`] with classes along other axes, or a mask.
///
/// # Panics
/// As [`kl_divergence_over`].
#[track_caller]
pub fn kl_divergence_with_log_targets_over(
    log_predictions: &Array,
    log_targets: &Array,
    over: &Over,
) -> Array {
    const LOSS: &str = "kl_divergence_with_log_targets";
    check_floats(LOSS, "predictions", log_predictions);
    check_floats(LOSS, "targets", log_targets);
    over.sum(&(log_targets.exp() * (log_targets - log_predictions)))
}

/// [`kl_divergence`] of measures that need not sum to 1: convex in both
/// (`optax.losses.generalized_kl_divergence`, formerly `convex_kl_divergence`).
///
/// # Panics
/// As [`kl_divergence`].
#[track_caller]
pub fn generalized_kl_divergence(log_predictions: &Array, targets: &Array) -> Array {
    generalized_kl_divergence_over(log_predictions, targets, &Over::default())
}

/// [`generalized_kl_divergence`] by its former name
/// (`optax.losses.convex_kl_divergence`).
///
/// # Panics
/// As [`kl_divergence`].
#[track_caller]
pub fn convex_kl_divergence(log_predictions: &Array, targets: &Array) -> Array {
    generalized_kl_divergence(log_predictions, targets)
}

/// [`generalized_kl_divergence`] with classes along other axes, or a mask.
///
/// # Panics
/// As [`kl_divergence_over`].
#[track_caller]
pub fn generalized_kl_divergence_over(
    log_predictions: &Array,
    targets: &Array,
    over: &Over,
) -> Array {
    let surplus = over.sum(&(log_predictions.exp() - targets));
    kl_divergence_over(log_predictions, targets, over) + surplus
}
