//! Signs of a decaying mean of updates.

use crate::base::given::unchecked;
use crate::base::moments::update_moment;
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::options::options;
use crate::transforms::scaled::Scaled;
use crate::{GradientTransformation, tree};
use ramie_core::{Array, State, where_};
use ramie_derive::Tree;

/// The state of [`scale_by_lion`].
#[derive(Tree)]
pub struct ScaleByLionState {
    /// Number of steps, 0-d `i32`.
    pub count: Array,
    /// Decaying mean of the updates.
    pub mu: State,
}

/// The function that [`scale_by_lion`] applies to the mix of the mean and the update.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum LionMode {
    /// The sign of the mix.
    #[default]
    Hard,
    /// The hyperbolic tangent of the mix times the number.
    Smooth(f64),
    /// The mix itself, clipped to the interval from -1 to 1.
    Refined,
}

unchecked!(LionMode);

options! {
    /// Replaces updates by the sign of a mix of the updates and their decaying mean.
    ///
    /// Chen et al., *Symbolic Discovery of Optimization Algorithms*, 2023.
    scale_by_lion() -> ScaleByLion in Scaled {
        /// Sets the weight of the mean in the step. The weight of the update is `1 - b1`.
        b1: num = 0.9,
        /// Sets the decay rate of the mean.
        b2: num = 0.99,
        /// Sets the dtype of the mean. Defaults to that of the parameters, but at least `f32`.
        mu_dtype: dtype,
        /// Sets how steps are computed.
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
                    LionMode::Refined => where_(x.abs().lt(1.0), x, x.sign()),
                });
                let mu = update_moment(&updates, &state.mu, &o.b2, 1);
                let count = safe_increment(&state.count);
                (new, ScaleByLionState { count, mu: tree::cast(&mu, mu_dtype) })
            },
        )
    }
}
