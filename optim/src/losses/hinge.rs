//! Losses of margins.

use super::{check_integers, check_same_shape};
use crate::projections::unit_simplex;
use ramie_core::{Array, vmap, where_};

/// How far a score falls short of 1 on the side of its target, -1 or 1, element
/// by element (`optax.hinge_loss`).
///
/// # Panics
/// If the shapes do not broadcast.
#[track_caller]
pub fn hinge_loss(scores: &Array, targets: &Array) -> Array {
    (1.0_f64 - scores * targets).maximum(0)
}

/// How far a score is on the wrong side of its target, -1 or 1, element by
/// element (`optax.perceptron_loss`; Rosenblatt, 1958).
///
/// # Panics
/// If the shapes differ.
#[track_caller]
pub fn perceptron_loss(scores: &Array, targets: &Array) -> Array {
    check_same_shape("perceptron_loss", ["scores", "targets"], scores, targets);
    (-(scores * targets)).maximum(0)
}

/// The score of each example's class, and the classes as rows of 0 and 1.
#[track_caller]
fn of_class(loss: &str, scores: &Array, labels: &Array) -> (Array, Array) {
    check_integers(loss, "labels", labels, "name the classes by numbers from 0");
    let classes = scores.shape().last().copied().unwrap_or(0);
    let rows = labels.one_hot(classes, scores.dtype());
    ((scores * &rows).sum_axes(&[-1]), rows)
}

/// How far the score of a class `[…]` falls short of the greatest other of
/// `[…, classes]` plus 1: `[…]` (`optax.losses.multiclass_hinge_loss`; Crammer and
/// Singer, 2001).
///
/// # Panics
/// If the labels are not integers, or the shapes do not match.
#[track_caller]
pub fn multiclass_hinge_loss(scores: &Array, labels: &Array) -> Array {
    let (own, rows) = of_class("multiclass_hinge_loss", scores, labels);
    (scores + 1.0 - rows).max_axes(&[-1]) - own
}

/// How far the score of a class `[…]` is below the greatest of `[…, classes]`:
/// `[…]` (`optax.losses.multiclass_perceptron_loss`).
///
/// # Panics
/// If the labels are not integers, or the shapes do not match.
#[track_caller]
pub fn multiclass_perceptron_loss(scores: &Array, labels: &Array) -> Array {
    let (own, _) = of_class("multiclass_perceptron_loss", scores, labels);
    scores.max_axes(&[-1]) - own
}

/// The sparsemax loss of logits and labels 0 or 1, element by element
/// (`optax.losses.sparsemax_loss`; Martins and Astudillo, 2016).
///
/// # Panics
/// If the shapes do not broadcast.
#[track_caller]
pub fn sparsemax_loss(logits: &Array, labels: &Array) -> Array {
    where_(&labels.ne(0), -logits, logits).sparse_plus()
}

/// The sparsemax loss of scores `[…, classes]` and classes `[…]`: `[…]`
/// (`optax.losses.multiclass_sparsemax_loss`; Martins and Astudillo, 2016).
///
/// # Panics
/// If the labels are not integers, or the shapes do not match.
#[track_caller]
pub fn multiclass_sparsemax_loss(scores: &Array, labels: &Array) -> Array {
    let (own, rows) = of_class("multiclass_sparsemax_loss", scores, labels);
    let classes = scores.shape().last().copied().unwrap_or(0);
    let above = where_(&rows.ne(0), 0.0, scores - own.expand_dims(&[-1]));
    let of_example = |scores: Array, above: Array| {
        let chances = unit_simplex(&scores);
        let kept = where_(&chances.ne(0), above, 0.0);
        (&chances * kept).sum() + (1.0_f64 - chances.square().sum()) * 0.5
    };
    let list = |x: &Array| x.reshape(&[labels.size(), classes]);
    vmap(of_example)(list(scores), list(&above)).reshape(labels.shape())
}
