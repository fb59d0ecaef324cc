//! MARS: Adam of gradients with reduced variance.

use crate::base::moments::{bias_correction, update_moment, update_moment_per_elem_norm};
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::options::options;
use crate::{GradientTransformation, Scaled, Schedule, global_norm, tree};
use ramie_core::{Array, IntoArray, State};
use ramie_derive::Tree;

/// The state of [`scale_by_mars`].
#[derive(Tree)]
pub struct ScaleByMarsState {
    /// Number of steps, 0-d `i32`.
    pub count: Array,
    /// Decaying mean of the corrected updates.
    pub mu: State,
    /// Decaying mean of their squares.
    pub nu: State,
    /// The updates of the previous step.
    pub mog: State,
}

options! {
    /// Adds a multiple of their change since the previous step to updates, clips their global norm,
    /// and rescales them like [`scale_by_adam`](crate::scale_by_adam).
    ///
    /// Yuan et al., *MARS: Unleashing the Power of Variance Reduction for
    /// Training Large Models*, 2024.
    scale_by_mars() -> ScaleByMars in Scaled {
        /// Sets the decay rate of the mean of the updates.
        b1: num = 0.95,
        /// Sets the decay rate of the mean of squares.
        b2: num = 0.99,
        /// Sets the strength of the correction: the change is multiplied by `gamma · b1 / (1 - b1)`.
        gamma: num = 0.025,
        /// Sets the constant added to the denominator outside the square root.
        eps: num = 1e-8,
        /// Sets the constant added inside the square root, which keeps its derivative finite.
        eps_root: num = 0.0,
        /// Sets the limit of the global norm of the corrected updates; `f64::INFINITY` disables
        /// it.
        max_grad_norm: num = 1.0,
        /// Sets the dtype of the mean. Defaults to that of the parameters, but at least `f32`.
        mu_dtype: dtype,
    }
    |o| {
        let dtype = o.mu_dtype;
        GradientTransformation::new(
            move |params| ScaleByMarsState {
                count: count_zero(),
                mu: tree::zeros_like(params, dtype),
                nu: params.zeros_like(),
                mog: params.zeros_like(),
            },
            move |updates, state: ScaleByMarsState, _| {
                let strength = o.gamma.times(&o.b1).with(o.b1.rest(), |a, b| a / b, |a, b| a / b);
                let corrected = updates.zip(&state.mog, |g, last| g + (g - last) * &strength);
                let fraction = (&o.max_grad_norm).into_array() / (global_norm(&corrected) + 1e-6);
                let fraction = fraction.minimum(1.0);
                let corrected = corrected.map(|c| c * &fraction);
                let mu = update_moment(&corrected, &state.mu, &o.b1, 1);
                let nu = update_moment_per_elem_norm(&corrected, &state.nu, &o.b2, 2);
                let count = safe_increment(&state.count);
                let mu_hat = bias_correction(&mu, &o.b1, &count);
                let nu_hat = bias_correction(&nu, &o.b2, &count);
                let scaled = mu_hat.zip(&nu_hat, |m, n| m / ((n + &o.eps_root).sqrt() + &o.eps));
                let mu = tree::cast(&mu, dtype);
                (scaled, ScaleByMarsState { count, mu, nu, mog: updates })
            },
        )
    }
}

/// The options of [`mars`].
pub type Mars = Scaled<ScaleByMars>;

/// Creates a MARS optimizer: [`adamw`](crate::adamw) of gradients that are corrected by their change
/// since the previous step, which reduces their variance.
///
/// Optax has no such optimizer. The defaults are those of the authors' program. That program limits
/// the norm of each array and updates vectors with AdamW; here, as in Levanter, the limit is one of
/// the global norm, and all arrays are updated alike.
///
/// ```
/// use ramie_optim::contrib::mars;
/// let tx = mars(3e-3).weight_decay(0.1);
/// ```
///
/// Yuan et al., *MARS: Unleashing the Power of Variance Reduction for
/// Training Large Models*, 2024.
#[track_caller]
pub fn mars(learning_rate: impl Into<Schedule>) -> Mars {
    Scaled::new(scale_by_mars(), learning_rate)
}
