//! The left-skewed Gumbel distribution with the mode `loc`, stretched by `scale`.

use super::{functions, gumbel_r};
use crate::where_;

functions! {
    /// Computes the logarithm of the probability density.
    logpdf |x, loc, scale| gumbel_r::logpdf(&-x, -loc, scale);
    /// Computes the probability density.
    pdf |x, loc, scale| logpdf(&x, loc, scale).exp();
    /// Computes the logarithm of [`cdf`].
    logcdf |x, loc, scale| gumbel_r::logsf(&-x, -loc, scale);
    /// Computes the cumulative distribution function, the probability of a value of at most `x`.
    cdf |x, loc, scale| logcdf(&x, loc, scale).exp();
    /// Computes the survival function, the probability of a value above `x`.
    sf |x, loc, scale| logsf(&x, loc, scale).exp();
    /// Computes the logarithm of [`sf`].
    logsf |x, loc, scale| gumbel_r::logcdf(&-x, -loc, scale);
    /// Computes the quantile at probability `x`, the inverse of [`cdf`]. The result is NaN unless `x` is
    /// between 0 and 1.
    ppf |x, loc, scale| {
        let inside = x.gt(0).bitwise_and(x.lt(1));
        where_(&inside, loc + scale * (-(-x).log1p()).log(), f64::NAN)
    };
}
