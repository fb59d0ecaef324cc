//! Checks of derivatives for users' tests (`jax.test_util`).

pub use crate::functions::check_grads::{GradMode, check_grads, check_grads_with};
