//! The wrapped Cauchy distribution of angles from 0 to 2π, with the concentration `c`.

use super::functions;
use crate::where_;
use std::f64::consts::PI;

functions! {
    /// Computes the logarithm of the probability density.
    logpdf |x, c| {
        let square = c.square();
        let outside = x.lt(0).bitwise_or(x.gt(2.0 * PI));
        let log = (-&square).log1p() - (2.0 * PI).ln() - (square + 1 - &c * 2 * x.cos()).log();
        let log = where_(&outside, f64::NEG_INFINITY, log);
        where_(c.gt(0).bitwise_and(c.lt(1)), log, f64::NAN)
    };
    /// Computes the probability density.
    pdf |x, c| logpdf(&x, c).exp();
}
