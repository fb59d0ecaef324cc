//! Distributions of positive numbers: gamma, exponential and log-normal.

use crate::Normal;
use crate::parameters::{Values, check_value, family, full};
use ramie_core::random::{self, Key};
use ramie_core::{Array, where_};

family! {
    /// The gamma distribution. Samples are differentiable with respect to both parameters.
    ///
    /// ```
    /// use ramie_distributions::{Distribution, Gamma};
    /// let gamma = Gamma::new(3.0, 2.0);
    /// assert_eq!((gamma.mean().item::<f32>(), gamma.mode().item::<f32>()), (1.5, 1.0));
    /// ```
    Gamma {
        /// The shape parameter, which must be positive. Below 1, the mode is NaN.
        concentration,
        /// The inverse of the scale, which must be positive.
        rate,
    }
    fn sample(&self, key: &Key, shape: &[usize]) -> Array {
        let shape = full(shape, self);
        random::gamma(key, &self.concentration, &shape, self.rate.dtype()) / &self.rate
    }
    fn log_prob(&self, value: &Array) -> Array {
        check_value(self, value, Values::Floats);
        let a = &self.concentration;
        a * self.rate.log() + (a - 1.0) * value.log() - &self.rate * value - a.lgamma()
    }
    fn entropy(&self) -> Array {
        let a = &self.concentration;
        a - self.rate.log() + a.lgamma() + (1.0 - a) * a.digamma()
    }
    fn mean(&self) -> Array {
        &self.concentration / &self.rate
    }
    fn mode(&self) -> Array {
        let mode = (&self.concentration - 1.0) / &self.rate;
        where_(self.concentration.ge(1.0), mode, f64::NAN)
    }
    fn variance(&self) -> Array {
        &self.concentration / self.rate.square()
    }
    fn stddev(&self) -> Array {
        self.concentration.sqrt() / &self.rate
    }
}

family! {
    /// The exponential distribution of numbers from 0.
    ///
    /// ```
    /// use ramie_core::Array;
    /// use ramie_distributions::{Distribution, Exponential};
    /// let log_prob = Exponential::new(2.0).log_prob(&Array::from([-1.0f32, 0.0]));
    /// assert_eq!(log_prob.exp().to_vec::<f32>(), [0.0, 2.0]);
    /// ```
    Exponential {
        /// The inverse of the mean, which must be positive.
        rate,
    }
    fn sample(&self, key: &Key, shape: &[usize]) -> Array {
        random::exponential(key, &full(shape, self), self.rate.dtype()) / &self.rate
    }
    fn log_prob(&self, value: &Array) -> Array {
        check_value(self, value, Values::Floats);
        let log_prob = self.rate.log() - &self.rate * value;
        where_(value.lt(0.0), f64::NEG_INFINITY, log_prob)
    }
    fn entropy(&self) -> Array {
        1.0 - self.rate.log()
    }
    fn mean(&self) -> Array {
        1.0 / &self.rate
    }
    fn mode(&self) -> Array {
        self.rate.zeros_like()
    }
    fn variance(&self) -> Array {
        self.stddev().square()
    }
    fn stddev(&self) -> Array {
        1.0 / &self.rate
    }
}

family! {
    /// The distribution of the exponentials of normal numbers.
    ///
    /// ```
    /// use ramie_distributions::{Distribution, LogNormal};
    /// assert_eq!(LogNormal::new(0.0, 1.0).mean().item::<f32>(), 0.5f32.exp());
    /// ```
    LogNormal {
        /// The mean of the logarithms.
        loc,
        /// The standard deviation of the logarithms, which must be positive.
        scale,
    }
    fn sample(&self, key: &Key, shape: &[usize]) -> Array {
        self.logarithm().sample(key, shape).exp()
    }
    fn log_prob(&self, value: &Array) -> Array {
        check_value(self, value, Values::Floats);
        let logarithm = value.log();
        self.logarithm().log_prob(&logarithm) - logarithm
    }
    fn entropy(&self) -> Array {
        self.logarithm().entropy() + &self.loc
    }
    fn mean(&self) -> Array {
        (&self.loc + self.scale.square() * 0.5).exp()
    }
    fn mode(&self) -> Array {
        (&self.loc - self.scale.square()).exp()
    }
    fn variance(&self) -> Array {
        let variance = self.scale.square();
        variance.expm1() * (&self.loc * 2.0 + variance).exp()
    }
}

impl LogNormal {
    /// Returns the distribution of the logarithms.
    pub(crate) fn logarithm(&self) -> Normal {
        Normal::new(&self.loc, &self.scale)
    }
}
