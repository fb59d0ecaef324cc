//! Weight decay.

use crate::extra_args::expect_params;
use crate::numerics::{count_zero, safe_increment};
use crate::options::Predicate;
use crate::{GradientTransformation, Schedule, masked};
use ramie_core::Array;
use ramie_derive::Tree;

/// The state of [`add_decayed_weights`].
#[derive(Tree)]
pub struct WeightDecaySchedule {
    /// Steps made, 0-d `i32`, where the strength depends on the step.
    pub count: Option<Array>,
}

/// Adds the parameters times `weight_decay` to the updates. See
/// [`masked`](crate::masked) to leave some parameters out.
///
/// The transformation's `update` panics if it is not given the parameters.
pub fn add_decayed_weights(weight_decay: impl Into<Schedule>) -> GradientTransformation {
    let weight_decay = weight_decay.into();
    let counts = weight_decay.as_hyperparam().is_none();
    GradientTransformation::new(
        move |_| WeightDecaySchedule {
            count: counts.then(count_zero),
        },
        move |updates, state: WeightDecaySchedule, params| {
            let params = expect_params("add_decayed_weights", params);
            let strength = match &state.count {
                Some(count) => weight_decay.number(count),
                None => weight_decay.number(&count_zero()),
            };
            let count = state.count.as_ref().map(safe_increment);
            if strength.as_number() == Some(0.0) {
                return (updates, WeightDecaySchedule { count });
            }
            let updates = updates.zip(params, |u, p| u + p * &strength);
            (updates, WeightDecaySchedule { count })
        },
    )
}

/// Weight decay of the parameters that a mask accepts.
pub(crate) fn decay(weight_decay: Schedule, mask: Option<Predicate>) -> GradientTransformation {
    let decay = add_decayed_weights(weight_decay);
    match mask {
        Some(Predicate(mask)) => masked(decay, move |path, array| mask(path, array)),
        None => decay,
    }
}
