//! Scaling by a step size.

use crate::numerics::safe_increment;
use crate::{GradientTransformation, Schedule};
use ramie_core::{Array, DType};
use ramie_derive::Tree;

/// Multiplies updates by a number.
pub fn scale(step_size: f64) -> GradientTransformation {
    GradientTransformation::stateless(move |updates, _| updates.map(|u| u * step_size))
}

/// The state of [`scale_by_schedule`].
#[derive(Tree)]
pub struct ScaleByScheduleState {
    /// Steps made, 0-d `i32`.
    pub count: Array,
}

/// Multiplies updates by a number that depends on the step.
pub fn scale_by_schedule(step_size: impl Into<Schedule>) -> GradientTransformation {
    let step_size = step_size.into();
    GradientTransformation::new(
        |_| ScaleByScheduleState {
            count: Array::scalar(0, DType::I32),
        },
        move |updates, state: ScaleByScheduleState, _| {
            let step_size = step_size.at(&state.count);
            let updates = updates.map(|u| step_size.astype(u.dtype()) * u);
            let count = safe_increment(&state.count);
            (updates, ScaleByScheduleState { count })
        },
    )
}

/// Multiplies updates by the negative learning rate, the last step of a
/// minimizer: a constant, or a schedule with a count of its own.
pub fn scale_by_learning_rate(learning_rate: impl Into<Schedule>) -> GradientTransformation {
    let schedule = learning_rate.into();
    match schedule.as_constant() {
        Some(rate) => scale(-rate),
        None => scale_by_schedule(Schedule::new(move |count| -schedule.at(count))),
    }
}
