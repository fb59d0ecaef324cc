//! Cauchy's distribution about `loc`, of width `scale`.

use super::{functions, standard};
use std::f64::consts::{FRAC_1_PI, FRAC_PI_2, PI};

functions! {
    /// The logarithm of the density.
    logpdf |x, loc, scale| {
        let log = (&scale * PI).log();
        -(log + standard(&x, loc, scale).square().log1p())
    };
    /// The density.
    pdf |x, loc, scale| logpdf(&x, loc, scale).exp();
    /// The probability of at most `x`.
    cdf |x, loc, scale| standard(&x, loc, scale).atan() * FRAC_1_PI + 0.5;
    /// The logarithm of [`cdf`].
    logcdf |x, loc, scale| cdf(&x, loc, scale).log();
    /// The probability of more than `x`.
    sf |x, loc, scale| cdf(&-x, -loc, scale);
    /// The logarithm of [`sf`].
    logsf |x, loc, scale| logcdf(&-x, -loc, scale);
    /// The number that is not exceeded with probability `x`, the inverse of
    /// [`cdf`].
    ppf |x, loc, scale| (x * PI - FRAC_PI_2).tan() * scale + loc;
    /// The number that is exceeded with probability `x`, the inverse of [`sf`].
    isf |x, loc, scale| (FRAC_PI_2 - x * PI).tan() * scale + loc;
}
