//! Schedules: hyperparameters that depend on the step (`optax.schedules`).
//!
//! A [`Schedule`] can be passed wherever a learning rate is expected, and works in traced
//! functions. Steps are counted from 0.

mod config;
mod decay;
mod interpolate;
mod join;
mod schedule;

pub use config::ScheduleConfig;
pub use decay::{
    ExponentialDecay, constant_schedule, cosine_decay_schedule, exponential_decay,
    inverse_sqrt_schedule, linear_schedule, linear_schedule_from, polynomial_schedule,
};
pub use interpolate::{
    CosineOnecycle, Interpolation, LinearOnecycle, cosine_onecycle_schedule,
    linear_onecycle_schedule, piecewise_constant_schedule, piecewise_interpolate_schedule,
};
pub use join::{
    WarmupCosineDecay, join_schedules, sgdr_schedule, warmup_constant_schedule,
    warmup_cosine_decay_schedule, warmup_exponential_decay_schedule,
};
pub use schedule::Schedule;
