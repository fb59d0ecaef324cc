//! The exponential distribution starting at `loc`, with the mean `loc + scale`.

use super::{functions, standard};
use crate::where_;

functions! {
    /// Computes the logarithm of the probability density.
    logpdf |x, loc, scale| {
        let before = x.lt(&loc);
        let log = scale.log();
        where_(&before, f64::NEG_INFINITY, -(standard(&x, loc, scale) + log))
    };
    /// Computes the probability density.
    pdf |x, loc, scale| logpdf(&x, loc, scale).exp();
    /// Computes the cumulative distribution function, the probability of a value of at most `x`.
    cdf |x, loc, scale| {
        let before = x.lt(&loc);
        // The derivative of the exponential of a large number would be NaN.
        let z = where_(&before, 0, standard(&x, loc, scale));
        -(-z).expm1()
    };
    /// Computes the logarithm of [`cdf`].
    logcdf |x, loc, scale| (-sf(&x, loc, scale)).log1p();
    /// Computes the survival function, the probability of a value above `x`.
    sf |x, loc, scale| logsf(&x, loc, scale).exp();
    /// Computes the logarithm of [`sf`].
    logsf |x, loc, scale| {
        let before = x.lt(&loc);
        where_(&before, 0, -standard(&x, loc, scale))
    };
    /// Computes the quantile at probability `x`, the inverse of [`cdf`]. The result is NaN if `x`
    /// is not a probability.
    ppf |x, loc, scale| {
        let probability = x.ge(0).bitwise_and(x.le(1));
        where_(&probability, loc - scale * (-&x).log1p(), f64::NAN)
    };
}
