//! The Poisson distribution.

use crate::Distribution;
use crate::parameters::{Values, check_value, floats, full};
use ramie_core::random::{self, Key};
use ramie_core::{Array, DType, IntoArray};
use ramie_derive::Tree;

/// The Poisson distribution of counts. Samples are `i32`; values may also be floats. The entropy
/// has no closed form.
///
/// ```
/// use ramie_core::Array;
/// use ramie_distributions::{Distribution, Poisson};
/// let log_prob = Poisson::new(2.0).log_prob(&Array::from(0));
/// assert_eq!(log_prob.item::<f32>(), -2.0);
/// ```
#[derive(Clone, Debug, Tree)]
pub struct Poisson {
    /// The mean and the variance, which must not be negative.
    pub rate: Array,
}

impl Poisson {
    /// Creates a distribution for each of `rate`.
    ///
    /// # Panics
    /// Panics if `rate` is not a float.
    #[track_caller]
    pub fn new(rate: impl IntoArray) -> Poisson {
        let [rate] = floats("Poisson", [("rate", rate.into_array())]);
        Poisson { rate }
    }
}

impl Distribution for Poisson {
    fn batch_shape(&self) -> Vec<usize> {
        self.rate.shape().to_vec()
    }
    fn dtype(&self) -> DType {
        DType::I32
    }
    fn sample(&self, key: &Key, shape: &[usize]) -> Array {
        random::poisson(key, &self.rate, &full(shape, self), DType::I32)
    }
    fn log_prob(&self, value: &Array) -> Array {
        check_value(self, value, Values::Numbers);
        let value = value.astype(self.rate.dtype());
        value.xlogy(&self.rate) - &self.rate - (&value + 1.0).lgamma()
    }
    fn mean(&self) -> Array {
        self.rate.clone()
    }
    fn mode(&self) -> Array {
        self.rate.floor()
    }
    fn variance(&self) -> Array {
        self.rate.clone()
    }
}
