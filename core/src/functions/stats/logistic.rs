//! The logistic distribution with location `loc` and scale `scale`.

use super::{functions, standard};

functions! {
    /// Computes the logarithm of the probability density.
    logpdf |x, loc, scale| {
        let log = scale.log();
        let half = standard(&x, loc, scale) / 2.0;
        half.logaddexp(-&half) * -2.0 - log
    };
    /// Computes the probability density.
    pdf |x, loc, scale| logpdf(&x, loc, scale).exp();
    /// Computes the cumulative distribution function, the probability of a value of at most `x`.
    cdf |x, loc, scale| standard(&x, loc, scale).logistic();
    /// Computes the survival function, the probability of a value above `x`.
    sf |x, loc, scale| (-standard(&x, loc, scale)).logistic();
    /// Computes the quantile at probability `x`, the inverse of [`cdf`].
    ppf |x, loc, scale| x.logit() * scale + loc;
    /// Computes the value that is exceeded with probability `x`, the inverse of [`sf`].
    isf |x, loc, scale| -x.logit() * scale + loc;
}
