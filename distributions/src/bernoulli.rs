//! The Bernoulli distribution.

use crate::Distribution;
use crate::parameters::{Values, check_value, floats, full, multiply_no_nan};
use ramie_core::random::{self, Key};
use ramie_core::{Array, DType, IntoArray};
use ramie_derive::Tree;

/// Logits or probabilities.
#[derive(Clone, Debug, Tree)]
pub(crate) enum Parameter {
    Logits(Array),
    Probs(Array),
}

/// The distribution of 0 and 1. Samples are `i32`.
///
/// Values may be booleans, integers or floats between 0 and 1, such as gray pixels.
///
/// ```
/// use ramie_core::{Array, random};
/// use ramie_distributions::{Bernoulli, Distribution};
/// let coin = Bernoulli::from_probs(Array::from([0.25f32, 0.75]));
/// assert_eq!(coin.mode().to_vec::<i32>(), [0, 1]);
/// assert_eq!(coin.sample(&random::key(0), &[5]).shape(), [5, 2]);
/// ```
#[derive(Clone, Debug, Tree)]
pub struct Bernoulli(Parameter);

impl Bernoulli {
    /// Creates a distribution for each of `logits`, the logarithms of the odds of 1.
    ///
    /// # Panics
    /// Panics if `logits` are not floats.
    #[track_caller]
    pub fn from_logits(logits: impl IntoArray) -> Bernoulli {
        let [logits] = floats("Bernoulli", [("logits", logits.into_array())]);
        Bernoulli(Parameter::Logits(logits))
    }

    /// Creates a distribution for each of `probs`, the probabilities of 1.
    ///
    /// # Panics
    /// Panics if `probs` are not floats.
    #[track_caller]
    pub fn from_probs(probs: impl IntoArray) -> Bernoulli {
        let [probs] = floats("Bernoulli", [("probs", probs.into_array())]);
        Bernoulli(Parameter::Probs(probs))
    }

    /// Returns the logarithms of the odds of 1.
    pub fn logits(&self) -> Array {
        match &self.0 {
            Parameter::Logits(logits) => logits.clone(),
            Parameter::Probs(probs) => probs.log() - (1.0 - probs).log(),
        }
    }

    /// Returns the probabilities of 1.
    pub fn probs(&self) -> Array {
        match &self.0 {
            Parameter::Logits(logits) => logits.sigmoid(),
            Parameter::Probs(probs) => probs.clone(),
        }
    }

    /// Returns the logarithms of the probabilities of 0 and of 1.
    pub(crate) fn log_probs(&self) -> [Array; 2] {
        match &self.0 {
            Parameter::Logits(logits) => [-logits.softplus(), -(-logits).softplus()],
            Parameter::Probs(probs) => [(-probs).log1p(), probs.log()],
        }
    }

    /// Returns the probabilities of 0 and of 1.
    pub(crate) fn both_probs(&self) -> [Array; 2] {
        match &self.0 {
            Parameter::Logits(logits) => [(-logits).sigmoid(), logits.sigmoid()],
            Parameter::Probs(probs) => [1.0 - probs, probs.clone()],
        }
    }
}

impl Distribution for Bernoulli {
    fn batch_shape(&self) -> Vec<usize> {
        let (Parameter::Logits(array) | Parameter::Probs(array)) = &self.0;
        array.shape().to_vec()
    }
    fn dtype(&self) -> DType {
        DType::I32
    }
    fn sample(&self, key: &Key, shape: &[usize]) -> Array {
        let probs = self.probs();
        let uniform = random::uniform(key, &full(shape, self), probs.dtype());
        uniform.lt(probs).astype(DType::I32)
    }
    fn log_prob(&self, value: &Array) -> Array {
        check_value(self, value, Values::Numbers);
        let [log_0, log_1] = self.log_probs();
        let value = if value.dtype().is_float() {
            value.clone()
        } else {
            value.astype(log_0.dtype())
        };
        multiply_no_nan(&log_0, &(1.0 - &value)) + multiply_no_nan(&log_1, &value)
    }
    fn entropy(&self) -> Array {
        let ([log_0, log_1], [p_0, p_1]) = (self.log_probs(), self.both_probs());
        -(multiply_no_nan(&log_0, &p_0) + multiply_no_nan(&log_1, &p_1))
    }
    fn mean(&self) -> Array {
        self.probs()
    }
    fn mode(&self) -> Array {
        self.probs().gt(0.5).astype(DType::I32)
    }
    fn variance(&self) -> Array {
        let probs = self.probs();
        (1.0 - &probs) * probs
    }
}
