//! Student's t distribution with `df` degrees of freedom, centered at `loc`, stretched by `scale`.

use super::{functions, standard};
use std::f64::consts::PI;

functions! {
    /// Computes the logarithm of the probability density.
    logpdf |x, df, loc, scale| {
        let half = &df * 0.5;
        let power = &half + 0.5;
        let width = (scale.square() * PI * &df).log() * 0.5;
        let normalization = half.gammaln() + width - power.gammaln();
        -(normalization + power * (standard(&x, loc, scale).square() / df).log1p())
    };
    /// Computes the probability density.
    pdf |x, df, loc, scale| logpdf(&x, df, loc, scale).exp();
}
