//! The Poisson distribution with the mean `mu`, shifted by `loc`.

use super::functions;
use crate::{Array, IntoArray, where_};
use std::f64::consts::{E, PI};

functions! {
    /// Computes the logarithm of the probability mass.
    logpmf |k, mu, loc| {
        let k = k - loc;
        let log = k.xlogy(&mu) - (&k + 1).gammaln() - mu;
        where_(k.lt(0).bitwise_or(k.round().ne(&k)), f64::NEG_INFINITY, log)
    };
    /// Computes the probability mass.
    pmf |k, mu, loc| logpmf(&k, mu, loc).exp();
    /// Computes the cumulative distribution function, the probability of a value of at most `k`.
    cdf |k, mu, loc| {
        let k = k - loc;
        where_(k.lt(0), 0, (&k + 1).floor().gammaincc(mu))
    };
}

/// Computes the entropy in nats for the mean `mu`. Below 100 it is a sum over the probable values,
/// otherwise the first terms of a series.
#[track_caller]
pub fn entropy(mu: impl IntoArray) -> Array {
    let mu = mu.into_array().to_inexact();
    // Each branch computes with means of its own range, so that no derivative is NaN.
    let small = where_(mu.gt(0).bitwise_and(mu.lt(10)), &mu, 1);
    let medium = where_(mu.ge(10).bitwise_and(mu.lt(100)), &mu, 10);
    let large = where_(mu.lt(100), 100, &mu);
    let series = (&large * (2.0 * PI * E)).log() * 0.5 - 1.0 / (large * 12);
    let below_hundred = where_(
        mu.lt(10),
        sum_of_terms(&small, 35, &(&small + 20)),
        sum_of_terms(&medium, 250, &(&medium + medium.sqrt() * 10 + 20)),
    );
    let entropy = where_(mu.lt(100), below_hundred, series);
    where_(mu.eq(0), 0, entropy)
}

/// Sums the terms of the entropy for the values below `end`, at most `most`.
#[track_caller]
fn sum_of_terms(mu: &Array, most: usize, end: &Array) -> Array {
    let mu = mu.expand_dims(&[0]);
    let mut shape = vec![1; mu.ndim()];
    shape[0] = most;
    let k = Array::iota(&shape, 0, mu.dtype());
    let log = logpmf(&k, &mu, 0);
    let terms = where_(k.lt(end.ceil().expand_dims(&[0])), -(log.exp() * log), 0);
    terms.sum_over(0)
}
