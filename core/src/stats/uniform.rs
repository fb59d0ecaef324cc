//! The uniform distribution from `loc` to `loc + scale`.

use super::functions;
use crate::{select, where_};

functions! {
    /// Computes the logarithm of the probability density.
    logpdf |x, loc, scale| {
        let outside = x.gt(&loc + &scale).bitwise_or(x.lt(&loc));
        where_(&outside, f64::NEG_INFINITY, -scale.log())
    };
    /// Computes the probability density.
    pdf |x, loc, scale| logpdf(&x, loc, scale).exp();
    /// Computes the cumulative distribution function, the probability of a value of at most `x`.
    cdf |x, loc, scale| {
        let end = &loc + &scale;
        let within = x.ge(&loc).bitwise_and(x.le(&end));
        let part = (&x - &loc) / &scale;
        let ends = [part.zeros_like(), part.ones_like(), part];
        select(&[x.lt(&loc), x.gt(&end), within], &ends, 0.0)
    };
    /// Computes the quantile at probability `x`, the inverse of [`cdf`]. The result is NaN if `x`
    /// is not a probability.
    ppf |x, loc, scale| {
        let probability = x.ge(0).bitwise_and(x.le(1));
        where_(&probability, loc + scale * &x, f64::NAN)
    };
}
