//! Normal distributions of vectors.

use crate::Distribution;
use crate::location_scale::half_log_2pi;
use crate::parameters::{Values, batched, check_value, full};
use ramie_core::linalg::{TriangularSolve, diagonal, solve_triangular_with};
use ramie_core::random::{self, Key};
use ramie_core::{Array, DType, IntoArray};
use ramie_derive::Tree;

/// The linear function of a multivariate normal distribution.
pub(crate) trait Scale: Distribution {
    /// Multiplies vectors by the scale.
    fn times(&self, x: &Array) -> Array;
    /// Divides the columns of matrices by the scale.
    fn solve_matrix(&self, y: &Array) -> Array;
    /// Divides vectors by the scale.
    fn solve(&self, y: &Array) -> Array {
        self.solve_matrix(&y.expand_dims(&[-1])).squeeze(&[-1])
    }
    /// Returns the logarithm of the absolute determinant.
    fn log_det(&self) -> Array;
    /// Returns the scale as matrices.
    fn matrix(&self) -> Array;
}

/// Defines the methods that all scales share.
macro_rules! multivariate_normal {
    ($name:ident) => {
        impl $name {
            /// Draws standard normal vectors.
            #[track_caller]
            fn standard(&self, key: &Key, shape: &[usize]) -> Array {
                let shape = [full(shape, self), self.event_shape()].concat();
                random::normal(key, &shape, self.dtype())
            }
            /// Computes the log density of a value at the standard vectors `z`.
            fn log_density(&self, z: &Array) -> Array {
                (z.square() * -0.5 - half_log_2pi()).sum_over(-1) - self.log_det()
            }
        }

        impl Distribution for $name {
            fn batch_shape(&self) -> Vec<usize> {
                self.loc.shape()[..self.loc.ndim() - 1].to_vec()
            }
            fn event_shape(&self) -> Vec<usize> {
                self.loc.shape()[self.loc.ndim() - 1..].to_vec()
            }
            fn dtype(&self) -> DType {
                self.loc.dtype()
            }
            fn sample(&self, key: &Key, shape: &[usize]) -> Array {
                self.times(&self.standard(key, shape)) + &self.loc
            }
            fn sample_and_log_prob(&self, key: &Key, shape: &[usize]) -> (Array, Array) {
                let z = self.standard(key, shape);
                (self.times(&z) + &self.loc, self.log_density(&z))
            }
            fn log_prob(&self, value: &Array) -> Array {
                check_value(self, value, Values::Floats);
                self.log_density(&self.solve(&(value - &self.loc)))
            }
            fn entropy(&self) -> Array {
                let n = self.event_shape()[0] as f64;
                self.log_det() + n * (0.5 + half_log_2pi())
            }
            fn mean(&self) -> Array {
                self.loc.clone()
            }
            fn mode(&self) -> Array {
                self.loc.clone()
            }
            fn variance(&self) -> Array {
                self.variances()
            }
            fn stddev(&self) -> Array {
                self.deviations()
            }
        }
    };
}

/// The distribution of vectors of independent normal numbers.
///
/// ```
/// use ramie_core::{Array, DType, random};
/// use ramie_distributions::{Distribution, KlDivergence, MultivariateNormalDiag};
/// // A posterior for each of eight images, and the prior.
/// let posterior = MultivariateNormalDiag::new(Array::ones(&[8, 2], DType::F32), 0.1);
/// let prior = MultivariateNormalDiag::new(Array::zeros(&[2], DType::F32), 1.0);
/// assert_eq!(posterior.sample(&random::key(0), &[]).shape(), [8, 2]);
/// assert_eq!(posterior.kl_divergence(&prior).shape(), [8]);
/// ```
#[derive(Clone, Debug, Tree)]
pub struct MultivariateNormalDiag {
    /// The mean, `[.., n]`.
    pub loc: Array,
    /// The scales, `[.., n]`, which must not be zero.
    pub scale_diag: Array,
}

