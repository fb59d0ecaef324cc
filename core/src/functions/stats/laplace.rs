//! The Laplace distribution with location `loc` and mean absolute deviation `scale`.

use super::{functions, standard};
use crate::where_;

functions! {
    /// Computes the logarithm of the probability density.
    logpdf |x, loc, scale| {
        let log = (&scale * 2.0).log();
        -((x - loc).abs() / scale + log)
    };
    /// Computes the probability density.
    pdf |x, loc, scale| logpdf(&x, loc, scale).exp();
    /// Computes the cumulative distribution function, the probability of a value of at most `x`.
    cdf |x, loc, scale| {
        let z = standard(&x, loc, scale);
        // The exponential of the other sign would overflow.
        let tail = where_(z.le(0), &z, -&z).exp() * 0.5;
        where_(z.le(0), &tail, 1.0 - &tail)
    };
}
