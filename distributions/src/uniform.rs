//! The uniform distribution.

use crate::parameters::{Values, check_value, family, full};
use ramie_core::random::{self, Key};
use ramie_core::{Array, where_};

family! {
    /// The uniform distribution between `low` and `high`. It has no unique mode.
    ///
    /// ```
    /// use ramie_core::Array;
    /// use ramie_distributions::{Distribution, Uniform};
    /// let uniform = Uniform::new(0.0, 0.5);
    /// let log_prob = uniform.log_prob(&Array::from([0.1f32, 0.9]));
    /// assert_eq!(log_prob.exp().to_vec::<f32>(), [2.0, 0.0]);
    /// ```
    Uniform {
        /// The lower bound.
        low,
        /// The upper bound, which must be above the lower one.
        high,
    }
    fn sample(&self, key: &Key, shape: &[usize]) -> Array {
        let unit = random::uniform(key, &full(shape, self), self.low.dtype());
        &self.low + self.range() * unit
    }
    fn log_prob(&self, value: &Array) -> Array {
        check_value(self, value, Values::Floats);
        let outside = value.lt(&self.low).bitwise_or(value.gt(&self.high));
        where_(outside, f64::NEG_INFINITY, -self.range().log())
    }
    fn entropy(&self) -> Array {
        self.range().log()
    }
    fn mean(&self) -> Array {
        (&self.low + &self.high) / 2.0
    }
    fn variance(&self) -> Array {
        self.range().square() / 12.0
    }
    fn stddev(&self) -> Array {
        self.range() / 12f64.sqrt()
    }
}

impl Uniform {
    fn range(&self) -> Array {
        &self.high - &self.low
    }
}
