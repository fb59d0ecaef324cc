//! Rescaling by the variance of updates around their mean.

use crate::base::moments::{
    bias_correction, corrected_mean, update_moment, update_moment_per_elem_norm,
};
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::options::options;
use crate::transforms::scaled::Scaled;
use crate::{GradientTransformation, tree};
use ramie_core::{Array, State};
use ramie_derive::Tree;

/// The state of [`scale_by_belief`].
#[derive(Tree)]
pub struct ScaleByBeliefState {
    /// Number of steps, 0-d `i32`.
    pub count: Array,
    /// Decaying mean of the updates.
    pub mu: State,
    /// Decaying mean of the squared distances of the updates from `mu`.
    pub nu: State,
}

pub(crate) fn belief_init(params: &State) -> ScaleByBeliefState {
    ScaleByBeliefState {
        count: count_zero(),
        mu: params.zeros_like(),
        nu: params.zeros_like(),
    }
}

options! {
    /// Divides the decaying mean of past updates by their deviation from it, which makes steps
    /// large where updates are close to their mean.
    ///
    /// Zhuang et al., *AdaBelief Optimizer*, 2020.
    scale_by_belief() -> ScaleByBelief in Scaled {
        /// Sets the decay rate of the mean of the updates.
        b1: num = 0.9,
        /// Sets the decay rate of the variance.
        b2: num = 0.999,
        /// Sets the constant added to the denominator outside the square root.
        eps: num = 1e-16,
        /// Sets the constant added to the variance in every step.
        eps_root: num = 1e-16,
        /// Enables Nesterov momentum.
        nesterov: flag,
    }
    |o| GradientTransformation::new(belief_init, move |updates, state: ScaleByBeliefState, _| {
        let mu = update_moment(&updates, &state.mu, &o.b1, 1);
        let error = tree::sub(&updates, &mu);
        let nu = update_moment_per_elem_norm(&error, &state.nu, &o.b2, 2);
        let nu = nu.map(|v| v + &o.eps_root);
        let count = safe_increment(&state.count);
        let mu_hat = corrected_mean(&updates, &mu, &o.b1, &count, o.nesterov);
        let nu_hat = bias_correction(&nu, &o.b2, &count);
        let updates = mu_hat.zip(&nu_hat, |m, v| m / (v.sqrt() + &o.eps));
        (updates, ScaleByBeliefState { count, mu, nu })
    })
}
