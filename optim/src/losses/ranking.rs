//! Losses of lists that are put in order.

use super::check_floats;
use ramie_core::{Array, where_};

/// The cross entropy of the scores `[…, items]` of lists and the relevance of
/// their items, each of which counts by `weights`, and not at all where `mask` is
/// false: `[…]` (`optax.losses.ranking_softmax_loss` with `reduce_fn=None`; Cao et
/// al., 2007). Lists without an item have no loss.
///
/// # Panics
/// If the scores are not floats, or the shapes do not broadcast.
#[track_caller]
pub fn ranking_softmax_loss(
    logits: &Array,
    labels: &Array,
    mask: Option<&Array>,
    weights: Option<&Array>,
) -> Array {
    check_floats("ranking_softmax_loss", "logits", logits);
    let mut logits = logits.clone();
    let mut labels = labels.astype(logits.dtype());
    if let Some(mask) = mask {
        labels = where_(mask, &labels, 0);
        logits = where_(mask, &logits, f64::NEG_INFINITY);
    }
    if let Some(weights) = weights {
        labels *= weights;
    }
    let terms = labels * logits.log_softmax(-1);
    match mask {
        None => -terms.sum_axes(&[-1]),
        Some(mask) => {
            let how = ramie_core::Reduction::over(&[-1]).mask(mask);
            where_(&mask.any_axes(&[-1]), -terms.sum_with(&how), 0)
        }
    }
}
