//! The Pareto distribution with the exponent `b`, starting at `loc + scale`.

use super::{functions, standard};
use crate::where_;

functions! {
    /// Computes the logarithm of the probability density.
    logpdf |x, b, loc, scale| {
        let z = standard(&x, loc, scale.clone());
        let log = -((scale / &b).log() + (&b + 1) * z.log());
        where_(z.lt(1), f64::NEG_INFINITY, log)
    };
    /// Computes the probability density.
    pdf |x, b, loc, scale| logpdf(&x, b, loc, scale).exp();
    /// Computes the cumulative distribution function, the probability of a value of at most `x`.
    cdf |x, b, loc, scale| {
        let z = standard(&x, loc, scale);
        where_(z.lt(1), 0, 1.0 - z.power(-b))
    };
    /// Computes the logarithm of [`cdf`].
    logcdf |x, b, loc, scale| {
        let z = standard(&x, loc, scale);
        where_(z.lt(1), f64::NEG_INFINITY, (-z.power(-b)).log1p())
    };
    /// Computes the survival function, the probability of a value above `x`.
    sf |x, b, loc, scale| logsf(&x, b, loc, scale).exp();
    /// Computes the logarithm of [`sf`].
    logsf |x, b, loc, scale| {
        let z = standard(&x, loc, scale);
        where_(z.lt(1), 0, -(b * z.log()))
    };
    /// Computes the quantile at probability `x`, the inverse of [`cdf`]. The result is NaN if `x` is
    /// not a probability.
    ppf |x, b, loc, scale| {
        let quantile = loc + scale * (1.0 - &x).power(-1.0 / b);
        where_(super::probability(&x), quantile, f64::NAN)
    };
}
