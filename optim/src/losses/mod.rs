//! Losses for each example, under the names of Optax (`optax.losses`). Take their mean for a
//! training objective.
//!
//! A loss over an axis of classes uses the last axis. Its `…_over` variant takes other axes, or a
//! [`Reduction`](ramie_core::options::Reduction) with a mask of the elements to include (`where=` in Optax).

mod classification;
mod ctc;
mod divergence;
mod fenchel_young;
mod hinge;
mod ranking;
mod regression;
mod segmentation;
mod self_supervised;

pub use classification::{
    poly_loss_cross_entropy, poly_loss_cross_entropy_over, safe_softmax_cross_entropy,
    sigmoid_binary_cross_entropy, sigmoid_focal_loss, smooth_labels, smooth_labels_over,
    softmax_cross_entropy, softmax_cross_entropy_over, softmax_cross_entropy_with_integer_labels,
    softmax_cross_entropy_with_integer_labels_over,
};
pub use ctc::{CtcOptions, ctc_loss, ctc_loss_with_forward_probs};
pub use divergence::{
    generalized_kl_divergence, generalized_kl_divergence_over, kl_divergence, kl_divergence_over,
    kl_divergence_with_log_targets, kl_divergence_with_log_targets_over,
};
pub use fenchel_young::make_fenchel_young_loss;
pub use hinge::{
    hinge_loss, multiclass_hinge_loss, multiclass_perceptron_loss, multiclass_sparsemax_loss,
    perceptron_loss, sparsemax_loss,
};
pub use ranking::ranking_softmax_loss;
pub use regression::{
    cosine_distance, cosine_distance_over, cosine_similarity, cosine_similarity_over, huber_loss,
    l2_loss, log_cosh, quantile_loss, squared_error,
};
pub use segmentation::{
    DiceOptions, binary_dice_loss, dice_loss, multiclass_generalized_dice_loss,
};
pub use self_supervised::{TripletOptions, ntxent, triplet_margin_loss};

use ramie_core::dtypes::iinfo;
use ramie_core::text::listed;
use ramie_core::{Array, DType};

/// Panics unless the array contains floats.
#[track_caller]
fn check_floats(loss: &str, what: &str, x: &Array) {
    assert!(
        x.dtype().is_float(),
        "{loss}: the {what} are {}, expected floats\n  help: {}",
        x.aval(),
        if x.dtype().is_complex() {
            "use .real(), .imag() or .abs() of the complex numbers"
        } else {
            "convert them with astype(DType::F32)"
        }
    );
}

/// Panics unless the array contains integers.
#[track_caller]
fn check_integers(loss: &str, what: &str, x: &Array, instead: &str) {
    assert!(
        x.dtype().is_integer(),
        "{loss}: the {what} are {}, expected integers\n  help: {instead}",
        x.aval()
    );
}

/// Returns class numbers that can represent the number of classes, and which of them are none of the
/// classes. Narrow labels, such as `u8` of 256 classes, may not represent that number.
fn class_numbers(labels: &Array, classes: usize) -> (Array, Array) {
    let labels = if iinfo(labels.dtype()).max < classes as i128 {
        labels.astype(DType::I32)
    } else {
        labels.clone()
    };
    let unknown = labels.lt(0) | labels.ge(classes);
    (labels, unknown)
}

/// Panics if labels whose values are known are none of the classes. Returns `false` if the values are
/// unknown, as in a traced program; the loss of such a label is NaN then.
#[track_caller]
fn check_classes(loss: &str, labels: &Array, unknown: &Array, classes: usize) -> bool {
    if unknown.is_tracer() || labels.is_tracer() {
        return false;
    }
    // Another process may have some of the labels, and a failed computation is reported elsewhere.
    let unknown: Vec<bool> = match unknown.try_to_bytes() {
        Ok(bytes) if bytes.contains(&1) => bytes.iter().map(|byte| *byte != 0).collect(),
        Ok(_) => return true,
        Err(_) => return false,
    };
    let values = labels.astype(DType::I64).to_vec::<i64>();
    let mut wrong: Vec<i64> = values
        .into_iter()
        .zip(&unknown)
        .filter(|(_, u)| **u)
        .map(|(v, _)| v)
        .collect();
    let count = wrong.len();
    wrong.sort_unstable();
    wrong.dedup();
    panic!(
        "{loss}: {count} of the {} labels are out of range for {classes} classes: {}\n  labels {}\n  help: \
         number the classes from 0 to {}; to ignore an example, such as padding, set its label to 0 and its \
         loss to 0 with `where_`",
        unknown.len(),
        listed(wrong),
        labels.aval(),
        classes.saturating_sub(1),
    );
}

/// Panics unless both arrays have the same shape.
#[track_caller]
fn check_same_shape(loss: &str, names: [&str; 2], a: &Array, b: &Array) {
    assert!(
        a.shape() == b.shape(),
        "{loss}: shapes do not match\n  {} {}\n  {} {}\n  help: the shapes must be equal; reshape \
         or broadcast one of the arrays first",
        names[0],
        a.aval(),
        names[1],
        b.aval()
    );
}

/// Panics unless the targets broadcast to the shape of the predictions. A loss of `[8, 1]` and
/// `[8]` would otherwise compare every prediction with every target.
#[track_caller]
fn check_broadcasts(loss: &str, names: [&str; 2], predictions: &Array, targets: &Array) {
    let (shape, other) = (predictions.shape(), targets.shape());
    let last = shape.iter().rev().zip(other.iter().rev());
    let fits = other.len() <= shape.len() && last.into_iter().all(|(n, m)| n == m || *m == 1);
    assert!(
        fits,
        "{loss}: the {} do not broadcast to the shape of the {}\n  {} {}\n  {} {}\n  help: give both \
         the same shape, for example with `{}.reshape(..)` or `{}.squeeze(&[-1])`",
        names[1],
        names[0],
        names[0],
        predictions.aval(),
        names[1],
        targets.aval(),
        names[1],
        names[0],
    );
}
