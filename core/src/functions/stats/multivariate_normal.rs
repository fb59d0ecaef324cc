//! The multivariate normal distribution with the vector `mean` and the matrix `cov`.

use super::floats;
use crate::linalg::{self, TriangularSolve};
use crate::options::Reduction;
use crate::{Array, IntoArray};
use std::f64::consts::PI;

/// Computes the logarithm of the probability density at the vectors `x`, `[.., n]`, for means
/// `[.., n]` and covariances `[.., n, n]`. A 0-d covariance is the variance of each component. The
/// batch axes broadcast. A 0-d mean with a 0-d covariance is the normal distribution of each
/// element.
///
/// ```no_run
/// use ramie_core::{Array, stats};
/// let x = Array::from([[0.0f32, 1.0], [2.0, 0.5]]);
/// let covariance = Array::from([[2.0f32, 0.5], [0.5, 1.0]]);
/// let density = stats::multivariate_normal::logpdf(&x, Array::from([0.0f32, 0.0]), &covariance);
/// assert_eq!(density.shape(), [2]);
/// ```
///
/// # Panics
/// Panics if the shapes do not fit.
#[track_caller]
pub fn logpdf(x: &Array, mean: impl IntoArray, cov: impl IntoArray) -> Array {
    let [x, mean, cov] = floats([x.clone(), mean.into_array(), cov.into_array()]);
    let distance = &x - &mean;
    let Some(&n) = mean.shape().last() else {
        return (distance.square() / &cov + (cov * (2.0 * PI)).log()) * -0.5;
    };
    if cov.ndim() == 0 {
        let square = distance.square().sum_over(-1) / &cov;
        return (square + (cov * (2.0 * PI)).log() * n as f64) * -0.5;
    }
    let fits = matches!(cov.shape(), [.., r, c] if (*r, *c) == (n, n));
    assert!(
        fits,
        "multivariate_normal: the mean {} and the covariance {} do not fit\n  help: pass \
         covariances [.., {n}, {n}]",
        mean.aval(),
        cov.aval()
    );
    let root = linalg::cholesky(&cov);
    let logarithms = root.diagonal_with(0, -2, -1).log().sum_over(-1);
    let lower = TriangularSolve::new().lower();
    let white = linalg::solve_triangular_with(&root, &distance.expand_dims(&[-1]), lower);
    let square = white.square().sum_over(Reduction::over([-2, -1]));
    square * -0.5 - n as f64 / 2.0 * (2.0 * PI).ln() - logarithms
}

/// Computes the probability density like [`logpdf`].
///
/// # Panics
/// Same as [`logpdf`].
#[track_caller]
pub fn pdf(x: &Array, mean: impl IntoArray, cov: impl IntoArray) -> Array {
    logpdf(x, mean, cov).exp()
}