impl MultivariateNormalDiag {
    /// Creates distributions of vectors of size `n` from means and scales that broadcast to
    /// `[.., n]`.
    ///
    /// # Panics
    /// Panics if a parameter is not a float, if the parameters do not broadcast together, or if
    /// both are 0-d.
    #[track_caller]
    pub fn new(loc: impl IntoArray, scale_diag: impl IntoArray) -> MultivariateNormalDiag {
        let name = "MultivariateNormalDiag";
        let parameters = [
            ("loc", loc.into_array(), 0),
            ("scale_diag", scale_diag.into_array(), 0),
        ];
        let [loc, scale_diag] = batched(name, parameters);
        assert!(
            loc.ndim() > 0,
            "{name}: expects vectors, got loc and scale_diag {}\n  help: pass `loc` as an array of at \
             least one axis; for numbers use `Normal`",
            loc.aval()
        );
        MultivariateNormalDiag { loc, scale_diag }
    }

    fn variances(&self) -> Array {
        self.scale_diag.square()
    }

    fn deviations(&self) -> Array {
        self.scale_diag.abs()
    }
}

impl Scale for MultivariateNormalDiag {
    fn times(&self, x: &Array) -> Array {
        &self.scale_diag * x
    }
    fn solve_matrix(&self, y: &Array) -> Array {
        y / self.scale_diag.expand_dims(&[-1])
    }
    fn log_det(&self) -> Array {
        self.scale_diag.abs().log().sum_over(-1)
    }
    fn matrix(&self) -> Array {
        let n = self.event_shape()[0];
        self.scale_diag.expand_dims(&[-1]) * Array::eye(n, self.dtype())
    }
}
multivariate_normal!(MultivariateNormalDiag);

/// The distribution of normal vectors `scale_tri z + loc`, where `z` is a standard normal vector. The
/// covariance matrix is the product of `scale_tri` and its transpose.
///
/// ```
/// use ramie_core::Array;
/// use ramie_core::linalg::cholesky;
/// use ramie_distributions::{Distribution, MultivariateNormalTri};
/// let covariance = Array::from([[4.0f32, 2.0], [2.0, 2.0]]);
/// let normal = MultivariateNormalTri::new(0.0, cholesky(&covariance));
/// assert_eq!(normal.variance().to_vec::<f32>(), [4.0, 2.0]);
/// ```
#[derive(Clone, Debug, Tree)]
pub struct MultivariateNormalTri {
    /// The mean, `[.., n]`.
    pub loc: Array,
    /// The lower triangular scale, `[.., n, n]`. Its diagonal must not have zeros.
    pub scale_tri: Array,
}

impl MultivariateNormalTri {
    /// Creates distributions of vectors of size `n` from means, which broadcast to `[.., n]`, and
    /// matrices `[.., n, n]`, of which the lower triangle is used.
    ///
    /// # Panics
    /// Panics if a parameter is not a float, if the matrices are not square, or if the parameters
    /// do not broadcast together.
    #[track_caller]
    pub fn new(loc: impl IntoArray, scale_tri: impl IntoArray) -> MultivariateNormalTri {
        let name = "MultivariateNormalTri";
        let (loc, scale_tri) = (loc.into_array().at_least_1d(), scale_tri.into_array());
        let (means, n) = (loc.shape(), scale_tri.shape().last().copied().unwrap_or(0));
        let last = means[means.len() - 1];
        assert!(
            scale_tri.shape().ends_with(&[n, n]) && (last == n || last == 1),
            "{name}: expects square matrices and means of as many elements, got scale_tri {} and loc \
             {}\n  help: pass `scale_tri` as [.., n, n], such as `linalg::cholesky(&covariance)`, and \
             `loc` as [.., n]",
            scale_tri.aval(),
            loc.aval()
        );
        let loc = loc.broadcast_to(&[&means[..means.len() - 1], &[n]].concat());
        let [loc, scale_tri] = batched(name, [("loc", loc, 1), ("scale_tri", scale_tri, 2)]);
        let scale_tri = scale_tri.tril(0);
        MultivariateNormalTri { loc, scale_tri }
    }

    fn variances(&self) -> Array {
        self.scale_tri.square().sum_over(-1)
    }

    fn deviations(&self) -> Array {
        self.variances().sqrt()
    }
}

impl Scale for MultivariateNormalTri {
    fn times(&self, x: &Array) -> Array {
        self.scale_tri.matvec(x)
    }
    fn solve_matrix(&self, y: &Array) -> Array {
        solve_triangular_with(&self.scale_tri, y, TriangularSolve::new().lower())
    }
    fn log_det(&self) -> Array {
        diagonal(&self.scale_tri, 0).abs().log().sum_over(-1)
    }
    fn matrix(&self) -> Array {
        self.scale_tri.clone()
    }
}
multivariate_normal!(MultivariateNormalTri);
