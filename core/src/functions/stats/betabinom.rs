//! The beta-binomial distribution: the successes of `n` trials whose probability has the beta
//! distribution with the exponents `a` and `b`, shifted by `loc`.

use super::functions;
use crate::where_;

functions! {
    /// Computes the logarithm of the probability mass.
    logpmf |k, n, a, b, loc| {
        let y = k.floor() - &loc;
        let rest = &n - &y;
        let choices = -(n.log1p() + (&rest + 1).betaln(&y + 1));
        let log = choices + (&y + &a).betaln(rest + &b) - a.betaln(&b);
        let log = where_(y.eq(0).bitwise_and(n.eq(0)), 0, log);
        let outside = y.lt(-loc).bitwise_or(y.gt(&n)).bitwise_or((&y + &a).le(0));
        let impossible = n.lt(0).bitwise_or(a.le(0)).bitwise_or(b.le(0));
        where_(&impossible, f64::NAN, where_(&outside, f64::NEG_INFINITY, log))
    };
    /// Computes the probability mass.
    pmf |k, n, a, b, loc| logpmf(&k, n, a, b, loc).exp();
}
