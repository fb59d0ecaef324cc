//! Gradient transformations, schedules and losses against Optax.

#[path = "../common/mod.rs"]
mod common;

mod dtypes;
mod every_dtype;
mod functions;
mod losses;
mod low_precision;
mod optimizers;
mod plots;
mod public_losses;
mod public_optimizers;
mod schedules;
mod special_trajectories;
mod states;
mod trajectories;
mod transforms;
mod trees;
mod wrong_use;
