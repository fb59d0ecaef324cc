//! The multinomial distribution: the numbers of outcomes of each kind in `n` trials with the
//! probabilities `p`.

use crate::{Array, IntoArray, where_};

/// Computes the logarithm of the probability mass at the counts `x`, integers `[.., k]`, for
/// probabilities `[.., k]`. It is `-inf` unless the counts sum to `n`.
///
/// ```no_run
/// use ramie_core::{Array, stats};
/// let mass = stats::multinomial::logpmf(&Array::from([1, 2]), 3, Array::from([0.25f32, 0.75]));
/// assert_eq!(mass.ndim(), 0);
/// ```
///
/// # Panics
/// Panics if the counts or `n` are not integers, or if the shapes do not broadcast.
#[track_caller]
pub fn logpmf(x: &Array, n: impl IntoArray, p: impl IntoArray) -> Array {
    let (n, p) = (n.into_array(), p.into_array().to_inexact());
    assert!(
        x.dtype().is_integer() && n.dtype().is_integer(),
        "multinomial: the counts are {}, their sum is {}, expected integers\n  help: convert them: \
         x.astype(DType::I32)",
        x.aval(),
        n.aval()
    );
    let possible = x.sum_over(-1).eq(&n);
    let (x, n) = (x.astype(p.dtype()), n.astype(p.dtype()));
    let log = (n + 1).gammaln() + (x.xlogy(&p) - (&x + 1).gammaln()).sum_over(-1);
    where_(&possible, log, f64::NEG_INFINITY)
}

/// Computes the probability mass like [`logpmf`].
///
/// # Panics
/// Same as [`logpmf`].
#[track_caller]
pub fn pmf(x: &Array, n: impl IntoArray, p: impl IntoArray) -> Array {
    logpmf(x, n, p).exp()
}
