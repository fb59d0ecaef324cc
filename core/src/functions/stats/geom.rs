//! The geometric distribution: the number of trials up to the first success of probability `p`,
//! shifted by `loc`.

use super::functions;
use crate::where_;

functions! {
    /// Computes the logarithm of the probability mass.
    logpmf |k, p, loc| {
        let k = k - loc;
        let log = (&k - 1).xlog1py(-&p) + p.log();
        where_(k.le(0), f64::NEG_INFINITY, log)
    };
    /// Computes the probability mass.
    pmf |k, p, loc| logpmf(&k, p, loc).exp();
}
