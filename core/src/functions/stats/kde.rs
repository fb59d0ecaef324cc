//! Gaussian kernel density estimates.

use super::floats;
use crate::options::{Covariance, Reduction};
use crate::random::{self, Choice, CovarianceRoot, Key};
use crate::{Array, IntoArray, linalg};
use std::f64::consts::PI;

/// The width of the kernels of [`gaussian_kde`], as a factor of the standard deviation of the data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Bandwidth {
    /// Scott's rule: `n^(-1 / (d + 4))` for `n` points of dimension `d`.
    #[default]
    Scott,
    /// Silverman's rule: `(n (d + 2) / 4)^(-1 / (d + 4))`.
    Silverman,
    /// A factor.
    Factor(f64),
}

/// The options of [`gaussian_kde_with`].
#[derive(Clone, Debug, Default)]
pub struct GaussianKdeOptions {
    /// The width of the kernels. Defaults to Scott's rule.
    pub bandwidth: Bandwidth,
    /// Weights of the points, a vector. Defaults to equal weights. They are divided by their sum.
    pub weights: Option<Array>,
}

/// A density estimated from points by a normal kernel at each of them
/// (`jax.scipy.stats.gaussian_kde`). It is a pytree, so that compiled functions can take it.
#[derive(Clone, Debug)]
pub struct GaussianKde {
    /// Effective number of points, 0-d.
    pub neff: Array,
    /// The points, `[d, n]`.
    pub dataset: Array,
    /// The weights, `[n]`, whose sum is 1.
    pub weights: Array,
    /// Covariance matrix of the kernels, `[d, d]`.
    pub covariance: Array,
    /// Inverse of the covariance matrix, `[d, d]`.
    pub inv_cov: Array,
}

crate::functions::linalg::tree_of_arrays!(GaussianKde {
    neff,
    dataset,
    weights,
    covariance,
    inv_cov
});

/// Estimates a density from points, `[n]` or `[d, n]`, with equal weights and Scott's rule.
///
/// ```no_run
/// use ramie_core::{Array, stats};
/// let density = stats::gaussian_kde(&Array::from([0.1f32, 0.5, 0.7, 2.0]));
/// let at = density.pdf(Array::from([0.0f32, 1.0]));
/// assert_eq!(at.shape(), [2]);
/// ```
///
/// # Panics
/// Panics if there are fewer than two points, or if the array has more than two axes.
#[track_caller]
pub fn gaussian_kde(dataset: &Array) -> GaussianKde {
    gaussian_kde_with(dataset, GaussianKdeOptions::default())
}

/// Estimates a density like [`gaussian_kde`], with weights and another width of the kernels.
///
/// # Panics
/// Panics in the same cases, or if the weights are not a vector with an element for each point.
#[track_caller]
pub fn gaussian_kde_with(dataset: &Array, options: GaussianKdeOptions) -> GaussianKde {
    assert!(
        matches!(dataset.ndim(), 1 | 2) && dataset.size() > 1,
        "gaussian_kde: the data are {}, expected several points\n  help: pass points [n] or [d, n]",
        dataset.aval()
    );
    let n = dataset.shape()[dataset.ndim() - 1];
    let d = dataset.size() / n;
    let dataset = dataset.to_inexact().reshape((d, n));
    let (dataset, weights) = match options.weights {
        None => {
            let equal = Array::full(&[n], 1.0 / n as f64, dataset.dtype());
            (dataset, equal)
        }
        Some(weights) => {
            assert!(
                weights.shape() == [n],
                "gaussian_kde: the weights are {}, the data {}\n  help: pass one weight for each of \
                 the {n} points",
                weights.aval(),
                dataset.aval()
            );
            let [dataset, weights] = floats([dataset, weights]);
            let total = weights.sum();
            (dataset, weights / total)
        }
    };
    let neff: Array = 1.0 / weights.square().sum();
    let power = -1.0 / (d as f64 + 4.0);
    let factor = match options.bandwidth {
        Bandwidth::Scott => neff.power(power),
        Bandwidth::Silverman => (&neff * ((d as f64 + 2.0) / 4.0)).power(power),
        Bandwidth::Factor(factor) => neff.full_like(factor),
    };
    let covariance = Covariance::new()
        .weights(&weights)
        .of(&dataset)
        .reshape((d, d));
    let square = factor.square();
    GaussianKde {
        inv_cov: linalg::inv(&covariance) / &square,
        covariance: covariance * square,
        neff,
        dataset,
        weights,
    }
}

impl GaussianKde {
    /// Returns the points as `[d, m]`: a vector is `m` numbers for a density of one dimension,
    /// otherwise one point.
    #[track_caller]
    fn points(&self, x: impl IntoArray) -> Array {
        let x = x.into_array();
        let d = self.dataset.shape()[0];
        let points = match *x.shape() {
            [] => x.reshape((1, 1)),
            [m] if d == 1 => x.reshape((1, m)),
            [m] if d == m => x.reshape((m, 1)),
            _ => x.clone(),
        };
        assert!(
            points.ndim() == 2 && points.shape()[0] == d,
            "gaussian_kde: the points are {}, the data {}\n  help: pass points [{d}, m]",
            x.aval(),
            self.dataset.aval()
        );
        points
    }

