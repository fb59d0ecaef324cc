//! Weight decay.

use crate::base::extra_args::expect_params;
use crate::base::given::CheckedSetting;
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::options::Predicate;
use crate::{GradientTransformation, Hyperparam, Schedule, masked};
use ramie_core::{Array, State};
use ramie_derive::Tree;

/// The state of [`add_decayed_weights`] if the strength depends on the step.
#[derive(Tree)]
pub struct WeightDecaySchedule {
    /// Number of steps, 0-d `i32`.
    pub count: Array,
}

/// Adds the parameters times `weight_decay` to the updates. Use
/// [`add_decayed_weights_with`] to exclude some parameters.
///
/// The transformation has a state only if the strength depends on the step. `update` panics if
/// `params` is `None`.
#[track_caller]
pub fn add_decayed_weights(weight_decay: impl Into<Schedule>) -> GradientTransformation {
    let weight_decay = weight_decay.into().given("weight_decay");
    if weight_decay.as_hyperparam().is_some() {
        let strength = weight_decay.number(&count_zero());
        return GradientTransformation::stateless(move |updates, params| {
            add_decayed(updates, params, &strength)
        });
    }
    GradientTransformation::new(
        |_| WeightDecaySchedule {
            count: count_zero(),
        },
        move |updates, state: WeightDecaySchedule, params| {
            let strength = weight_decay.number(&state.count);
            let count = safe_increment(&state.count);
            let updates = add_decayed(updates, params, &strength);
            (updates, WeightDecaySchedule { count })
        },
    )
}

/// Adds weight decay like [`add_decayed_weights`] to the parameters that the mask accepts by path and
/// array (the argument `mask` of Optax).
///
/// ```
/// use ramie_optim::add_decayed_weights_with;
/// let kernels = add_decayed_weights_with(1e-4, |path, _| path.ends_with("kernel"));
/// ```
#[doc(alias = "add_decayed_weights")]
#[track_caller]
pub fn add_decayed_weights_with(
    weight_decay: impl Into<Schedule>,
    mask: impl Fn(&str, &Array) -> bool + Send + Sync + 'static,
) -> GradientTransformation {
    masked(add_decayed_weights(weight_decay), mask)
}

#[track_caller]
fn add_decayed(updates: State, params: Option<&State>, strength: &Hyperparam) -> State {
    let params = expect_params("add_decayed_weights", params);
    if strength.as_number() == Some(0.0) {
        return updates;
    }
    updates.zip(params, |u, p| u + p * strength)
}

/// Creates weight decay of the parameters that the mask accepts, or of all without a mask.
pub(crate) fn decay(weight_decay: Schedule, mask: Option<Predicate>) -> GradientTransformation {
    let decay = add_decayed_weights(weight_decay);
    match mask {
        Some(Predicate(mask)) => masked(decay, move |path, array| mask(path, array)),
        None => decay,
    }
}
