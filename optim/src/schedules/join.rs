//! Sequences of schedules.

use super::decay::check_steps;
use super::{
    ExponentialDecay, Schedule, cosine_decay_schedule, exponential_decay, linear_schedule,
};
use crate::base::given::check_numbers;
use ramie_core::where_;
use serde::{Deserialize, Serialize};

/// Joins schedules: from each boundary on, the next schedule applies, with its steps counted from
/// the boundary (`optax.join_schedules`).
///
#[doc = "<div>"]
#[doc = include_str!("../../plots/join_schedules.svg")]
#[doc = "</div>"]
///
/// # Panics
/// Panics if the number of schedules is not one more than the number of boundaries.
#[track_caller]
pub fn join_schedules(schedules: Vec<Schedule>, boundaries: &[usize]) -> Schedule {
    assert!(
        schedules.len() == boundaries.len() + 1,
        "join_schedules: got {} schedules and {} boundaries\n  help: pass one boundary between \
         consecutive schedules",
        schedules.len(),
        boundaries.len()
    );
    let boundaries = boundaries.to_vec();
    Schedule::new(move |count| {
        let mut value = schedules[0].at(count);
        for (&boundary, next) in boundaries.iter().zip(&schedules[1..]) {
            value = where_(count.lt(boundary), value, next.at(&(count - boundary)));
        }
        value
    })
}

/// Returns a schedule that rises linearly from `init_value` to `peak_value` and then stays
/// constant (`optax.warmup_constant_schedule`).
///
#[doc = "<div>"]
#[doc = include_str!("../../plots/warmup_constant_schedule.svg")]
#[doc = "</div>"]
///
/// # Panics
/// Panics if `warmup_steps` is 0.
#[track_caller]
pub fn warmup_constant_schedule(init_value: f64, peak_value: f64, warmup_steps: usize) -> Schedule {
    check_steps("warmup_constant_schedule", "warmup_steps", warmup_steps);
    linear_schedule(init_value, peak_value, warmup_steps)
}

/// The parameters of [`warmup_cosine_decay_schedule`], which they convert into.
///
/// ```
/// use ramie_optim::adamw;
/// use ramie_optim::schedules::WarmupCosineDecay;
/// let rate = WarmupCosineDecay {
///     peak_value: 1e-3,
///     warmup_steps: 100,
///     decay_steps: 1000,
///     ..WarmupCosineDecay::default()
/// };
/// let optimizer = adamw(rate);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WarmupCosineDecay {
    /// Value at the first step.
    pub init_value: f64,
    /// Value after the warm-up.
    pub peak_value: f64,
    /// Number of warm-up steps; 0 for none.
    pub warmup_steps: usize,
    /// Total number of steps, including the warm-up.
    pub decay_steps: usize,
    /// Value at the end.
    #[serde(default)]
    pub end_value: f64,
    /// Exponent of the cosine.
    #[serde(default = "one")]
    pub exponent: f64,
}

/// Optax's default of exponents and powers.
pub(super) fn one() -> f64 {
    1.0
}

impl Default for WarmupCosineDecay {
    fn default() -> Self {
        WarmupCosineDecay {
            init_value: 0.0,
            peak_value: 1.0,
            warmup_steps: 1,
            decay_steps: 2,
            end_value: 0.0,
            exponent: 1.0,
        }
    }
}

/// Returns a schedule with a linear warm-up and a cosine decay
/// (`optax.warmup_cosine_decay_schedule`).
///
#[doc = "<div>"]
#[doc = include_str!("../../plots/warmup_cosine_decay_schedule.svg")]
#[doc = "</div>"]
///
/// # Panics
/// Panics if `decay_steps` is at most `warmup_steps`.
#[track_caller]
pub fn warmup_cosine_decay_schedule(w: WarmupCosineDecay) -> Schedule {
    const SCHEDULE: &str = "warmup_cosine_decay_schedule";
    assert!(
        w.decay_steps > w.warmup_steps,
        "{SCHEDULE}: decay_steps is {}, expected more than warmup_steps, {}\n  help: decay_steps \
         is the total number of steps, including the warm-up",
        w.decay_steps,
        w.warmup_steps
    );
    let (init_value, peak_value, end_value) = (w.init_value, w.peak_value, w.end_value);
    check_numbers!(init_value, peak_value, end_value);
    let alpha = if w.peak_value == 0.0 {
        0.0
    } else {
        w.end_value / w.peak_value
    };
    let steps = w.decay_steps - w.warmup_steps;
    let fall = cosine_decay_schedule(w.peak_value, steps, alpha, w.exponent);
    after_rise(w.init_value, w.peak_value, w.warmup_steps, fall)
}

/// Returns a schedule with a linear warm-up from `init_value` to the first value of `decay`,
/// followed by the exponential decay (`optax.warmup_exponential_decay_schedule`).
///
#[doc = "<div>"]
#[doc = include_str!("../../plots/warmup_exponential_decay_schedule.svg")]
#[doc = "</div>"]
///
/// # Panics
/// Panics in the same cases as [`exponential_decay`].
#[track_caller]
pub fn warmup_exponential_decay_schedule(
    init_value: f64,
    warmup_steps: usize,
    decay: ExponentialDecay,
) -> Schedule {
    check_numbers!(init_value);
    let fall = exponential_decay(decay);
    after_rise(init_value, decay.init_value, warmup_steps, fall)
}

/// Returns a schedule with a linear warm-up before it; 0 steps mean none.
#[track_caller]
fn after_rise(from: f64, to: f64, steps: usize, then: Schedule) -> Schedule {
    match steps {
        0 => then,
        steps => join_schedules(vec![linear_schedule(from, to, steps), then], &[steps]),
    }
}

/// Returns a schedule that repeats warm-up and cosine decay, once for each cycle
/// (`optax.sgdr_schedule`; Loshchilov and Hutter, 2017).
///
#[doc = "<div>"]
#[doc = include_str!("../../plots/sgdr_schedule.svg")]
#[doc = "</div>"]
///
/// # Panics
/// Panics if `cycles` is empty, and in the same cases as [`warmup_cosine_decay_schedule`].
#[track_caller]
pub fn sgdr_schedule(cycles: &[WarmupCosineDecay]) -> Schedule {
    assert!(
        !cycles.is_empty(),
        "sgdr_schedule: there are no cycles\n  help: pass at least one cycle"
    );
    let mut schedules = Vec::with_capacity(cycles.len());
    let mut boundaries = Vec::with_capacity(cycles.len());
    let mut step = 0;
    for cycle in cycles {
        schedules.push(warmup_cosine_decay_schedule(*cycle));
        step += cycle.decay_steps;
        boundaries.push(step);
    }
    boundaries.pop();
    join_schedules(schedules, &boundaries)
}
