//! ADOPT: Adam that divides before it averages.

use crate::base::moments::{update_moment, update_moment_per_elem_norm};
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::options::options;
use crate::transforms::adam::ScaleByAdamState;
use crate::{GradientTransformation, Hyperparam, Scaled, Schedule, tree};
use ramie_core::where_;

options! {
    /// Averages updates that are divided by the root of the previous mean of squares and clipped
    /// to the fourth root of the number of the step.
    ///
    /// Taniguchi et al., *ADOPT: Modified Adam Can Converge with Any β₂ with
    /// the Optimal Rate*, 2024.
    scale_by_adopt() -> ScaleByAdopt in Scaled {
        /// Sets the decay rate of the mean of the updates.
        b1: num = 0.9,
        /// Sets the decay rate of the mean of squares.
        b2: num = 0.9999,
        /// Sets the lower bound of the denominator.
        eps: num = 1e-6,
        /// Sets the dtype of the mean. Defaults to that of the parameters, but at least `f32`.
        mu_dtype: dtype,
        /// Enables Nesterov momentum.
        nesterov: flag,
        /// Sets whether the divided updates are clipped.
        use_clipping: toggle = true,
        /// Sets the function that returns the limit of the divided updates. It receives the number
        /// of the step as a 0-d `f32`, 0 in the first step. Defaults to the fourth root.
        clip_value_fn: function,
    }
    |o| {
        let dtype = o.mu_dtype;
        GradientTransformation::new(
            move |params| ScaleByAdamState {
                count: count_zero(),
                mu: tree::zeros_like(params, dtype),
                nu: params.zeros_like(),
            },
            move |updates, state: ScaleByAdamState, _| {
                let begun = state.count.gt(0);
                // In the first step, both means are the update itself.
                let b2 = Hyperparam::from(where_(&begun, &o.b2, 0.0).astype(ramie_core::DType::F32));
                let b1 = Hyperparam::from(where_(&begun, &o.b1, 1.0).astype(ramie_core::DType::F32));
                let nu = update_moment_per_elem_norm(&updates, &state.nu, b2, 2);
                let step = state.count.astype(ramie_core::DType::F32);
                let limit = o.clip_value_fn.as_ref().map_or_else(|| step.power(0.25), |f| f.0(&step));
                let divided = updates.zip(&state.nu, |u, n| {
                    let u = u / n.sqrt().maximum(&o.eps);
                    if o.use_clipping { u.clip(-&limit, &limit) } else { u }
                });
                let mu = update_moment(&divided, &state.mu, &b1, 1);
                let updates = if o.nesterov { update_moment(&divided, &mu, &b1, 1) } else { mu.clone() };
                let count = safe_increment(&state.count);
                (updates, ScaleByAdamState { count, mu: tree::cast(&mu, dtype), nu })
            },
        )
    }
}

/// The options of [`adopt`].
pub type Adopt = Scaled<ScaleByAdopt>;

/// Creates an ADOPT optimizer: [`adam`](crate::adam) that divides before it averages, and
/// converges for any `b2`.
///
/// ```
/// use ramie_optim::contrib::adopt;
/// let tx = adopt(1e-3);
/// ```
///
/// Taniguchi et al., *ADOPT: Modified Adam Can Converge with Any β₂ with
/// the Optimal Rate*, 2024.
#[track_caller]
pub fn adopt(learning_rate: impl Into<Schedule>) -> Adopt {
    Scaled::new(scale_by_adopt(), learning_rate)
}
