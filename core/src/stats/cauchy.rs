//! The Cauchy distribution with location `loc` and scale `scale`.

use super::{functions, standard};
use std::f64::consts::{FRAC_1_PI, FRAC_PI_2, PI};

functions! {
    /// Computes the logarithm of the probability density.
    logpdf |x, loc, scale| {
        let log = (&scale * PI).log();
        -(log + standard(&x, loc, scale).square().log1p())
    };
    /// Computes the probability density.
    pdf |x, loc, scale| logpdf(&x, loc, scale).exp();
    /// Computes the cumulative distribution function, the probability of a value of at most `x`.
    cdf |x, loc, scale| standard(&x, loc, scale).atan() * FRAC_1_PI + 0.5;
    /// Computes the logarithm of [`cdf`].
    logcdf |x, loc, scale| cdf(&x, loc, scale).log();
    /// Computes the survival function, the probability of a value above `x`.
    sf |x, loc, scale| cdf(&-x, -loc, scale);
    /// Computes the logarithm of [`sf`].
    logsf |x, loc, scale| logcdf(&-x, -loc, scale);
    /// Computes the quantile at probability `x`, the inverse of [`cdf`].
    ppf |x, loc, scale| (x * PI - FRAC_PI_2).tan() * scale + loc;
    /// Computes the value that is exceeded with probability `x`, the inverse of [`sf`].
    isf |x, loc, scale| (FRAC_PI_2 - x * PI).tan() * scale + loc;
}
