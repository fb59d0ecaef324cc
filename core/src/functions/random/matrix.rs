//! Random matrices, and normal vectors with a covariance.

use super::{Key, draw, expect_float, expect_inexact, normal, real_parameter};
use crate::functions::linalg;
use crate::functions::linalg::matrix::{diagonals, transposed};
use crate::numpy::broadcast_shapes;
use crate::{Array, DType};

/// Draws matrices uniformly from those with orthonormal rows or columns, whichever are fewer
/// (`jax.random.orthogonal`): `[shape.., n, m]`. Square matrices are elements of the orthogonal
/// group, or of the unitary group if they are complex.
///
/// ```no_run
/// use ramie_core::{DType, random};
/// let q = random::orthogonal(&random::key(0), 4, 3, &[], DType::F32);
/// assert_eq!(q.shape(), [4, 3]);
/// ```
///
/// # Panics
/// Panics if `key` is an array of keys, or if `dtype` is not `f32`, `f64`, `c64` or `c128`.
#[track_caller]
pub fn orthogonal(key: &Key, n: usize, m: usize, shape: &[usize], dtype: DType) -> Array {
    expect_inexact("orthogonal", dtype);
    draw("orthogonal", key, (n, m, shape, dtype), &[], |key, _| {
        let sizes = [n.max(m), n.min(m)];
        let z = normal(key, &[shape, &sizes].concat(), dtype);
        let (q, r) = linalg::qr(&z);
        // Householder's signs would not be uniform (Mezzadri, How to generate random matrices
        // from the classical compact groups, 2007).
        let q = q * diagonals(&r).sign().expand_dims(&[-2]);
        if n < m { transposed(&q) } else { q }
    })
}

/// The method by which [`multivariate_normal`] computes the root of a covariance matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CovarianceRoot {
    /// Cholesky decomposition, the fastest method. Singular covariances give NaN.
    #[default]
    Cholesky,
    /// Scaled eigenvectors.
    Eigh,
    /// Scaled singular vectors, the most robust method.
    Svd,
}

/// Draws normal vectors with a mean and a covariance (`jax.random.multivariate_normal`):
/// `[shape.., n]` for means `[.., n]` and covariances `[.., n, n]`, whose batch axes broadcast to
/// `shape`.
///
/// ```no_run
/// use ramie_core::{Array, DType, random};
/// use random::CovarianceRoot::Cholesky;
/// let (mean, covariance) = (Array::from([1.0f32, 2.0]), Array::from([[2.0f32, 1.0], [1.0, 2.0]]));
/// let x = random::multivariate_normal(&random::key(0), &mean, &covariance, &[9], DType::F32, Cholesky);
/// assert_eq!(x.shape(), [9, 2]);
/// ```
///
/// # Panics
/// Panics if `key` is an array of keys, if the shapes do not fit, or if `dtype` is neither `f32`
/// nor `f64`.
#[track_caller]
pub fn multivariate_normal(
    key: &Key,
    mean: &Array,
    covariance: &Array,
    shape: &[usize],
    dtype: DType,
    root: CovarianceRoot,
) -> Array {
    expect_float("multivariate_normal", dtype);
    let n = mean.shape().last().copied();
    let fits = matches!((n, covariance.shape()), (Some(n), [.., r, c]) if *r == n && *c == n);
    assert!(
        fits,
        "multivariate_normal: mean {} and covariance {} do not fit\n  help: pass covariances \
         [.., n, n] for a mean [.., n]",
        mean.aval(),
        covariance.aval()
    );
    let n = n.expect("the mean has an axis");
    let own = [
        &mean.shape()[..mean.ndim() - 1],
        &covariance.shape()[..covariance.ndim() - 2],
    ];
    assert!(
        broadcast_shapes(&[own[0], own[1], shape]).as_deref() == Some(shape),
        "multivariate_normal: mean {} and covariance {} do not broadcast to the shape {shape:?} \
         of the draw\n  help: their batch axes must agree with the last axes of the shape, or be \
         1",
        mean.aval(),
        covariance.aval()
    );
    let (mean, covariance) = (
        real_parameter("multivariate_normal", mean, dtype),
        real_parameter("multivariate_normal", covariance, dtype),
    );
    let fixed = (shape, dtype, root);
    draw(
        "multivariate_normal",
        key,
        fixed,
        &[&mean, &covariance],
        |key, args| {
            let factor = match root {
                CovarianceRoot::Cholesky => linalg::cholesky(&args[1]),
                CovarianceRoot::Eigh => {
                    let (w, v) = linalg::eigh(&args[1]);
                    v * w.sqrt().expand_dims(&[-2])
                }
                CovarianceRoot::Svd => {
                    let svd = linalg::svd(&args[1]);
                    svd.u * svd.s.sqrt().expand_dims(&[-2])
                }
            };
            let z = normal(key, &[shape, &[n]].concat(), dtype).expand_dims(&[-1]);
            &args[0] + factor.matmul(z).squeeze(&[-1])
        },
    )
}
