//! The Bernoulli distribution on 0 and 1, with the probability `p` of 1, shifted by `loc`.

use super::functions;
use crate::where_;

functions! {
    /// Computes the logarithm of the probability mass.
    logpmf |k, p, loc| {
        let k = k - loc;
        let outside = k.lt(0).bitwise_or(k.gt(1));
        let log = k.xlogy(&p) + (1.0 - &k).xlog1py(-p);
        where_(&outside, f64::NEG_INFINITY, log)
    };
    /// Computes the probability mass.
    pmf |k, p, loc| logpmf(&k, p, loc).exp();
    /// Computes the cumulative distribution function, the probability of a value of at most `k`.
    cdf |k, p| {
        let possible = super::probability(&p).bitwise_and(k.eq(&k));
        let below = where_(k.lt(0), 0, where_(k.lt(1), 1.0 - p, 1));
        where_(&possible, below, f64::NAN)
    };
    /// Computes the quantile at probability `q`. The result is NaN if `q` or `p` is not a probability.
    ppf |q, p| {
        let possible = super::probability(&p).bitwise_and(super::probability(&q));
        let value = where_(q.le(1.0 - p), q.full_like(0), 1);
        where_(&possible, value, f64::NAN)
    };
}
