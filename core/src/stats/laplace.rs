//! Laplace's distribution about `loc`, with the mean distance `scale`.

use super::{functions, standard};
use crate::where_;

functions! {
    /// The logarithm of the density.
    logpdf |x, loc, scale| {
        let log = (&scale * 2.0).log();
        -((x - loc).abs() / scale + log)
    };
    /// The density.
    pdf |x, loc, scale| logpdf(&x, loc, scale).exp();
    /// The probability of at most `x`.
    cdf |x, loc, scale| {
        let z = standard(&x, loc, scale);
        where_(&z.le(0), z.exp() * 0.5, 1.0 - (-&z).exp() * 0.5)
    };
}
