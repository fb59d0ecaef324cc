//! Differentially private gradients.

use crate::base::given::check_numbers;
use crate::base::options::options;
use crate::transforms::momentum::trace_if;
use crate::{
    GradientTransformation, chain, per_example_global_norm_clip, scale_by_learning_rate, tree,
};
use ramie_core::State;
use ramie_core::random::{self, Key};
use ramie_derive::Tree;

/// The state of [`differentially_private_aggregate`].
#[derive(Tree)]
pub struct DifferentiallyPrivateAggregateState {
    /// RNG key of the noise of the following steps.
    pub rng_key: Key,
}

/// Clips the gradients of each example, stacked along the first axis, to the norm `l2_norm_clip`,
/// sums them, adds normal noise with the standard deviation `l2_norm_clip · noise_multiplier`,
/// and divides by the number of examples. Keys are assigned in the order of the sorted paths.
///
/// Abadi et al., *Deep Learning with Differential Privacy*, 2016.
#[track_caller]
pub fn differentially_private_aggregate(
    l2_norm_clip: f64,
    noise_multiplier: f64,
    key: Key,
) -> GradientTransformation {
    check_numbers!(l2_norm_clip, noise_multiplier);
    let deviation = l2_norm_clip * noise_multiplier;
    GradientTransformation::new(
        move |_| DifferentiallyPrivateAggregateState {
            rng_key: key.clone(),
        },
        move |grads: State, state: DifferentiallyPrivateAggregateState, _| {
            let (sums, _) = per_example_global_norm_clip(&grads, l2_norm_clip);
            let examples = grads.arrays()[0].shape()[0] as f64;
            let mut keys = state.rng_key.split(grads.len() + 1);
            let rng_key = keys.remove(0);
            let keys = tree::dealt(keys, &sums);
            let noised = sums.map_with_path(|path, g| {
                let noise = random::normal(&keys[path], g.shape(), g.dtype());
                (g + noise * deviation) / examples
            });
            (noised, DifferentiallyPrivateAggregateState { rng_key })
        },
    )
}

options! {
    /// Creates a differentially private gradient descent optimizer. It takes the gradients of
    /// each example, stacked along the first axis of each array.
    ///
    /// ```
    /// use ramie_core::random;
    /// use ramie_optim::contrib::dpsgd;
    /// let tx = dpsgd(0.1).l2_norm_clip(1.0).noise_multiplier(1.1).key(random::key(7));
    /// ```
    ///
    /// Abadi et al., *Deep Learning with Differential Privacy*, 2016.
    dpsgd(learning_rate: schedule) -> Dpsgd {
        /// Sets the maximum norm of the gradients of an example.
        l2_norm_clip: f64 = 1.0,
        /// Sets the standard deviation of the noise, as a multiple of `l2_norm_clip`.
        noise_multiplier: f64 = 1.0,
        /// Sets the RNG key of the noise.
        key: Key = random::key(0),
        /// Enables momentum with this decay rate, a decaying sum of past updates.
        momentum: optional,
        /// Uses Nesterov momentum. Has no effect without `momentum`.
        nesterov: flag,
    }
    |o| chain((
        differentially_private_aggregate(o.l2_norm_clip, o.noise_multiplier, o.key),
        trace_if(o.momentum, o.nesterov, None),
        scale_by_learning_rate(o.learning_rate),
    ))
}
