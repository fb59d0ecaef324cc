//! Weight decay.

use crate::GradientTransformation;

/// Adds the parameters times `weight_decay` to the updates. See
/// [`masked`](crate::masked) to leave some parameters out.
///
/// The transformation's `update` panics if it is not given the parameters.
pub fn add_decayed_weights(weight_decay: f64) -> GradientTransformation {
    GradientTransformation::stateless(move |updates, params| {
        let params = params.expect(
            "add_decayed_weights: `update` was called without parameters\n  help: pass \
             Some(&params) as its last argument",
        );
        updates.zip(params, |u, p| u + p * weight_decay)
    })
}
