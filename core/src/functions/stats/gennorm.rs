//! The generalized normal distribution with the exponent `beta`.

use super::functions;

functions! {
    /// Computes the logarithm of the probability density.
    logpdf |x, beta| (&beta * 0.5).log() - (1.0 / &beta).gammaln() - x.abs().power(beta);
    /// Computes the probability density.
    pdf |x, beta| logpdf(&x, beta).exp();
    /// Computes the cumulative distribution function, the probability of a value of at most `x`.
    cdf |x, beta| (x.sign() * (1.0 / &beta).gammainc(x.abs().power(&beta)) + 1) * 0.5;
}
