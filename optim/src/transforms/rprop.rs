//! Resilient propagation.

use crate::base::options::options;
use crate::{GradientTransformation, tree};
use ramie_core::{State, where_};
use ramie_derive::Tree;

/// The state of [`scale_by_rprop`].
#[derive(Tree)]
pub struct ScaleByRpropState {
    /// Step size of each element.
    pub step_sizes: State,
    /// Updates of the previous step, zero where the sign changed.
    pub prev_updates: State,
}

options! {
    /// Steps by the sign of the gradient. Each element has its own step size, which grows while
    /// the sign stays the same and shrinks when it changes.
    ///
    /// Riedmiller and Braun, *A direct adaptive method for faster
    /// backpropagation learning: the RPROP algorithm*, 1993.
    scale_by_rprop(learning_rate: num) -> ScaleByRprop {
        /// Sets the factor that multiplies the step size when the sign of the gradient changes.
        eta_minus: num = 0.5,
        /// Sets the factor that multiplies the step size while the sign of the gradient stays the
        /// same.
        eta_plus: num = 1.2,
        /// Sets the minimum step size of an element.
        min_step_size: num = 1e-6,
        /// Sets the maximum step size of an element.
        max_step_size: num = 50.0,
    }
    |o| {
        let initial = o.learning_rate.clone();
        GradientTransformation::new(
            move |params| ScaleByRpropState {
                step_sizes: tree::full_like(params, &initial, None),
                prev_updates: params.zeros_like(),
            },
            move |updates, state: ScaleByRpropState, _| {
                let agrees = tree::mul(&updates, &state.prev_updates);
                let step_sizes = agrees.zip(&state.step_sizes, |s, step| {
                    let factor = where_(s.gt(0.0), &o.eta_plus, &o.eta_minus).astype(step.dtype());
                    let limited = (step * factor).clip(&o.min_step_size, &o.max_step_size);
                    where_(s.eq(0.0), step, limited)
                });
                let signed = updates.zip(&step_sizes, |g, step| step * g.sign());
                let kept = |x: &State| agrees.zip(x, |s, x| where_(s.lt(0.0), x.zeros_like(), x));
                let prev_updates = kept(&signed);
                // The step of the previous update is made now, unless the sign has changed.
                (kept(&state.prev_updates), ScaleByRpropState { step_sizes, prev_updates })
            },
        )
    }
}
