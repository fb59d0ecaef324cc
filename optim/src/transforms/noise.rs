//! Noise on gradients.

use crate::base::given::CheckedSetting;
use crate::base::numerics::{count_zero, safe_increment};
use crate::{GradientTransformation, Hyperparam, tree};
use ramie_core::random::{self, Key};
use ramie_core::{Array, IntoArray};
use ramie_derive::Tree;

/// The state of [`add_noise`].
#[derive(Tree)]
pub struct AddNoiseState {
    /// Number of steps, 0-d `i32`.
    pub count: Array,
    /// RNG key of the noise of the following steps.
    pub rng_key: Key,
}

/// Adds normal noise with the variance `eta / (1 + t)^gamma` in step `t`.
///
/// ```
/// use ramie_core::random;
/// use ramie_optim::{add_noise, chain, sgd};
/// let tx = chain((add_noise(0.01, 0.55, random::key(0)), sgd(0.1)));
/// ```
///
/// Neelakantan et al., *Adding Gradient Noise Improves Learning for Very Deep
/// Networks*, 2015.
#[track_caller]
pub fn add_noise(
    eta: impl Into<Hyperparam>,
    gamma: impl Into<Hyperparam>,
    key: Key,
) -> GradientTransformation {
    let (eta, gamma) = (eta.into().given("eta"), gamma.into().given("gamma"));
    GradientTransformation::new(
        move |_| AddNoiseState {
            count: count_zero(),
            rng_key: key.clone(),
        },
        move |updates, state: AddNoiseState, _| {
            let count = safe_increment(&state.count);
            let deviation = ((&eta).into_array() / count.power(&gamma)).sqrt();
            let [rng_key, sample] = state.rng_key.split_into::<2>();
            let noise = tree::random_like(&sample, &updates, |key, u| {
                random::normal(key, u.shape(), u.dtype())
            });
            let updates = tree::add_scale(&updates, deviation, &noise);
            (updates, AddNoiseState { count, rng_key })
        },
    )
}
