//! The chi-squared distribution with `df` degrees of freedom, starting at `loc`, stretched by `scale`.

use super::{functions, gamma};

functions! {
    /// Computes the logarithm of the probability density.
    logpdf |x, df, loc, scale| gamma::logpdf(&x, df / 2, loc, scale * 2);
    /// Computes the probability density.
    pdf |x, df, loc, scale| logpdf(&x, df, loc, scale).exp();
    /// Computes the cumulative distribution function, the probability of a value of at most `x`.
    cdf |x, df, loc, scale| gamma::cdf(&x, df / 2, loc, scale * 2);
    /// Computes the logarithm of [`cdf`].
    logcdf |x, df, loc, scale| cdf(&x, df, loc, scale).log();
    /// Computes the survival function, the probability of a value above `x`.
    sf |x, df, loc, scale| gamma::sf(&x, df / 2, loc, scale * 2);
    /// Computes the logarithm of [`sf`].
    logsf |x, df, loc, scale| sf(&x, df, loc, scale).log();
}
