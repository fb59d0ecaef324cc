//! Distributions of a location and a scale.

use crate::parameters::{Values, check_value, family, full};
use ramie_core::Array;
use ramie_core::random::{self, Key};
use std::f64::consts::{LN_2, PI, SQRT_2};

/// Half the logarithm of 2π.
pub(crate) fn half_log_2pi() -> f64 {
    0.5 * (2.0 * PI).ln()
}

/// Defines a distribution by that of location 0 and scale 1: its log density, entropy, standard
/// deviation and sampler.
macro_rules! location_scale {
    ($(
        $(#[$doc:meta])*
        $name:ident $sampler:path, |$z:ident| $log_density:expr, $entropy:expr, $stddev:expr;
    )*) => { $(
        family! {
            $(#[$doc])*
            $name {
                /// The location, which is the mean and the mode.
                loc,
                /// The scale, which must be positive.
                scale,
            }
            fn sample(&self, key: &Key, shape: &[usize]) -> Array {
                let standard = $sampler(key, &full(shape, self), self.loc.dtype());
                &self.scale * standard + &self.loc
            }
            fn sample_and_log_prob(&self, key: &Key, shape: &[usize]) -> (Array, Array) {
                let $z = $sampler(key, &full(shape, self), self.loc.dtype());
                (&self.scale * &$z + &self.loc, $log_density - self.scale.log())
            }
            fn log_prob(&self, value: &Array) -> Array {
                check_value(self, value, Values::Floats);
                let $z = (value - &self.loc) / &self.scale;
                $log_density - self.scale.log()
            }
            fn entropy(&self) -> Array {
                self.scale.log() + $entropy
            }
            fn mean(&self) -> Array {
                self.loc.clone()
            }
            fn mode(&self) -> Array {
                self.loc.clone()
            }
            fn variance(&self) -> Array {
                self.scale.square() * ($stddev * $stddev)
            }
            fn stddev(&self) -> Array {
                &self.scale * $stddev
            }
        }
    )* };
}

location_scale! {
    /// The normal distribution with mean `loc` and standard deviation `scale`.
    ///
    /// ```
    /// use ramie_core::{Array, random};
    /// use ramie_distributions::{Distribution, Normal};
    /// let normal = Normal::new(Array::from([0.0f32, 10.0]), 2.0);
    /// assert_eq!(normal.sample(&random::key(0), &[5]).shape(), [5, 2]);
    /// let log_prob = normal.log_prob(&Array::from([2.0f32, 12.0])).to_vec::<f32>();
    /// assert!((log_prob[0] + 2.112_086).abs() < 1e-5 && log_prob[0] == log_prob[1]);
    /// ```
    Normal random::normal, |z| z.square() * -0.5 - half_log_2pi(), 0.5 + half_log_2pi(), 1.0;

    /// The Laplace distribution with mean `loc` and mean absolute deviation `scale`.
    ///
    /// ```
    /// use ramie_core::Array;
    /// use ramie_distributions::{Distribution, Laplace};
    /// let log_prob = Laplace::new(0.0, 0.5).log_prob(&Array::from([0.0f32, 0.5]));
    /// assert_eq!(log_prob.to_vec::<f32>(), [0.0, -1.0]);
    /// ```
    Laplace random::laplace, |z| -z.abs() - LN_2, 1.0 + LN_2, SQRT_2;
}