    /// Computes the logarithm of each kernel's density at each point, `[m, n]`.
    #[track_caller]
    fn kernels(&self, x: impl IntoArray) -> Array {
        let [x, data] = floats([self.points(x), self.dataset.clone()]);
        let root = linalg::cholesky(&self.inv_cov);
        let d = data.shape()[0] as f64;
        let normalization = root.diagonal(0).log().sum() - 0.5 * d * (2.0 * PI).ln();
        let white = |points: Array| points.transpose(&[1, 0]).matmul(&root);
        let distance = white(x).expand_dims(&[1]) - white(data).expand_dims(&[0]);
        normalization - distance.square().sum_over(-1) * 0.5
    }

    /// Computes the density at points: `[d, m]`, or a vector for one dimension. Returns `[m]`.
    ///
    /// # Panics
    /// Panics if the points have another dimension.
    #[doc(alias = "evaluate")]
    #[track_caller]
    pub fn pdf(&self, x: impl IntoArray) -> Array {
        (self.kernels(x).exp() * &self.weights).sum_over(-1)
    }

    /// Computes the logarithm of the density at points, accurately where it is small.
    ///
    /// # Panics
    /// Panics if the points have another dimension.
    #[track_caller]
    pub fn logpdf(&self, x: impl IntoArray) -> Array {
        (self.kernels(x) + self.weights.log()).logsumexp(-1)
    }

    /// Computes the sum of weighted kernels of a covariance between `mean`, `[d, m]`, and the data:
    /// `[m]`.
    #[track_caller]
    fn convolved(&self, mean: &Array, covariance: &Array) -> Array {
        let d = self.dataset.shape()[0];
        let factor = linalg::cho_factor(covariance);
        let norm = factor.diagonal(0).prod() * (2.0 * PI).powf(d as f64 / 2.0);
        let distance = self.dataset.expand_dims(&[1]) - mean.expand_dims(&[2]);
        let [_, m, n] = distance.dims();
        let solved = linalg::cho_solve(&factor, &distance.reshape((d, m * n)));
        let exponent = (solved.reshape((d, m, n)) * distance).sum_over(Reduction::over(0)) * -0.5;
        (exponent.exp() * &self.weights).sum_over(-1) / norm
    }

    /// Computes the integral of the density times the normal density with `mean`, `[d]`, and
    /// covariance `cov`, `[d, d]`.
    ///
    /// # Panics
    /// Panics if the shapes do not fit.
    #[track_caller]
    pub fn integrate_gaussian(&self, mean: impl IntoArray, cov: impl IntoArray) -> Array {
        let (mean, cov) = (mean.into_array(), cov.into_array());
        let d = self.dataset.shape()[0];
        assert!(
            mean.size() == d && cov.size() == d * d,
            "integrate_gaussian: the mean is {}, the covariance {}, the data {}\n  help: pass a mean \
             [{d}] and a covariance [{d}, {d}]",
            mean.aval(),
            cov.aval(),
            self.dataset.aval()
        );
        let covariance = &self.covariance + cov.reshape((d, d));
        self.convolved(&mean.reshape((d, 1)), &covariance)
            .reshape(())
    }

    /// Computes the probability of an interval, for a density of one dimension.
    ///
    /// # Panics
    /// Panics if the density has more dimensions.
    #[track_caller]
    pub fn integrate_box_1d(&self, low: impl IntoArray, high: impl IntoArray) -> Array {
        let [d, n] = self.dataset.dims();
        assert!(
            d == 1,
            "integrate_box_1d: the data are {}, expected one dimension\n  help: use \
             integrate_gaussian or samples for densities of {d} dimensions",
            self.dataset.aval()
        );
        let sigma = self.covariance.reshape(()).sqrt();
        let data = self.dataset.reshape(n);
        let below = |x: Array| ((x - &data) / &sigma).ndtr();
        (&self.weights * (below(high.into_array()) - below(low.into_array()))).sum()
    }

    /// Computes the integral of the product of two densities.
    ///
    /// # Panics
    /// Panics if their dimensions differ.
    #[track_caller]
    pub fn integrate_kde(&self, other: &GaussianKde) -> Array {
        assert!(
            self.dataset.shape()[0] == other.dataset.shape()[0],
            "integrate_kde: the data are {} and {}\n  help: pass densities of one dimension",
            self.dataset.aval(),
            other.dataset.aval()
        );
        let covariance = &self.covariance + &other.covariance;
        (self.convolved(&other.dataset, &covariance) * &other.weights).sum()
    }

    /// Draws points from the density, `[d, shape..]`.
    ///
    /// # Panics
    /// Panics if `key` is an array of keys.
    #[track_caller]
    pub fn resample(&self, key: &Key, shape: &[usize]) -> Array {
        let [choice, noise] = key.split_into();
        let [d, n] = self.dataset.dims();
        let at = Choice::of(n).p(&self.weights).draw(&choice, shape);
        let zero = Array::zeros(&[d], self.dataset.dtype());
        let noise = random::multivariate_normal(
            &noise,
            &zero,
            &self.covariance,
            shape,
            self.dataset.dtype(),
            CovarianceRoot::Cholesky,
        );
        self.dataset.take(&at, 1) + noise.move_axes(&[-1], &[0])
    }
}
