//! Functions made differentiable by noise (`optax.perturbations`).

use crate::tree;
use ramie_core::random::{self, Key};
use ramie_core::{Array, State, vmap};

/// The noise of a perturbed function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Noise {
    /// Gumbel's distribution.
    #[default]
    Gumbel,
    /// The normal distribution.
    Normal,
}

impl Noise {
    /// Draws in the shape and element type of an array.
    pub fn sample(self, key: &Key, like: &Array) -> Array {
        match self {
            Noise::Gumbel => random::gumbel(key, like.shape(), like.dtype()),
            Noise::Normal => random::normal(key, like.shape(), like.dtype()),
        }
    }

    /// The logarithm of the density, but for a constant.
    pub fn log_prob(self, x: &Array) -> Array {
        match self {
            Noise::Gumbel => -x - (-x).exp(),
            Noise::Normal => x.square() * -0.5,
        }
    }
}

/// How [`make_perturbed_fun`] makes its estimate.
#[derive(Clone, Debug)]
pub struct Perturbation {
    /// The number of perturbed values that are averaged.
    pub num_samples: usize,
    /// The scale of the noise.
    pub sigma: f64,
    /// Its distribution.
    pub noise: Noise,
    /// Takes the value at the arguments themselves off, which makes estimates
    /// of derivatives vary less.
    pub use_baseline: bool,
}

impl Default for Perturbation {
    fn default() -> Perturbation {
        Perturbation {
            num_samples: 1000,
            sigma: 0.1,
            noise: Noise::Gumbel,
            use_baseline: true,
        }
    }
}

/// The mean of a function at perturbed arguments, whose derivatives of any
/// order are estimates from values of the function alone, which need not be
/// differentiable (`optax.perturbations.make_perturbed_fun`).
///
/// ```no_run
/// use ramie_core::{Array, State, grad, random};
/// use ramie_optim::perturbations::{Perturbation, make_perturbed_fun};
/// let steps = |x: &State| x.map(|x| x.sign());
/// let smooth = make_perturbed_fun(steps, Perturbation::default());
/// let key = random::key(0);
/// let slope = grad(|x: State| smooth(&key, &x).arrays()[0].sum());
/// ```
///
/// Berthet et al., *Learning with Differentiable Perturbed Optimizers*, 2020;
/// Foerster et al., *DiCE: The Infinitely Differentiable Monte Carlo
/// Estimator*, 2018.
pub fn make_perturbed_fun(
    fun: impl Fn(&State) -> State + Send + Sync,
    options: Perturbation,
) -> impl Fn(&Key, &State) -> State + Send + Sync {
    move |key, x| {
        let still = |state: &State| state.map(Array::stop_gradient);
        let baseline = options.use_baseline.then(|| fun(&still(x)));
        let one = |key: Key| {
            let drawn = tree::random_like(&key, x, |key, a| options.noise.sample(key, a));
            let shifted = still(&tree::add_scale(x, options.sigma, &drawn));
            let drawn = x.zip(&shifted, |x, y| (y - x) / options.sigma);
            let weight = tree::sum(&drawn.map(|z| options.noise.log_prob(z)));
            // Its value is 1, its derivative that of the logarithm.
            let weight = (&weight - weight.stop_gradient()).exp();
            let out = tree::scale(&weight, &fun(&shifted));
            match &baseline {
                Some(baseline) => tree::add_scale(&out, 1.0_f64 - &weight, baseline),
                None => out,
            }
        };
        let all = vmap(one)(key.split_array(&[options.num_samples]));
        all.map(|a| a.mean_axes(&[0]))
    }
}
