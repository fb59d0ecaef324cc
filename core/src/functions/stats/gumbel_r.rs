//! The right-skewed Gumbel distribution with the mode `loc`, stretched by `scale`.

use super::{functions, standard};
use crate::where_;

functions! {
    /// Computes the logarithm of the probability density.
    logpdf |x, loc, scale| {
        let z = standard(&x, loc, scale.clone());
        where_(scale.gt(0), -(scale.log() + &z + (-z).exp()), f64::NAN)
    };
    /// Computes the probability density.
    pdf |x, loc, scale| logpdf(&x, loc, scale).exp();
    /// Computes the logarithm of [`cdf`].
    logcdf |x, loc, scale| where_(scale.gt(0), -(-standard(&x, loc, scale.clone())).exp(), f64::NAN);
    /// Computes the cumulative distribution function, the probability of a value of at most `x`.
    cdf |x, loc, scale| logcdf(&x, loc, scale).exp();
    /// Computes the survival function, the probability of a value above `x`.
    sf |x, loc, scale| -logcdf(&x, loc, scale).expm1();
    /// Computes the logarithm of [`sf`].
    logsf |x, loc, scale| (-logcdf(&x, loc, scale)).log1mexp();
    /// Computes the quantile at probability `x`, the inverse of [`cdf`]. The result is NaN unless `x` is
    /// between 0 and 1.
    ppf |x, loc, scale| {
        let inside = x.gt(0).bitwise_and(x.lt(1));
        where_(&inside, loc - scale * (-x.log()).log(), f64::NAN)
    };
}
