//! States of the transformations that round parameters themselves, by which every transformation
//! recognizes them.

use ramie_core::random::Key;
use ramie_core::{Array, State};
use ramie_derive::Tree;

/// The state of [`kahan_summation`](crate::kahan_summation).
#[derive(Tree)]
pub struct KahanSummationState {
    /// Accumulated rounding error of each parameter, in its dtype.
    pub compensation: State,
}

/// The state of [`stochastic_rounding`](crate::stochastic_rounding).
#[derive(Tree)]
pub struct StochasticRoundingState {
    /// Number of steps, 0-d `i32`.
    pub count: Array,
    /// RNG key from which the keys of the steps are derived.
    pub rng_key: Key,
}
