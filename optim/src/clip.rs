//! Limits on the size of updates.

use crate::{GradientTransformation, global_norm};
use ramie_core::where_;

/// Limits each element to the interval from `-max_delta` to `max_delta`.
pub fn clip(max_delta: f64) -> GradientTransformation {
    GradientTransformation::stateless(move |updates, _| {
        updates.map(|u| u.clip(-max_delta, max_delta))
    })
}

/// Scales all updates down together so that their [`global_norm`] is at most
/// `max_norm`.
///
/// Pascanu et al., *On the difficulty of training recurrent neural networks*,
/// 2013.
pub fn clip_by_global_norm(max_norm: f64) -> GradientTransformation {
    GradientTransformation::stateless(move |updates, _| {
        if updates.is_empty() {
            return updates;
        }
        let norm = global_norm(&updates);
        let small = norm.lt(max_norm);
        updates.map(|u| where_(&small, u, (u / norm.astype(u.dtype())) * max_norm))
    })
}
