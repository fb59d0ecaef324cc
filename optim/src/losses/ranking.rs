//! Ranking losses.

use super::check_floats;
use ramie_core::options::Reduction;
use ramie_core::{Array, where_};

/// Computes the softmax cross entropy of the scores `[…, items]` of lists and the relevance of
/// their items, with the result `[…]` (`optax.losses.ranking_softmax_loss` with `reduce_fn=None`;
/// Cao et al., 2007). Each item has its weight in `weights` and is excluded where `mask` is
/// false. The loss of lists without items is 0.
///
/// # Panics
/// Panics if the scores are not floats, or the shapes do not broadcast.
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
    let terms = where_(labels.eq(0), 0, &labels * logits.log_softmax(-1));
    match mask {
        None => -terms.sum_over(-1),
        Some(mask) => {
            let how = Reduction::over(-1).mask(mask);
            where_(mask.any_over(-1), -terms.sum_over(&how), 0)
        }
    }
}
