//! The beta distribution with the exponents `a` and `b`, on the interval from `loc` to `loc + scale`.

use super::{functions, standard};
use crate::where_;

functions! {
    /// Computes the logarithm of the probability density.
    logpdf |x, a, b, loc, scale| {
        let z = standard(&x, loc, scale.clone());
        let outside = z.lt(0).bitwise_or(z.gt(1));
        let impossible = a.le(0).bitwise_or(b.le(0)).bitwise_or(scale.le(0));
        let log = (&a - 1).xlogy(&z) + (&b - 1).xlog1py(-z) - a.betaln(b) - scale.log();
        let log = where_(&outside, f64::NEG_INFINITY, log);
        where_(&impossible, f64::NAN, log)
    };
    /// Computes the probability density.
    pdf |x, a, b, loc, scale| logpdf(&x, a, b, loc, scale).exp();
    /// Computes the cumulative distribution function, the probability of a value of at most `x`.
    cdf |x, a, b, loc, scale| a.betainc(b, standard(&x, loc, scale).clip(0, 1));
    /// Computes the logarithm of [`cdf`].
    logcdf |x, a, b, loc, scale| cdf(&x, a, b, loc, scale).log();
    /// Computes the survival function, the probability of a value above `x`.
    sf |x, a, b, loc, scale| b.betainc(a, 1.0 - standard(&x, loc, scale).clip(0, 1));
    /// Computes the logarithm of [`sf`].
    logsf |x, a, b, loc, scale| sf(&x, a, b, loc, scale).log();
}
