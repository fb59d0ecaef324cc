//! Schedules in configuration files.

use super::join::one;
use super::{
    CosineOnecycle, ExponentialDecay, Interpolation, LinearOnecycle, Schedule, WarmupCosineDecay,
    constant_schedule, cosine_decay_schedule, cosine_onecycle_schedule, exponential_decay,
    inverse_sqrt_schedule, join_schedules, linear_onecycle_schedule, linear_schedule_from,
    piecewise_constant_schedule, piecewise_interpolate_schedule, polynomial_schedule,
    sgdr_schedule, warmup_constant_schedule, warmup_cosine_decay_schedule,
    warmup_exponential_decay_schedule,
};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A schedule as data, for configuration files: a number, or the name of a schedule with Optax's
/// parameters. It converts into a [`Schedule`].
///
/// Optax's defaults apply to parameters that have one. An unknown name or parameter is an error, which
/// lists the known ones.
///
/// ```
/// use ramie_optim::{adamw, schedules::ScheduleConfig};
/// let constant: ScheduleConfig = serde_json::from_str("0.001")?;
/// assert_eq!(constant, ScheduleConfig::Constant(0.001));
/// let text = r#"{"cosine_decay": {"init_value": 0.1, "decay_steps": 1000}}"#;
/// let cosine: ScheduleConfig = serde_json::from_str(text)?;
/// let optimizer = adamw(cosine);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case", deny_unknown_fields)]
pub enum ScheduleConfig {
    /// [`constant_schedule`]; in a file, the number alone.
    Constant(f64),
    /// [`linear_schedule_from`](super::linear_schedule_from).
    #[allow(missing_docs)]
    Linear {
        init_value: f64,
        end_value: f64,
        transition_steps: usize,
        #[serde(default)]
        transition_begin: usize,
    },
    /// [`polynomial_schedule`].
    #[allow(missing_docs)]
    Polynomial {
        init_value: f64,
        end_value: f64,
        power: f64,
        transition_steps: usize,
        #[serde(default)]
        transition_begin: usize,
    },
    /// [`cosine_decay_schedule`].
    #[allow(missing_docs)]
    CosineDecay {
        init_value: f64,
        decay_steps: usize,
        #[serde(default)]
        alpha: f64,
        #[serde(default = "one")]
        exponent: f64,
    },
    /// [`exponential_decay`].
    ExponentialDecay(ExponentialDecay),
    /// [`inverse_sqrt_schedule`].
    #[allow(missing_docs)]
    InverseSqrt {
        peak_value: f64,
        warmup_steps: usize,
    },
    /// [`warmup_constant_schedule`].
    #[allow(missing_docs)]
    WarmupConstant {
        init_value: f64,
        peak_value: f64,
        warmup_steps: usize,
    },
    /// [`warmup_cosine_decay_schedule`].
    WarmupCosineDecay(WarmupCosineDecay),
    /// [`warmup_exponential_decay_schedule`].
    #[allow(missing_docs)]
    WarmupExponentialDecay {
        init_value: f64,
        warmup_steps: usize,
        decay: ExponentialDecay,
    },
    /// [`piecewise_constant_schedule`].
    #[allow(missing_docs)]
    PiecewiseConstant {
        init_value: f64,
        boundaries_and_scales: Vec<(usize, f64)>,
    },
    /// [`piecewise_interpolate_schedule`].
    #[allow(missing_docs)]
    PiecewiseInterpolate {
        interpolation: Interpolation,
        init_value: f64,
        boundaries_and_scales: Vec<(usize, f64)>,
    },
    /// [`linear_onecycle_schedule`].
    #[allow(missing_docs)]
    LinearOnecycle {
        transition_steps: usize,
        peak_value: f64,
        #[serde(default)]
        cycle: LinearOnecycle,
    },
    /// [`cosine_onecycle_schedule`].
    #[allow(missing_docs)]
    CosineOnecycle {
        transition_steps: usize,
        peak_value: f64,
        #[serde(default)]
        cycle: CosineOnecycle,
    },
    /// [`sgdr_schedule`], the list of its cycles.
    Sgdr(Vec<WarmupCosineDecay>),
    /// [`join_schedules`].
    #[allow(missing_docs)]
    Join {
        schedules: Vec<ScheduleConfig>,
        boundaries: Vec<usize>,
    },
}

