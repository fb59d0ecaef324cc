//! Optimistic gradients.

use crate::base::options::options;
use crate::transforms::scaled::Scaled;
use crate::{GradientTransformation, Hyperparam};
use ramie_core::{Array, DType, State, where_};
use ramie_derive::Tree;

/// The state of [`scale_by_optimistic_gradient`].
#[derive(Tree)]
pub struct ScaleByOptimisticGradientState {
    /// Whether no step was made yet, 0-d `bool`.
    pub is_initial_step: Array,
    /// Updates of the previous step.
    pub previous_gradient: State,
}

options! {
    /// Extrapolates updates to `(alpha + beta) · g - beta · g'`, where `g'` is the previous
    /// update. With both weights 1, this predicts the next gradient if the change continues.
    ///
    /// Mokhtari et al., *A Unified Analysis of Extra-gradient and Optimistic
    /// Gradient Methods for Saddle Point Problems*, 2019.
    scale_by_optimistic_gradient() -> ScaleByOptimisticGradient in Scaled {
        /// Sets the weight of the gradient.
        alpha: num = 1.0,
        /// Sets the weight of the change of the gradient.
        beta: num = 1.0,
    }
    |o| {
        let both: Hyperparam = o.alpha.plus(&o.beta);
        GradientTransformation::new(
            |params| ScaleByOptimisticGradientState {
                is_initial_step: Array::scalar(true, DType::Bool),
                previous_gradient: params.zeros_like(),
            },
            move |updates, state: ScaleByOptimisticGradientState, _| {
                let new = updates.zip(&state.previous_gradient, |g, before| {
                    let before = where_(&state.is_initial_step, g, before);
                    g * &both - before * &o.beta
                });
                let state = ScaleByOptimisticGradientState {
                    is_initial_step: Array::scalar(false, DType::Bool),
                    previous_gradient: updates,
                };
                (new, state)
            },
        )
    }
}
