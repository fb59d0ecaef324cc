//! Losses of numbers.

use super::{Over, check_floats, check_same_shape};
use ramie_core::Array;

/// The squared distance, element by element (`optax.squared_error`).
///
/// # Panics
/// If the predictions are not floats, or the shapes differ.
#[track_caller]
pub fn squared_error(predictions: &Array, targets: &Array) -> Array {
    check_floats("squared_error", "predictions", predictions);
    check_same_shape(
        "squared_error",
        ["predictions", "targets"],
        predictions,
        targets,
    );
    (predictions - targets).square()
}

/// Half the squared distance, element by element (`optax.l2_loss`).
///
/// # Panics
/// As [`squared_error`].
#[track_caller]
pub fn l2_loss(predictions: &Array, targets: &Array) -> Array {
    squared_error(predictions, targets) * 0.5
}

/// Half the squared distance up to `delta`, and linear beyond, element by element
/// (`optax.huber_loss`; Huber, 1964).
///
/// # Panics
/// If the predictions are not floats, or the shapes do not broadcast.
#[track_caller]
pub fn huber_loss(predictions: &Array, targets: &Array, delta: f64) -> Array {
    check_floats("huber_loss", "predictions", predictions);
    let distance = (predictions - targets).abs();
    let quadratic = distance.minimum(delta);
    let linear = &distance - &quadratic;
    quadratic.square() * 0.5 + linear * delta
}

/// The logarithm of the hyperbolic cosine of the distance, element by element
/// (`optax.log_cosh`).
///
/// # Panics
/// If the predictions are not floats, or the shapes do not broadcast.
#[track_caller]
pub fn log_cosh(predictions: &Array, targets: &Array) -> Array {
    check_floats("log_cosh", "predictions", predictions);
    let errors = predictions - targets;
    errors.logaddexp(-&errors) - std::f64::consts::LN_2
}

/// The cosine of the angle between vectors along the last axis
/// (`optax.cosine_similarity`). Squared lengths below `epsilon` count as
/// `epsilon`.
///
/// # Panics
/// If an array does not hold floats, or the shapes do not broadcast.
#[track_caller]
pub fn cosine_similarity(predictions: &Array, targets: &Array, epsilon: f64) -> Array {
    cosine_similarity_over(predictions, targets, epsilon, &Over::default())
}

/// [`cosine_similarity`] of vectors along other axes, or with a mask.
///
/// # Panics
/// As [`cosine_similarity`], and if an axis is out of range.
#[track_caller]
pub fn cosine_similarity_over(
    predictions: &Array,
    targets: &Array,
    epsilon: f64,
    over: &Over,
) -> Array {
    check_floats("cosine_similarity", "predictions", predictions);
    check_floats("cosine_similarity", "targets", targets);
    let unit = |x: &Array| x / over.sum_keepdims(&x.square()).maximum(epsilon).sqrt();
    over.sum(&(unit(predictions) * unit(targets)))
}

/// One less [`cosine_similarity`] (`optax.cosine_distance`).
///
/// # Panics
/// As [`cosine_similarity`].
#[track_caller]
pub fn cosine_distance(predictions: &Array, targets: &Array, epsilon: f64) -> Array {
    1.0_f64 - cosine_similarity(predictions, targets, epsilon)
}

/// [`cosine_distance`] of vectors along other axes, or with a mask.
///
/// # Panics
/// As [`cosine_similarity_over`].
#[track_caller]
pub fn cosine_distance_over(
    predictions: &Array,
    targets: &Array,
    epsilon: f64,
    over: &Over,
) -> Array {
    1.0_f64 - cosine_similarity_over(predictions, targets, epsilon, over)
}