/// Writes a constant as a number, and other schedules as a table with their name.
impl Serialize for ScheduleConfig {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            ScheduleConfig::Constant(value) => to.serialize_f64(*value),
            named => ScheduleConfig::serialize(named, to),
        }
    }
}

impl<'de> Deserialize<'de> for ScheduleConfig {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<ScheduleConfig, D::Error> {
        from.deserialize_any(ConfigVisitor)
    }
}

struct ConfigVisitor;

impl<'de> Visitor<'de> for ConfigVisitor {
    type Value = ScheduleConfig;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or the name of a schedule with its parameters")
    }

    fn visit_f64<E>(self, value: f64) -> Result<ScheduleConfig, E> {
        Ok(ScheduleConfig::Constant(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<ScheduleConfig, E> {
        Ok(ScheduleConfig::Constant(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<ScheduleConfig, E> {
        Ok(ScheduleConfig::Constant(value as f64))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ScheduleConfig, A::Error> {
        ScheduleConfig::deserialize(MapAccessDeserializer::new(map))
    }
}

/// # Panics
/// Panics in the same cases as the function of the schedule.
impl From<ScheduleConfig> for Schedule {
    #[track_caller]
    fn from(config: ScheduleConfig) -> Schedule {
        use ScheduleConfig as C;
        match config {
            C::Constant(value) => constant_schedule(value),
            C::Linear {
                init_value: from,
                end_value: to,
                transition_steps: steps,
                transition_begin: begin,
            } => linear_schedule_from(from, to, steps, begin),
            C::Polynomial {
                init_value: from,
                end_value: to,
                power,
                transition_steps: steps,
                transition_begin: begin,
            } => polynomial_schedule(from, to, power, steps, begin),
            C::CosineDecay {
                init_value,
                decay_steps,
                alpha,
                exponent,
            } => cosine_decay_schedule(init_value, decay_steps, alpha, exponent),
            C::ExponentialDecay(decay) => exponential_decay(decay),
            C::InverseSqrt {
                peak_value,
                warmup_steps,
            } => inverse_sqrt_schedule(peak_value, warmup_steps),
            C::WarmupConstant {
                init_value,
                peak_value,
                warmup_steps,
            } => warmup_constant_schedule(init_value, peak_value, warmup_steps),
            C::WarmupCosineDecay(decay) => warmup_cosine_decay_schedule(decay),
            C::WarmupExponentialDecay {
                init_value,
                warmup_steps,
                decay,
            } => warmup_exponential_decay_schedule(init_value, warmup_steps, decay),
            C::Sgdr(cycles) => sgdr_schedule(&cycles),
            C::Join {
                schedules,
                boundaries,
            } => {
                let schedules = schedules.into_iter().map(Schedule::from).collect();
                join_schedules(schedules, &boundaries)
            }
            pieces => piecewise(pieces),
        }
    }
}

/// Returns a schedule that consists of pieces.
#[track_caller]
fn piecewise(config: ScheduleConfig) -> Schedule {
    use ScheduleConfig as C;
    match config {
        C::PiecewiseConstant {
            init_value,
            boundaries_and_scales: pieces,
        } => piecewise_constant_schedule(init_value, &pieces),
        C::PiecewiseInterpolate {
            interpolation,
            init_value,
            boundaries_and_scales: pieces,
        } => piecewise_interpolate_schedule(interpolation, init_value, &pieces),
        C::LinearOnecycle {
            transition_steps,
            peak_value,
            cycle,
        } => linear_onecycle_schedule(transition_steps, peak_value, cycle),
        C::CosineOnecycle {
            transition_steps,
            peak_value,
            cycle,
        } => cosine_onecycle_schedule(transition_steps, peak_value, cycle),
        other => unreachable!("{other:?} has no pieces"),
    }
}

/// # Panics
/// Panics in the same cases as [`warmup_cosine_decay_schedule`].
impl From<WarmupCosineDecay> for Schedule {
    #[track_caller]
    fn from(decay: WarmupCosineDecay) -> Schedule {
        warmup_cosine_decay_schedule(decay)
    }
}

/// # Panics
/// Panics in the same cases as [`exponential_decay`].
impl From<ExponentialDecay> for Schedule {
    #[track_caller]
    fn from(decay: ExponentialDecay) -> Schedule {
        exponential_decay(decay)
    }
}
