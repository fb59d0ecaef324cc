//! The von Mises distribution of angles with the concentration `kappa`.

use super::functions;
use crate::where_;
use std::f64::consts::PI;

functions! {
    /// Computes the logarithm of the probability density.
    logpdf |x, kappa| {
        let log = &kappa * (x.cos() - kappa.sign()) - (2.0 * PI).ln() - kappa.i0e().log();
        where_(kappa.ge(0), log, f64::NAN)
    };
    /// Computes the probability density.
    pdf |x, kappa| logpdf(&x, kappa).exp();
}
