//! The gamma distribution with the exponent `a`, starting at `loc`, stretched by `scale`.

use super::{functions, standard};
use crate::where_;

functions! {
    /// Computes the logarithm of the probability density.
    logpdf |x, a, loc, scale| {
        let after = x.ge(&loc);
        // The derivative of the logarithm of a negative number would be NaN.
        let z = where_(&after, standard(&x, loc, scale.clone()), 1);
        let log = (&a - 1).xlogy(&z) - z - a.gammaln() - scale.log();
        where_(&after, log, f64::NEG_INFINITY)
    };
    /// Computes the probability density.
    pdf |x, a, loc, scale| logpdf(&x, a, loc, scale).exp();
    /// Computes the cumulative distribution function, the probability of a value of at most `x`.
    cdf |x, a, loc, scale| a.gammainc(standard(&x, loc, scale).maximum(0));
    /// Computes the logarithm of [`cdf`].
    logcdf |x, a, loc, scale| cdf(&x, a, loc, scale).log();
    /// Computes the survival function, the probability of a value above `x`.
    sf |x, a, loc, scale| a.gammaincc(standard(&x, loc, scale).maximum(0));
    /// Computes the logarithm of [`sf`].
    logsf |x, a, loc, scale| sf(&x, a, loc, scale).log();
}
