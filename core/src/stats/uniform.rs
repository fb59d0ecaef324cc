//! The uniform distribution from `loc` to `loc + scale`.

use super::functions;
use crate::{select, where_};

functions! {
    /// The logarithm of the density.
    logpdf |x, loc, scale| {
        let outside = x.gt(&loc + &scale).bitwise_or(x.lt(&loc));
        where_(&outside, f64::NEG_INFINITY, -scale.log())
    };
    /// The density.
    pdf |x, loc, scale| logpdf(&x, loc, scale).exp();
    /// The probability of at most `x`.
    cdf |x, loc, scale| {
        let end = &loc + &scale;
        let within = x.ge(&loc).bitwise_and(x.le(&end));
        let part = (&x - &loc) / &scale;
        let ends = [part.zeros_like(), part.ones_like(), part];
        select(&[x.lt(&loc), x.gt(&end), within], &ends, 0.0)
    };
    /// The number that is not exceeded with probability `x`, the inverse of
    /// [`cdf`]; NaN where that is no probability.
    ppf |x, loc, scale| {
        let probability = x.ge(0).bitwise_and(x.le(1));
        where_(&probability, loc + scale * &x, f64::NAN)
    };
}
