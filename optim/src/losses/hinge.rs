//! Margin losses.

use super::{check_broadcasts, check_classes, check_integers, check_same_shape, class_numbers};
use crate::projections::unit_simplex;
use ramie_core::{Array, vmap, where_};

/// Computes the hinge loss of scores and targets of -1 or 1 for each element: the amount by which
/// the margin is less than 1 (`optax.hinge_loss`).
///
/// # Panics
/// Panics if the targets do not broadcast to the shape of the scores.
#[track_caller]
pub fn hinge_loss(scores: &Array, targets: &Array) -> Array {
    check_broadcasts("hinge_loss", ["scores", "targets"], scores, targets);
    (1.0_f64 - scores * targets).maximum(0)
}

/// Computes the perceptron loss of scores and targets of -1 or 1 for each element: the magnitude
/// of scores with the wrong sign (`optax.perceptron_loss`; Rosenblatt, 1958).
///
/// # Panics
/// Panics if the shapes differ.
#[track_caller]
pub fn perceptron_loss(scores: &Array, targets: &Array) -> Array {
    check_same_shape("perceptron_loss", ["scores", "targets"], scores, targets);
    (-(scores * targets)).maximum(0)
}

/// Returns the score of each example's class, NaN for a label that is not a class, and the classes
/// one-hot encoded.
#[track_caller]
fn of_class(loss: &str, scores: &Array, labels: &Array) -> (Array, Array) {
    check_integers(loss, "labels", labels, "pass class indices, counted from 0");
    let classes = scores.shape().last().copied().unwrap_or(0);
    assert!(
        scores.ndim() == labels.ndim() + 1 && labels.shape() == &scores.shape()[..labels.ndim()],
        "{loss}: shapes do not match\n  scores {}\n  labels {}\n  help: pass scores [.., classes] and \
         a label [..] for each row of them",
        scores.aval(),
        labels.aval()
    );
    let (_, unknown) = class_numbers(labels, classes);
    let is_known = check_classes(loss, labels, &unknown, classes);
    let rows = labels.one_hot(classes, scores.dtype());
    let own = where_(rows.ne(0), scores, 0).sum_over(-1);
    if is_known {
        (own, rows)
    } else {
        (where_(&unknown, f64::NAN, own), rows)
    }
}

/// Computes the multiclass hinge loss of scores `[…, classes]` and classes `[…]`, with the result
/// `[…]`: the amount by which the score of the class fails to exceed the largest other score by 1
/// (`optax.losses.multiclass_hinge_loss`; Crammer and Singer, 2001).
///
/// # Panics
/// Panics if the labels are not integers or known to be out of range, or if the shapes do not match.
/// In a traced program, the loss of a label out of range is NaN.
#[track_caller]
pub fn multiclass_hinge_loss(scores: &Array, labels: &Array) -> Array {
    let (own, rows) = of_class("multiclass_hinge_loss", scores, labels);
    (scores + 1.0 - rows).max_over(-1) - own
}

/// Computes the multiclass perceptron loss of scores `[…, classes]` and classes `[…]`, with the
/// result `[…]`: the largest score minus the score of the class
/// (`optax.losses.multiclass_perceptron_loss`).
///
/// # Panics
/// Panics if the labels are not integers or known to be out of range, or if the shapes do not match.
/// In a traced program, the loss of a label out of range is NaN.
#[track_caller]
pub fn multiclass_perceptron_loss(scores: &Array, labels: &Array) -> Array {
    let (own, _) = of_class("multiclass_perceptron_loss", scores, labels);
    scores.max_over(-1) - own
}

/// Computes the sparsemax loss of logits and labels of 0 or 1 for each element
/// (`optax.losses.sparsemax_loss`; Martins and Astudillo, 2016).
///
/// # Panics
/// Panics if the labels do not broadcast to the shape of the logits.
#[track_caller]
pub fn sparsemax_loss(logits: &Array, labels: &Array) -> Array {
    check_broadcasts("sparsemax_loss", ["logits", "labels"], logits, labels);
    where_(labels.ne(0), -logits, logits).sparse_plus()
}

/// Computes the sparsemax loss of scores `[…, classes]` and classes `[…]`, with the result `[…]`
/// (`optax.losses.multiclass_sparsemax_loss`; Martins and Astudillo, 2016).
///
/// # Panics
/// Panics if the labels are not integers or known to be out of range, or if the shapes do not match.
/// In a traced program, the loss of a label out of range is NaN.
#[track_caller]
pub fn multiclass_sparsemax_loss(scores: &Array, labels: &Array) -> Array {
    let (own, rows) = of_class("multiclass_sparsemax_loss", scores, labels);
    let classes = scores.shape().last().copied().unwrap_or(0);
    let above = where_(rows.ne(0), 0.0, scores - own.expand_dims(&[-1]));
    let of_example = |scores: Array, above: Array| {
        let chances = unit_simplex(&scores);
        let kept = where_(chances.ne(0), above, 0.0);
        (&chances * kept).sum() + (1.0_f64 - chances.square().sum()) * 0.5
    };
    let list = |x: &Array| x.reshape(&[labels.size(), classes]);
    vmap(of_example)(list(scores), list(&above)).reshape(labels.shape())
}
