//! Distributions of probabilities: beta and Dirichlet.

use crate::Distribution;
use crate::parameters::{Values, check_value, family, floats, full};
use ramie_core::random::{self, Key};
use ramie_core::{Array, DType, IntoArray, where_};
use ramie_derive::Tree;

family! {
    /// The beta distribution of numbers between 0 and 1. Samples are differentiable with respect to
    /// both parameters. The mode is NaN where it is not unique.
    ///
    /// ```
    /// use ramie_distributions::{Beta, Distribution};
    /// let beta = Beta::new(3.0, 2.0);
    /// assert!((beta.mean().item::<f32>() - 0.6).abs() < 1e-6);
    /// ```
    Beta {
        /// The exponent of the number, plus 1. It must be positive.
        alpha,
        /// The exponent of the distance to 1, plus 1. It must be positive.
        beta,
    }
    fn sample(&self, key: &Key, shape: &[usize]) -> Array {
        random::beta(key, &self.alpha, &self.beta, &full(shape, self), self.alpha.dtype())
    }
    fn log_prob(&self, value: &Array) -> Array {
        check_value(self, value, Values::Floats);
        let (a, b) = (&self.alpha, &self.beta);
        let log_prob = (a - 1.0) * value.log() + (b - 1.0) * (1.0 - value).log();
        let at_end = |exponent: &Array, end: f64| exponent.eq(1.0).bitwise_and(value.eq(end));
        // Zero times the logarithm of zero.
        where_(at_end(a, 0.0).bitwise_or(at_end(b, 1.0)), 0.0, log_prob) - self.log_normalization()
    }
    fn entropy(&self) -> Array {
        let (a, b, sum) = (&self.alpha, &self.beta, &self.alpha + &self.beta);
        let own = (a - 1.0) * a.digamma() + (b - 1.0) * b.digamma();
        self.log_normalization() - own + (&sum - 2.0) * sum.digamma()
    }
    fn mean(&self) -> Array {
        &self.alpha / (&self.alpha + &self.beta)
    }
    fn mode(&self) -> Array {
        let (a, b) = (&self.alpha, &self.beta);
        let inner = (a - 1.0) / (a + b - 2.0);
        let end = where_(b.gt(1.0), 0.0, f64::NAN);
        let end = where_(a.gt(1.0), 1.0, end).astype(a.dtype());
        where_(a.gt(1.0).bitwise_and(b.gt(1.0)), inner, end)
    }
    fn variance(&self) -> Array {
        let sum = &self.alpha + &self.beta;
        &self.alpha * &self.beta / (sum.square() * (&sum + 1.0))
    }
}

impl Beta {
    /// Computes the logarithm of the beta function of the parameters.
    pub(crate) fn log_normalization(&self) -> Array {
        let (a, b) = (&self.alpha, &self.beta);
        a.lgamma() + b.lgamma() - (a + b).lgamma()
    }
}

/// The Dirichlet distribution of probabilities, vectors of positive numbers with the sum 1. Samples
/// are differentiable with respect to the parameter.
///
/// ```
/// use ramie_core::{Array, random};
/// use ramie_distributions::{Dirichlet, Distribution};
/// let dirichlet = Dirichlet::new(Array::from([1.0f32, 2.0, 5.0]));
/// assert_eq!(dirichlet.mean().to_vec::<f32>(), [0.125, 0.25, 0.625]);
/// assert_eq!(dirichlet.sample(&random::key(0), &[4]).shape(), [4, 3]);
/// ```
#[derive(Clone, Debug, Tree)]
pub struct Dirichlet {
    /// The exponents of the probabilities, plus 1: `[.., n]`. They must be positive. The mode is
    /// NaN unless all are above 1.
    pub concentration: Array,
}

impl Dirichlet {
    /// Creates distributions of vectors of size `n` from `concentration`, `[.., n]`.
    ///
    /// # Panics
    /// Panics if `concentration` is not a float or 0-d, or if `n` is below 2.
    #[track_caller]
    pub fn new(concentration: impl IntoArray) -> Dirichlet {
        let given = [("concentration", concentration.into_array())];
        let [concentration] = floats("Dirichlet", given);
        assert!(
            concentration.shape().last().is_some_and(|n| *n >= 2),
            "Dirichlet: expects a last axis of at least 2 elements, got concentration {}\n  help: \
             pass the parameters along the last axis; for two outcomes `Beta` takes two arrays",
            concentration.aval()
        );
        Dirichlet { concentration }
    }

    fn size(&self) -> usize {
        self.concentration.shape()[self.concentration.ndim() - 1]
    }

    fn sum(&self) -> Array {
        self.concentration.sum_over(-1)
    }

    /// Computes the logarithm of the multivariate beta function of the parameter.
    pub(crate) fn log_normalization(&self) -> Array {
        self.concentration.lgamma().sum_over(-1) - self.sum().lgamma()
    }
}

impl Distribution for Dirichlet {
    fn batch_shape(&self) -> Vec<usize> {
        let shape = self.concentration.shape();
        shape[..shape.len() - 1].to_vec()
    }
    fn event_shape(&self) -> Vec<usize> {
        vec![self.size()]
    }
    fn dtype(&self) -> DType {
        self.concentration.dtype()
    }
    fn sample(&self, key: &Key, shape: &[usize]) -> Array {
        random::dirichlet(key, &self.concentration, &full(shape, self), self.dtype())
    }
    fn log_prob(&self, value: &Array) -> Array {
        check_value(self, value, Values::Floats);
        let terms = (&self.concentration - 1.0) * value.log();
        terms.sum_over(-1) - self.log_normalization()
    }
    fn entropy(&self) -> Array {
        let (sum, a) = (self.sum(), &self.concentration);
        let of_sum = (&sum - self.size() as f64) * sum.digamma();
        self.log_normalization() + of_sum - ((a - 1.0) * a.digamma()).sum_over(-1)
    }
    fn mean(&self) -> Array {
        &self.concentration / self.sum().expand_dims(&[-1])
    }
    fn mode(&self) -> Array {
        let above = &self.concentration - 1.0;
        let inside = above.gt(0.0).all_over(-1).expand_dims(&[-1]);
        where_(
            inside,
            &above / above.sum_over(-1).expand_dims(&[-1]),
            f64::NAN,
        )
    }
    fn variance(&self) -> Array {
        let mean = self.mean();
        &mean * (1.0 - &mean) / (self.sum() + 1.0).expand_dims(&[-1])
    }
}
