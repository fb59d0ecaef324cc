//! Signs of a mean of updates.

use crate::moments::update_moment;
use crate::numerics::{count_zero, safe_increment};
use crate::options::options;
use crate::{GradientTransformation, tree};
use ramie_core::{Array, State, where_};
use ramie_derive::Tree;

/// The state of [`scale_by_lion`].
#[derive(Tree)]
pub struct ScaleByLionState {
    /// Steps made, 0-d `i32`.
    pub count: Array,
    /// Decaying mean of the updates.
    pub mu: State,
}

/// How [`scale_by_lion`] makes steps of a mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum LionMode {
    /// Its sign.
    #[default]
    Hard,
    /// The hyperbolic tangent of it, times the number.
    Smooth(f64),
    /// It itself, limited to the interval from -1 to 1.
    Refined,
}

options! {
    /// Replaces updates by the sign of their decaying mean.
    ///
    /// Chen et al., *Symbolic Discovery of Optimization Algorithms*, 2023.
    scale_by_lion() -> ScaleByLion {
        /// How much of the mean the step is made of, beside the update.
        b1: num = 0.9,
        /// Decay of the mean.
        b2: num = 0.99,
        /// The element type of the mean, by default that of the parameters.
        mu_dtype: dtype,
        /// How steps are made.
        mode: LionMode = LionMode::Hard,
    }
    |o| {
        let mu_dtype = o.mu_dtype;
        GradientTransformation::new(
            move |params| ScaleByLionState {
                count: count_zero(),
                mu: tree::zeros_like(params, mu_dtype),
            },
            move |updates, state: ScaleByLionState, _| {
                let mixed = update_moment(&updates, &state.mu, &o.b1, 1);
                let new = mixed.map(|x| match o.mode {
                    LionMode::Hard => x.sign(),
                    LionMode::Smooth(beta) => (x * beta).tanh(),
                    LionMode::Refined => where_(&x.abs().lt(1.0), x, x.sign()),
                });
                let mu = update_moment(&updates, &state.mu, &o.b2, 1);
                let count = safe_increment(&state.count);
                (new, ScaleByLionState { count, mu: tree::cast(&mu, mu_dtype) })
            },
        )
    }
}
