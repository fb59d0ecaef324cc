//! The binomial distribution: the successes of `n` trials with probability `p`, shifted by `loc`.

use super::functions;
use crate::where_;

functions! {
    /// Computes the logarithm of the probability mass.
    logpmf |k, n, p, loc| {
        let y = k - loc;
        let choices = (&n + 1).gammaln() - ((&y + 1).gammaln() + (&n - &y + 1).gammaln());
        let linear = y.xlogy(&p) + (&n - &y).xlog1py(-p);
        let certain = y.eq(0).bitwise_and(n.eq(0)).bitwise_or(linear.eq(0));
        let log = where_(&certain, 0, choices + linear);
        let possible = y.ge(0).bitwise_and(y.lt(n + 1));
        where_(&possible, log, f64::NEG_INFINITY)
    };
    /// Computes the probability mass.
    pmf |k, n, p, loc| logpmf(&k, n, p, loc).exp();
}
