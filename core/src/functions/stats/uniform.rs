//! The uniform distribution from `loc` to `loc + scale`.

use super::{functions, standard};
use crate::where_;

functions! {
    /// Computes the logarithm of the probability density.
    logpdf |x, loc, scale| {
        let part = standard(&x, loc, scale.clone());
        let outside = part.lt(0).bitwise_or(part.gt(1));
        let within = part.ge(0).bitwise_and(part.le(1));
        // Neither holds for NaN.
        let rest = where_(&within, -scale.log(), f64::NAN);
        where_(&outside, f64::NEG_INFINITY, rest)
    };
    /// Computes the probability density.
    pdf |x, loc, scale| logpdf(&x, loc, scale).exp();
    /// Computes the cumulative distribution function, the probability of a value of at most `x`.
    cdf |x, loc, scale| standard(&x, loc, scale).clip(0.0, 1.0);
    /// Computes the quantile at probability `x`, the inverse of [`cdf`]. The result is NaN if `x`
    /// is not a probability.
    ppf |x, loc, scale| {
        let probability = x.ge(0).bitwise_and(x.le(1));
        where_(&probability, loc + scale * &x, f64::NAN)
    };
}
