//! The Cauchy distribution with location `loc` and scale `scale`.

use super::{functions, standard};
use crate::where_;
use std::f64::consts::{FRAC_1_PI, PI};

functions! {
    /// Computes the logarithm of the probability density.
    logpdf |x, loc, scale| {
        let log = (&scale * PI).log();
        -(log + standard(&x, loc, scale).square().log1p())
    };
    /// Computes the probability density.
    pdf |x, loc, scale| logpdf(&x, loc, scale).exp();
    /// Computes the cumulative distribution function, the probability of a value of at most `x`.
    cdf |x, loc, scale| standard(&x, loc, scale).atan() * FRAC_1_PI + 0.5;
    /// Computes the logarithm of [`cdf`].
    logcdf |x, loc, scale| cdf(&x, loc, scale).log();
    /// Computes the survival function, the probability of a value above `x`.
    sf |x, loc, scale| cdf(&-x, -loc, scale);
    /// Computes the logarithm of [`sf`].
    logsf |x, loc, scale| logcdf(&-x, -loc, scale);
    /// Computes the quantile at probability `x`, the inverse of [`cdf`]. It is infinite at 0 and 1,
    /// and NaN if `x` is not a probability.
    ppf |x, loc, scale| {
        // tan(πx - π/2) = -1 / tan(πx): the argument is near 0 in both tails.
        let upper = x.gt(0.5);
        let tail = where_(&upper, 1.0 - &x, x.abs());
        let cotangent = where_(&upper, 1.0, x.full_like(-1.0)) / (tail * PI).tan();
        let quantile = where_(x.eq(0.5), 0.0, cotangent) * scale + loc;
        where_(x.lt(0).bitwise_or(x.gt(1)), f64::NAN, quantile)
    };
    /// Computes the value that is exceeded with probability `x`, the inverse of [`sf`].
    isf |x, loc, scale| -ppf(&x, -loc, scale);
}
