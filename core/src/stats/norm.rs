//! The normal distribution with mean `loc` and standard deviation `scale`.

use super::{functions, standard};
use std::f64::consts::PI;

functions! {
    /// The logarithm of the density.
    logpdf |x, loc, scale| {
        let variance = scale.square();
        let log = (&variance * (2.0 * PI)).log();
        (log + (x - loc).square() / variance) / -2.0
    };
    /// The density.
    pdf |x, loc, scale| logpdf(&x, loc, scale).exp();
    /// The probability of at most `x`.
    cdf |x, loc, scale| standard(&x, loc, scale).ndtr();
    /// The logarithm of [`cdf`].
    logcdf |x, loc, scale| standard(&x, loc, scale).log_ndtr();
    /// The probability of more than `x`.
    sf |x, loc, scale| cdf(&-x, -loc, scale);
    /// The logarithm of [`sf`].
    logsf |x, loc, scale| logcdf(&-x, -loc, scale);
    /// The number that is not exceeded with probability `x`, the inverse of
    /// [`cdf`].
    ppf |x, loc, scale| x.ndtri() * scale + loc;
    /// The number that is exceeded with probability `x`, the inverse of [`sf`].
    isf |x, loc, scale| ppf(&(1.0 - x), loc, scale);
}
