//! The negative binomial distribution: the failures before the `n`th success of probability `p`,
//! shifted by `loc`.

use super::functions;
use crate::where_;

functions! {
    /// Computes the logarithm of the probability mass.
    logpmf |k, n, p, loc| {
        let y = k - loc;
        let choices = (&y + &n).gammaln() - n.gammaln() - (&y + 1).gammaln();
        let log = choices + n.xlogy(&p) + y.xlogy(1.0 - p);
        where_(y.lt(0), f64::NEG_INFINITY, log)
    };
    /// Computes the probability mass.
    pmf |k, n, p, loc| logpmf(&k, n, p, loc).exp();
}
