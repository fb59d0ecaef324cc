//! The normal distribution with mean `loc` and standard deviation `scale`.

use super::{functions, standard};
use std::f64::consts::PI;

functions! {
    /// Computes the logarithm of the probability density.
    logpdf |x, loc, scale| {
        let variance = scale.square();
        let log = (&variance * (2.0 * PI)).log();
        (log + (x - loc).square() / variance) / -2.0
    };
    /// Computes the probability density.
    pdf |x, loc, scale| logpdf(&x, loc, scale).exp();
    /// Computes the cumulative distribution function, the probability of a value of at most `x`.
    cdf |x, loc, scale| standard(&x, loc, scale).ndtr();
    /// Computes the logarithm of [`cdf`].
    logcdf |x, loc, scale| standard(&x, loc, scale).log_ndtr();
    /// Computes the survival function, the probability of a value above `x`.
    sf |x, loc, scale| cdf(&-x, -loc, scale);
    /// Computes the logarithm of [`sf`].
    logsf |x, loc, scale| logcdf(&-x, -loc, scale);
    /// Computes the quantile at probability `x`, the inverse of [`cdf`].
    ppf |x, loc, scale| x.ndtri() * scale + loc;
    /// Computes the value that is exceeded with probability `x`, the inverse of [`sf`].
    isf |x, loc, scale| ppf(&(1.0 - x), loc, scale);
}
