//! Losses, example by example: take the mean for a training objective.

use ramie_core::{Array, where_};

/// The logits as floats.
#[track_caller]
fn check_logits(loss: &str, logits: &Array) {
    assert!(
        logits.dtype().is_float(),
        "{loss}: the logits are {}, expected floats\n  help: convert them with astype(DType::F32)",
        logits.aval()
    );
}

/// The cross entropy of logits `[…, classes]` and target probabilities of the
/// same shape: `[…]`.
///
/// # Panics
/// If the logits are not floats, or the shapes do not broadcast.
#[track_caller]
pub fn softmax_cross_entropy(logits: &Array, labels: &Array) -> Array {
    check_logits("softmax_cross_entropy", logits);
    -(labels * logits.log_softmax(-1)).sum_axes(&[-1])
}

/// The cross entropy of logits `[…, classes]` and the classes `[…]`, integers
/// from 0: `[…]`. Negative classes count from the end; a number that is no
/// class gives NaN.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_optim::softmax_cross_entropy_with_integer_labels;
/// let logits = Array::from([[1.2f32, -0.8, -0.5], [0.9, -1.2, 1.1]]);
/// let loss = softmax_cross_entropy_with_integer_labels(&logits, &Array::from([0i32, 1]));
/// assert_eq!(loss.shape(), [2]);
/// ```
///
/// # Panics
/// If the logits are not floats, the labels not integers, or their shapes do
/// not match.
#[track_caller]
pub fn softmax_cross_entropy_with_integer_labels(logits: &Array, labels: &Array) -> Array {
    const LOSS: &str = "softmax_cross_entropy_with_integer_labels";
    check_logits(LOSS, logits);
    assert!(
        labels.dtype().is_integer(),
        "{LOSS}: the labels are {}, expected integers\n  help: for probabilities use \
         softmax_cross_entropy",
        labels.aval()
    );
    let Some((&classes, batch)) = logits.shape().split_last() else {
        panic!("{LOSS}: the logits are 0-d, expected a last axis of classes");
    };
    assert!(
        labels.shape() == batch,
        "{LOSS}: shapes do not match\n  logits {}\n  labels {}\n  help: labels have the shape of the \
         logits without their last axis, {batch:?}",
        logits.aval(),
        labels.aval()
    );
    let places = where_(&labels.lt(0), labels + classes, labels);
    let unknown = places.lt(0) | places.ge(classes);
    // Choosing by comparison, not by gathering: the derivative is then a
    // choice too, where that of a gather would be a scatter.
    let places = where_(&unknown, 0, places).expand_dims(&[-1]);
    let chosen = Array::iota(&[classes], 0, places.dtype()).eq(&places);
    let label_logits = where_(&chosen, logits, 0).sum_axes(&[-1]);
    let loss = logits.logsumexp(-1) - label_logits;
    where_(&unknown, f64::NAN, loss)
}

/// The cross entropy of logits and the probabilities of "yes", element by
/// element.
///
/// # Panics
/// If the logits are not floats, or the shapes do not broadcast.
#[track_caller]
pub fn sigmoid_binary_cross_entropy(logits: &Array, labels: &Array) -> Array {
    check_logits("sigmoid_binary_cross_entropy", logits);
    let labels = labels.astype(logits.dtype());
    let yes = &labels * logits.log_sigmoid();
    let no = (1.0_f64 - &labels) * (-logits).log_sigmoid();
    -yes - no
}

/// The squared distance, element by element.
///
/// # Panics
/// If the shapes do not broadcast.
#[track_caller]
pub fn squared_error(predictions: &Array, targets: &Array) -> Array {
    (predictions - targets).square()
}

/// Half the squared distance, element by element.
///
/// # Panics
/// If the shapes do not broadcast.
#[track_caller]
pub fn l2_loss(predictions: &Array, targets: &Array) -> Array {
    squared_error(predictions, targets) * 0.5
}
