//! Schedules from one value to another.

use super::Schedule;
use crate::base::given::check_numbers;
use ramie_core::{Array, DType, where_};
use serde::{Deserialize, Serialize};

/// Panics unless `steps` is positive.
#[track_caller]
pub(super) fn check_steps(schedule: &str, what: &str, steps: usize) {
    assert!(
        steps > 0,
        "{schedule}: {what} is 0, expected a positive number of steps\n  help: use \
         constant_schedule for a constant value"
    );
}

/// Converts a step count to a float.
pub(super) fn float(count: &Array) -> Array {
    if count.dtype().is_float() {
        count.clone()
    } else {
        count.astype(DType::F32)
    }
}

/// Returns a schedule with the same value at every step (`optax.constant_schedule`).
///
#[doc = "<div>"]
#[doc = include_str!("../../plots/constant_schedule.svg")]
#[doc = "</div>"]
///
/// # Panics
/// Panics if the value is not finite.
#[track_caller]
pub fn constant_schedule(value: f64) -> Schedule {
    check_numbers!(value);
    Schedule::constant(value)
}

/// Returns a polynomial schedule from `init_value` to `end_value`: the distance to `end_value`
/// shrinks with the given power of the fraction of steps left. It starts at step
/// `transition_begin` and takes `transition_steps` steps (`optax.polynomial_schedule`).
///
#[doc = "<div>"]
#[doc = include_str!("../../plots/polynomial_schedule.svg")]
#[doc = "</div>"]
///
/// # Panics
/// Panics if `transition_steps` is 0.
#[track_caller]
pub fn polynomial_schedule(
    init_value: f64,
    end_value: f64,
    power: f64,
    transition_steps: usize,
    transition_begin: usize,
) -> Schedule {
    check_steps("polynomial_schedule", "transition_steps", transition_steps);
    check_numbers!(init_value, end_value, power);
    Schedule::new(move |count| {
        let steps = transition_steps as f64;
        let done = (float(count) - transition_begin as f64).clip(0.0, steps);
        let left = 1.0_f64 - done / steps;
        let left = if power == 1.0 {
            left
        } else {
            left.power(power)
        };
        left * (init_value - end_value) + end_value
    })
}

/// Returns a linear schedule from `init_value` to `end_value` (`optax.linear_schedule`).
///
#[doc = "<div>"]
#[doc = include_str!("../../plots/linear_schedule.svg")]
#[doc = "</div>"]
///
/// ```
/// use ramie_core::Array;
/// use ramie_optim::schedules::linear_schedule;
/// let rate = linear_schedule(1.0, 0.0, 10);
/// assert_eq!(rate.at(&Array::from(5i32)).item::<f32>(), 0.5);
/// ```
///
/// # Panics
/// Panics if `transition_steps` is 0.
#[track_caller]
pub fn linear_schedule(init_value: f64, end_value: f64, transition_steps: usize) -> Schedule {
    linear_schedule_from(init_value, end_value, transition_steps, 0)
}

/// Returns a [`linear_schedule`] that starts at step `transition_begin`.
///
/// # Panics
/// Panics if `transition_steps` is 0.
#[track_caller]
pub fn linear_schedule_from(
    init_value: f64,
    end_value: f64,
    transition_steps: usize,
    transition_begin: usize,
) -> Schedule {
    check_steps("linear_schedule", "transition_steps", transition_steps);
    polynomial_schedule(
        init_value,
        end_value,
        1.0,
        transition_steps,
        transition_begin,
    )
}

/// Returns a cosine decay from `init_value` to `alpha * init_value`, with the cosine raised to
/// the power `exponent` (`optax.cosine_decay_schedule`; Loshchilov and Hutter, 2017).
///
#[doc = "<div>"]
#[doc = include_str!("../../plots/cosine_decay_schedule.svg")]
#[doc = "</div>"]
///
/// # Panics
/// Panics if `decay_steps` is 0.
#[track_caller]
pub fn cosine_decay_schedule(
    init_value: f64,
    decay_steps: usize,
    alpha: f64,
    exponent: f64,
) -> Schedule {
    check_steps("cosine_decay_schedule", "decay_steps", decay_steps);
    check_numbers!(init_value, alpha, exponent);
    Schedule::new(move |count| {
        let steps = decay_steps as f64;
        let done = float(count).minimum(steps);
        let cosine = ((done * std::f64::consts::PI / steps).cos() + 1.0) * 0.5;
        let cosine = if exponent == 1.0 {
            cosine
        } else {
            cosine.power(exponent)
        };
        (cosine * (1.0 - alpha) + alpha) * init_value
    })
}

/// The parameters of [`exponential_decay`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExponentialDecay {
    /// Value at the first step.
    pub init_value: f64,
    /// Number of steps in which the value is multiplied by `decay_rate`.
    pub transition_steps: usize,
    /// Decay factor.
    pub decay_rate: f64,
    /// Step at which the decay starts.
    #[serde(default)]
    pub transition_begin: usize,
    /// Whether the value changes only every `transition_steps` steps.
    #[serde(default)]
    pub staircase: bool,
    /// Value at which the decay stops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_value: Option<f64>,
}

/// Returns a schedule whose value is multiplied by `decay_rate` every `transition_steps` steps
/// (`optax.exponential_decay`).
///
#[doc = "<div>"]
#[doc = include_str!("../../plots/exponential_decay.svg")]
#[doc = include_str!("../../plots/exponential_decay_staircase.svg")]
#[doc = "</div>"]
///
/// # Panics
/// Panics if `transition_steps` is 0, or `decay_rate` is not positive.
#[track_caller]
pub fn exponential_decay(decay: ExponentialDecay) -> Schedule {
    check_steps(
        "exponential_decay",
        "transition_steps",
        decay.transition_steps,
    );
    assert!(
        decay.decay_rate > 0.0,
        "exponential_decay: decay_rate is {}, expected a positive number\n  help: use \
         constant_schedule for a constant value",
        decay.decay_rate
    );
    let (init_value, decay_rate) = (decay.init_value, decay.decay_rate);
    check_numbers!(init_value, decay_rate);
    if let Some(end_value) = decay.end_value {
        check_numbers!(end_value);
    }
    Schedule::new(move |count| {
        let done = float(count) - decay.transition_begin as f64;
        let periods = &done / decay.transition_steps as f64;
        let periods = if decay.staircase {
            periods.floor()
        } else {
            periods
        };
        let rate = Array::scalar(decay.decay_rate, DType::F32);
        let decayed = rate.power(periods) * decay.init_value;
        let value = where_(done.le(0), decay.init_value, decayed);
        match decay.end_value {
            None => value,
            Some(end) if decay.decay_rate < 1.0 => value.maximum(end),
            Some(end) => value.minimum(end),
        }
    })
}

/// Returns a schedule with a linear warm-up to `peak_value` in `warmup_steps` steps, followed by
/// a decay with the inverse square root of the step (Vaswani et al., 2017).
///
#[doc = "<div>"]
#[doc = include_str!("../../plots/inverse_sqrt_schedule.svg")]
#[doc = "</div>"]
///
/// # Panics
/// Panics if `warmup_steps` is 0.
#[track_caller]
pub fn inverse_sqrt_schedule(peak_value: f64, warmup_steps: usize) -> Schedule {
    check_steps("inverse_sqrt_schedule", "warmup_steps", warmup_steps);
    check_numbers!(peak_value);
    Schedule::new(move |count| {
        let warmup = warmup_steps as f64;
        let count = float(count);
        let rising = &count / warmup;
        let falling = (count.maximum(warmup) / warmup).rsqrt();
        rising.minimum(falling) * peak_value
    })
}
