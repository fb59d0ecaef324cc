//! Whole training programs against JAX, Flax and Optax.

#[path = "../common/digits.rs"]
mod run;

mod digits;
mod digits_linen;
mod programs;
mod programs_derivatives;
mod train_steps;
mod xor;
