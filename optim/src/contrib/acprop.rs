//! ACProp: asynchronous, centered proximation.

use crate::base::moments::{bias_correction, update_moment, update_moment_per_elem_norm};
use crate::base::options::options;
use crate::transforms::belief::{ScaleByBeliefState, belief_init};
use crate::{GradientTransformation, Scaled, Schedule, safe_increment, tree};
use ramie_core::where_;

options! {
    /// Divides updates by their deviation from the mean, as estimated before the step.
    ///
    /// Zhuang et al., *Momentum Centering and Asynchronous Update for Adaptive
    /// Gradient Methods*, 2021.
    scale_by_acprop() -> ScaleByAcprop in Scaled {
        /// Sets the decay rate of the mean of the updates.
        b1: num = 0.9,
        /// Sets the decay rate of the variance.
        b2: num = 0.999,
        /// Sets the constant added to the denominator outside the square root.
        eps: num = 1e-16,
        /// Sets the constant added to the variance in every step.
        eps_root: num = 1e-16,
    }
    |o| GradientTransformation::new(belief_init, move |updates, state: ScaleByBeliefState, _| {
        let mu = update_moment(&updates, &state.mu, &o.b1, 1);
        let error = tree::sub(&updates, &state.mu);
        let nu = update_moment_per_elem_norm(&error, &state.nu, &o.b2, 2);
        let nu = nu.map(|v| v + &o.eps_root);
        let count = safe_increment(&state.count);
        let first = state.count.eq(0);
        let known = bias_correction(&state.nu, &o.b2, &where_(&first, &count, &state.count));
        let updates = updates.zip(&known, |g, v| {
            g / (where_(&first, v.ones_like(), v).sqrt() + &o.eps)
        });
        (updates, ScaleByBeliefState { count, mu, nu })
    })
}

/// The options of [`acprop`].
pub type Acprop = Scaled<ScaleByAcprop>;

/// Creates an ACProp optimizer, which divides gradients by their deviation from the mean, as
/// estimated before the step.
///
/// ```
/// use ramie_optim::contrib::acprop;
/// let tx = acprop(1e-3);
/// ```
///
/// The weight decay defaults to 0.
///
/// Zhuang et al., *Momentum Centering and Asynchronous Update for Adaptive
/// Gradient Methods*, 2021.
#[track_caller]
pub fn acprop(learning_rate: impl Into<Schedule>) -> Acprop {
    Scaled::new(scale_by_acprop(), learning_rate).weight_decay(0.0)
}
