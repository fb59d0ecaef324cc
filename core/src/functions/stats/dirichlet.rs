//! The Dirichlet distribution with the concentrations `alpha`, a vector.

use super::floats;
use crate::options::Reduction;
use crate::{Array, IntoArray, concatenate, where_};

/// Computes the logarithm of the probability density at `x`: `[n, ..]` for concentrations `[n]`, or
/// `[n - 1, ..]` without the last component. The first axis is that of the components.
///
/// ```no_run
/// use ramie_core::{Array, stats};
/// let x = Array::from([0.2f32, 0.3, 0.5]);
/// let density = stats::dirichlet::logpdf(&x, Array::from([1.0f32, 2.0, 3.0]));
/// assert_eq!(density.ndim(), 0);
/// ```
///
/// # Panics
/// Panics if `alpha` is not a vector, or if the first axis of `x` has another length.
#[track_caller]
pub fn logpdf(x: &Array, alpha: impl IntoArray) -> Array {
    let [x, alpha] = floats([x.clone(), alpha.into_array()]);
    let n = alpha.shape().first().copied();
    let given = x.shape().first().copied();
    let fits = alpha.ndim() == 1 && (given == n || given.map(|m| m + 1) == n);
    assert!(
        fits,
        "dirichlet: the numbers {} and concentrations {} do not fit\n  help: pass concentrations \
         [n], and numbers [n, ..] or [n - 1, ..]",
        x.aval(),
        alpha.aval()
    );
    let x = if given == n {
        x
    } else {
        let rest = 1.0 - x.sum_over(Reduction::over(0).keepdims());
        concatenate(&[x, rest], 0)
    };
    let normalization = alpha.gammaln().sum() - alpha.sum().gammaln();
    let after: Vec<isize> = (1..x.ndim() as isize).collect();
    let log = (alpha.expand_dims(&after) - 1).xlogy(&x).sum_over(0) - normalization;
    let simplex = x
        .gt(0)
        .all_over(0)
        .bitwise_and((x.sum_over(0) - 1).abs().lt(1e-6));
    where_(&simplex, log, f64::NEG_INFINITY)
}

/// Computes the probability density like [`logpdf`].
///
/// # Panics
/// Same as [`logpdf`].
#[track_caller]
pub fn pdf(x: &Array, alpha: impl IntoArray) -> Array {
    logpdf(x, alpha).exp()
}
