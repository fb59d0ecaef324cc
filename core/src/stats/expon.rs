//! The exponential distribution from `loc` on, with the mean `loc + scale`.

use super::{functions, standard};
use crate::where_;

functions! {
    /// The logarithm of the density.
    logpdf |x, loc, scale| {
        let before = x.lt(&loc);
        let log = scale.log();
        where_(&before, f64::NEG_INFINITY, -(standard(&x, loc, scale) + log))
    };
    /// The density.
    pdf |x, loc, scale| logpdf(&x, loc, scale).exp();
    /// The probability of at most `x`.
    cdf |x, loc, scale| {
        let before = x.lt(&loc);
        where_(&before, 0, -(-standard(&x, loc, scale)).expm1())
    };
    /// The logarithm of [`cdf`].
    logcdf |x, loc, scale| (-sf(&x, loc, scale)).log1p();
    /// The probability of more than `x`.
    sf |x, loc, scale| logsf(&x, loc, scale).exp();
    /// The logarithm of [`sf`].
    logsf |x, loc, scale| {
        let before = x.lt(&loc);
        where_(&before, 0, -standard(&x, loc, scale))
    };
    /// The number that is not exceeded with probability `x`, the inverse of
    /// [`cdf`]; NaN where that is no probability.
    ppf |x, loc, scale| {
        let probability = x.ge(0).bitwise_and(x.le(1));
        where_(&probability, loc - scale * (-&x).log1p(), f64::NAN)
    };
}
