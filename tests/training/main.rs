//! Whole training programs against JAX, Flax and Optax.

mod digits;
mod digits_linen;
mod programs;
mod programs_derivatives;
mod run;
mod train_steps;
mod xor;
