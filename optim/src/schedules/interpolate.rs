//! Piecewise schedules.

use super::Schedule;
use super::decay::{check_steps, float};
use crate::base::given::check_numbers;
use ramie_core::{Array, DType, where_};
use serde::{Deserialize, Serialize};

/// The interpolation between two boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// Linearly.
    Linear,
    /// Along half a cosine wave.
    Cosine,
}

/// Sorts the boundaries, removes duplicates, and rejects negative factors.
#[track_caller]
fn in_order(schedule: &str, boundaries_and_scales: &[(usize, f64)]) -> Vec<(usize, f64)> {
    for (boundary, scale) in boundaries_and_scales {
        assert!(
            *scale >= 0.0 && scale.is_finite(),
            "{schedule}: the factor at step {boundary} is {scale}, expected a finite number of at \
             least 0"
        );
    }
    // As in a Python dictionary, the last of several factors for one step wins.
    let mut kept: Vec<(usize, f64)> = Vec::new();
    for &(boundary, scale) in boundaries_and_scales {
        match kept.iter_mut().find(|(b, _)| *b == boundary) {
            Some(known) => known.1 = scale,
            None => kept.push((boundary, scale)),
        }
    }
    kept.sort_by_key(|(boundary, _)| *boundary);
    kept
}

/// Returns a schedule whose value is multiplied by a factor at each boundary
/// (`optax.piecewise_constant_schedule`).
///
#[doc = "<div>"]
#[doc = include_str!("../../plots/piecewise_constant_schedule.svg")]
#[doc = "</div>"]
///
/// # Panics
/// Panics if a factor is negative.
#[track_caller]
pub fn piecewise_constant_schedule(
    init_value: f64,
    boundaries_and_scales: &[(usize, f64)],
) -> Schedule {
    check_numbers!(init_value);
    let pieces = in_order("piecewise_constant_schedule", boundaries_and_scales);
    Schedule::new(move |count| {
        let mut value = Array::scalar(init_value, DType::F32);
        for &(boundary, scale) in &pieces {
            value = where_(count.lt(boundary), &value, &value * scale);
        }
        value
    })
}

/// Returns a schedule that interpolates between boundaries, where the value at each boundary is
/// multiplied by its factor (`optax.piecewise_interpolate_schedule`).
///
#[doc = "<div>"]
#[doc = include_str!("../../plots/piecewise_interpolate_schedule.svg")]
#[doc = "</div>"]
///
/// # Panics
/// Panics if a factor is negative.
#[track_caller]
pub fn piecewise_interpolate_schedule(
    interpolation: Interpolation,
    init_value: f64,
    boundaries_and_scales: &[(usize, f64)],
) -> Schedule {
    check_numbers!(init_value);
    let pieces = in_order("piecewise_interpolate_schedule", boundaries_and_scales);
    Schedule::new(move |count| {
        let now = float(count);
        let (mut begin, mut start) = (0.0, init_value);
        let mut value = Array::scalar(init_value, DType::F32);
        for &(boundary, scale) in &pieces {
            let (end, stop) = (boundary as f64, start * scale);
            let share = (&now - begin) / (end - begin).max(1.0);
            let between = match interpolation {
                Interpolation::Linear => share * (stop - start) + start,
                Interpolation::Cosine => {
                    let cosine = (share * std::f64::consts::PI).cos() + 1.0;
                    cosine * ((start - stop) / 2.0) + stop
                }
            };
            let here = now.ge(begin) & now.lt(end);
            value = where_(&here, between, value);
            value = where_(now.ge(end), stop, value);
            (begin, start) = (end, stop);
        }
        value
    })
}

/// The parameters of [`linear_onecycle_schedule`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinearOnecycle {
    /// Fraction of the steps in which the value rises.
    pub pct_start: f64,
    /// Fraction of the steps after which the value has returned to the initial value.
    pub pct_final: f64,
    /// Peak value divided by the initial value.
    pub div_factor: f64,
    /// Initial value divided by the final value.
    pub final_div_factor: f64,
}

impl Default for LinearOnecycle {
    fn default() -> Self {
        LinearOnecycle {
            pct_start: 0.3,
            pct_final: 0.85,
            div_factor: 25.0,
            final_div_factor: 1e4,
        }
    }
}

/// Returns a schedule that rises to `peak_value`, returns to the initial value and then decreases
/// to the final value, all linearly (`optax.linear_onecycle_schedule`; Smith and Topin, 2019).
///
#[doc = "<div>"]
#[doc = include_str!("../../plots/linear_onecycle_schedule.svg")]
#[doc = "</div>"]
///
/// # Panics
/// Panics if `transition_steps` is 0.
#[track_caller]
pub fn linear_onecycle_schedule(
    transition_steps: usize,
    peak_value: f64,
    cycle: LinearOnecycle,
) -> Schedule {
    check_steps(
        "linear_onecycle_schedule",
        "transition_steps",
        transition_steps,
    );
    check_numbers!(peak_value);
    let at = |share: f64| (share * transition_steps as f64) as usize;
    piecewise_interpolate_schedule(
        Interpolation::Linear,
        peak_value / cycle.div_factor,
        &[
            (at(cycle.pct_start), cycle.div_factor),
            (at(cycle.pct_final), 1.0 / cycle.div_factor),
            (transition_steps, 1.0 / cycle.final_div_factor),
        ],
    )
}

/// The parameters of [`cosine_onecycle_schedule`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CosineOnecycle {
    /// Fraction of the steps in which the value rises.
    pub pct_start: f64,
    /// Peak value divided by the initial value.
    pub div_factor: f64,
    /// Initial value divided by the final value.
    pub final_div_factor: f64,
}

impl Default for CosineOnecycle {
    fn default() -> Self {
        CosineOnecycle {
            pct_start: 0.3,
            div_factor: 25.0,
            final_div_factor: 1e4,
        }
    }
}

/// Returns a schedule that rises to `peak_value` and decreases to the final value, along cosine
/// waves (`optax.cosine_onecycle_schedule`; Smith and Topin, 2019).
///
#[doc = "<div>"]
#[doc = include_str!("../../plots/cosine_onecycle_schedule.svg")]
#[doc = "</div>"]
///
/// # Panics
/// Panics if `transition_steps` is 0.
#[track_caller]
pub fn cosine_onecycle_schedule(
    transition_steps: usize,
    peak_value: f64,
    cycle: CosineOnecycle,
) -> Schedule {
    check_steps(
        "cosine_onecycle_schedule",
        "transition_steps",
        transition_steps,
    );
    check_numbers!(peak_value);
    let rise = (cycle.pct_start * transition_steps as f64) as usize;
    piecewise_interpolate_schedule(
        Interpolation::Cosine,
        peak_value / cycle.div_factor,
        &[
            (rise, cycle.div_factor),
            (
                transition_steps,
                1.0 / (cycle.div_factor * cycle.final_div_factor),
            ),
        ],
    )
}
