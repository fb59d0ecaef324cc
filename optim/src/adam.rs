//! Rescaling by estimates of the first two moments.

use crate::GradientTransformation;
use crate::numerics::safe_increment;
use ramie_core::{Array, DType, IntoArray, State};
use ramie_derive::Tree;

/// The state of [`scale_by_adam`].
#[derive(Tree)]
pub struct ScaleByAdamState {
    /// Steps made, 0-d `i32`.
    pub count: Array,
    /// Decaying mean of the updates.
    pub mu: State,
    /// Decaying mean of their squares.
    pub nu: State,
}

/// The numbers of [`scale_by_adam`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaleByAdam {
    /// Decay of the mean of the updates.
    pub b1: f64,
    /// Decay of the mean of their squares.
    pub b2: f64,
    /// Added to the denominator outside the square root.
    pub eps: f64,
    /// Added inside the square root, which keeps its derivative finite.
    pub eps_root: f64,
    /// Looks one step ahead, as Nesterov's momentum does.
    pub nesterov: bool,
}

impl Default for ScaleByAdam {
    fn default() -> Self {
        ScaleByAdam {
            b1: 0.9,
            b2: 0.999,
            eps: 1e-8,
            eps_root: 0.0,
            nesterov: false,
        }
    }
}

/// Divides the mean of past updates by the root of the mean of their squares,
/// both corrected for starting at zero.
///
/// Kingma and Ba, *Adam: A Method for Stochastic Optimization*, 2014; Dozat,
/// *Incorporating Nesterov Momentum into Adam*, 2016.
pub fn scale_by_adam(options: ScaleByAdam) -> GradientTransformation {
    let ScaleByAdam {
        b1,
        b2,
        eps,
        eps_root,
        nesterov,
    } = options;
    GradientTransformation::new(
        |params| ScaleByAdamState {
            count: Array::scalar(0, DType::I32),
            mu: params.zeros_like(),
            nu: params.zeros_like(),
        },
        move |updates, state: ScaleByAdamState, _| {
            let mu = updates.zip(&state.mu, |g, m| g * (1.0 - b1) + m * b1);
            let nu = updates.zip(&state.nu, |g, n| g.square() * (1.0 - b2) + n * b2);
            let count = safe_increment(&state.count);
            let mu_hat = if nesterov {
                let ahead = bias_correction(&mu, b1, &safe_increment(&count));
                let now = bias_correction(&updates, b1, &count);
                ahead.zip(&now, |m, g| m * b1 + g * (1.0 - b1))
            } else {
                bias_correction(&mu, b1, &count)
            };
            let nu_hat = bias_correction(&nu, b2, &count);
            let updates = mu_hat.zip(&nu_hat, |m, n| m / ((n + eps_root).sqrt() + eps));
            (updates, ScaleByAdamState { count, mu, nu })
        },
    )
}

/// A decaying mean that started at zero, divided by the weight that it has
/// gathered.
fn bias_correction(moment: &State, decay: f64, count: &Array) -> State {
    let weight = 1.0_f64 - decay.into_array().power(count);
    moment.map(|m| m / weight.astype(m.dtype()))
}
