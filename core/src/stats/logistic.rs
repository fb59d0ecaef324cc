//! The logistic distribution about `loc`, of width `scale`.

use super::{functions, standard};

functions! {
    /// The logarithm of the density.
    logpdf |x, loc, scale| {
        let log = scale.log();
        let half = standard(&x, loc, scale) / 2.0;
        half.logaddexp(-&half) * -2.0 - log
    };
    /// The density.
    pdf |x, loc, scale| logpdf(&x, loc, scale).exp();
    /// The probability of at most `x`.
    cdf |x, loc, scale| standard(&x, loc, scale).logistic();
    /// The probability of more than `x`.
    sf |x, loc, scale| (-standard(&x, loc, scale)).logistic();
    /// The number that is not exceeded with probability `x`, the inverse of
    /// [`cdf`].
    ppf |x, loc, scale| x.logit() * scale + loc;
    /// The number that is exceeded with probability `x`, the inverse of [`sf`].
    isf |x, loc, scale| -x.logit() * scale + loc;
}
