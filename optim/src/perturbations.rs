//! Functions made differentiable by random perturbations (`optax.perturbations`).

use crate::base::wide::wide;
use crate::tree;
use ramie_core::random::{self, Key};
use ramie_core::{Array, State, vmap};

/// The distribution of the noise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Noise {
    /// The Gumbel distribution.
    #[default]
    Gumbel,
    /// The standard normal distribution.
    Normal,
}

impl Noise {
    /// Draws samples with the shape and dtype of an array.
    pub fn sample(self, key: &Key, like: &Array) -> Array {
        match self {
            Noise::Gumbel => random::gumbel(key, like.shape(), like.dtype()),
            Noise::Normal => random::normal(key, like.shape(), like.dtype()),
        }
    }

    /// Computes the logarithm of the density, up to a constant.
    pub fn log_prob(self, x: &Array) -> Array {
        match self {
            Noise::Gumbel => -x - (-x).exp(),
            Noise::Normal => x.square() * -0.5,
        }
    }
}

/// The options of [`make_perturbed_fun`].
#[derive(Clone, Debug)]
pub struct Perturbation {
    /// Number of perturbed values to average.
    pub num_samples: usize,
    /// Scale of the noise.
    pub sigma: f64,
    /// Distribution of the noise.
    pub noise: Noise,
    /// Whether to subtract the value at the unperturbed arguments, which reduces the variance of
    /// the estimated derivatives.
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

/// Returns a function that computes the mean of `fun` at perturbed arguments. Its derivatives of
/// any order are estimated from values of `fun` alone, which need not be differentiable
/// (`optax.perturbations.make_perturbed_fun`).
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
            let drawn = x.zip(&shifted, |x, y| (&*wide(y) - &*wide(x)) / options.sigma);
            let weight = tree::sum(&drawn.map(|z| options.noise.log_prob(z)));
            // The value is 1; the derivative is that of the log-density.
            let weight = (&weight - weight.stop_gradient()).exp();
            let out = tree::scale(&weight, &fun(&shifted));
            match &baseline {
                Some(baseline) => tree::add_scale(&out, 1.0_f64 - &weight, baseline),
                None => out,
            }
        };
        let all = vmap(one)(key.split_array(&[options.num_samples]));
        all.map(|a| a.mean_over(0))
    }
}
