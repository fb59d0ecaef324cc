//! Regression losses.

use super::{check_broadcasts, check_floats, check_same_shape};
use ramie_core::options::Reduction;
use ramie_core::{Array, IntoArray};

const NAMES: [&str; 2] = ["predictions", "targets"];

/// Returns the differences of predictions and targets, or the predictions if there are no targets.
#[track_caller]
fn errors_of(loss: &str, predictions: &Array, targets: Option<&Array>) -> Array {
    check_floats(loss, NAMES[0], predictions);
    match targets {
        Some(targets) => {
            check_broadcasts(loss, NAMES, predictions, targets);
            predictions - targets
        }
        None => predictions.clone(),
    }
}

/// Computes the squared error of each element (`optax.squared_error`). With `None` in place of the
/// targets, the predictions are the errors.
///
/// ```
/// use ramie_core::array;
/// use ramie_optim::losses::squared_error;
/// let (predictions, targets) = (array([3.0, 5.0]), array([1.0, 5.0]));
/// assert_eq!(squared_error(&predictions, &targets).to_vec::<f32>(), [4.0, 0.0]);
/// assert_eq!(squared_error(&predictions, None).to_vec::<f32>(), [9.0, 25.0]);
/// ```
///
/// # Panics
/// Panics if the predictions are not floats, or the shapes differ.
#[track_caller]
pub fn squared_error<'a>(predictions: &Array, targets: impl Into<Option<&'a Array>>) -> Array {
    let targets = targets.into();
    if let Some(targets) = targets {
        check_same_shape("squared_error", NAMES, predictions, targets);
    }
    errors_of("squared_error", predictions, targets).square()
}

/// Computes half the [`squared_error`] of each element (`optax.l2_loss`).
///
/// # Panics
/// Panics in the same cases as [`squared_error`].
#[track_caller]
pub fn l2_loss<'a>(predictions: &Array, targets: impl Into<Option<&'a Array>>) -> Array {
    squared_error(predictions, targets) * 0.5
}

/// Computes the Huber loss of each element: half the squared error up to an error of `delta`, and
/// linear beyond (`optax.huber_loss`; Huber, 1964). With `None` in place of the targets, the
/// predictions are the errors.
///
/// # Panics
/// Panics if the predictions are not floats, if the targets do not broadcast to their shape, or if
/// `delta` is negative.
#[track_caller]
pub fn huber_loss<'a>(
    predictions: &Array,
    targets: impl Into<Option<&'a Array>>,
    delta: f64,
) -> Array {
    let errors = errors_of("huber_loss", predictions, targets.into());
    assert!(
        delta >= 0.0,
        "huber_loss: delta is {delta}, expected a number of 0 or more\n  help: 1.0 is usual"
    );
    let distance = errors.abs();
    let quadratic = distance.minimum(delta);
    let loss = quadratic.square() * 0.5;
    if delta.is_infinite() {
        return loss;
    }
    loss + (distance - quadratic) * delta
}

/// Computes the quantile loss, or pinball loss, of each element: an error of `targets` above the
/// prediction counts `quantile` times, one below it `1 - quantile` times. Its mean is smallest for
/// the quantile of the targets (Koenker and Bassett, "Regression Quantiles", 1978). Optax has no
/// such loss.
///
/// A network can predict several quantiles along the last axis:
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_optim::losses::quantile_loss;
/// let (predictions, targets) = (Array::ones(&[8, 3], DType::F32), Array::ones(&[8, 1], DType::F32));
/// let loss = quantile_loss(&predictions, &targets, Array::from([0.1f32, 0.5, 0.9]));
/// assert_eq!(loss.shape(), [8, 3]);
/// ```
///
/// # Panics
/// Panics if the predictions are not floats, or if the targets or the quantiles do not broadcast
/// to the shape of the predictions.
#[doc(alias = "pinball_loss")]
#[track_caller]
pub fn quantile_loss(predictions: &Array, targets: &Array, quantile: impl IntoArray) -> Array {
    let quantile = quantile.into_array();
    check_floats("quantile_loss", "predictions", predictions);
    for (name, array) in [("targets", targets), ("quantiles", &quantile)] {
        check_broadcasts("quantile_loss", ["predictions", name], predictions, array);
    }
    let errors = targets - predictions;
    (&errors * &quantile).maximum(&errors * (quantile - 1.0))
}

/// Computes the logarithm of the hyperbolic cosine of the error of each element
/// (`optax.log_cosh`). With `None` in place of the targets, the predictions are the errors.
///
/// # Panics
/// Panics if the predictions are not floats, or if the targets do not broadcast to their shape.
#[track_caller]
pub fn log_cosh<'a>(predictions: &Array, targets: impl Into<Option<&'a Array>>) -> Array {
    let errors = errors_of("log_cosh", predictions, targets.into());
    errors.logaddexp(-&errors) - std::f64::consts::LN_2
}

/// Computes the cosine of the angle between vectors along the last axis
/// (`optax.cosine_similarity`). Squared norms below `epsilon` are replaced by `epsilon`.
///
/// # Panics
/// Panics if an array does not contain floats, or the shapes do not broadcast.
#[track_caller]
pub fn cosine_similarity(predictions: &Array, targets: &Array, epsilon: f64) -> Array {
    cosine_similarity_over(predictions, targets, epsilon, -1)
}

/// Computes [`cosine_similarity`] of vectors along other axes or with a mask.
///
/// # Panics
/// Panics in the same cases as [`cosine_similarity`], and if an axis is out of range.
#[track_caller]
pub fn cosine_similarity_over(
    predictions: &Array,
    targets: &Array,
    epsilon: f64,
    over: impl Into<Reduction>,
) -> Array {
    check_floats("cosine_similarity", "predictions", predictions);
    check_floats("cosine_similarity", "targets", targets);
    let over = over.into();
    let unit = |x: &Array| {
        let sum = x.square().sum_over(Reduction::from(&over).keepdims());
        x / sum.maximum(epsilon).sqrt()
    };
    (unit(predictions) * unit(targets)).sum_over(over)
}

/// Computes one minus the [`cosine_similarity`] (`optax.cosine_distance`).
///
/// # Panics
/// Panics in the same cases as [`cosine_similarity`].
#[track_caller]
pub fn cosine_distance(predictions: &Array, targets: &Array, epsilon: f64) -> Array {
    1.0_f64 - cosine_similarity(predictions, targets, epsilon)
}

/// Computes [`cosine_distance`] of vectors along other axes or with a mask.
///
/// # Panics
/// Panics in the same cases as [`cosine_similarity_over`].
#[track_caller]
pub fn cosine_distance_over(
    predictions: &Array,
    targets: &Array,
    epsilon: f64,
    over: impl Into<Reduction>,
) -> Array {
    1.0_f64 - cosine_similarity_over(predictions, targets, epsilon, over)
}
