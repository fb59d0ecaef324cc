//! Options of decompositions and of the functions that use them.

/// The columns of `Q` that [`qr_with`](super::qr_with) computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QrMode {
    /// As many as the smaller dimension of `A`: `Q` is `[.., m, min(m, n)]`, `R` is
    /// `[.., min(m, n), n]`.
    Reduced,
    /// As many as the rows of `A`: `Q` is `[.., m, m]`, `R` is `[.., m, n]`.
    Complete,
}

/// The form of a singular value decomposition, for [`svd_with`](super::svd_with) and
/// [`svdvals_with`](super::svdvals_with).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SvdMode {
    /// All singular vectors: `U` is `[.., m, m]`, `Vᴴ` is `[.., n, n]`.
    Full,
    /// The singular vectors that belong to a singular value: `U` is `[.., m, min(m, n)]`, `Vᴴ` is
    /// `[.., min(m, n), n]` (`full_matrices=False` in JAX).
    Reduced,
    /// The decomposition of Hermitian matrices by their eigenvalues (`hermitian=True` in JAX).
    /// Matrices are replaced by the mean of themselves and their conjugate transpose.
    Hermitian,
}

/// Options of [`pinv_with`](super::pinv_with) and [`matrix_rank_with`](super::matrix_rank_with):
/// which singular values count as zero, and how they are computed. A number, the threshold,
/// converts into it.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_core::linalg::{Cutoff, pinv_with};
/// let a = Array::from([[2.0f32, 0.0], [0.0, 0.001]]);
/// assert_eq!(pinv_with(&a, 0.01).to_vec::<f32>(), [0.5, 0.0, 0.0, 0.0]);
/// let inverse = pinv_with(&a, Cutoff::from(0.01).hermitian());
/// assert_eq!(inverse.to_vec::<f32>(), [0.5, 0.0, 0.0, 0.0]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Cutoff {
    pub(super) threshold: Option<f64>,
    pub(super) hermitian: bool,
}

impl Cutoff {
    /// Creates options with the default threshold of each function.
    pub fn new() -> Cutoff {
        Cutoff::default()
    }

    /// Computes the singular values of Hermitian matrices from their eigenvalues. Matrices are
    /// replaced by the mean of themselves and their conjugate transpose.
    #[must_use]
    pub fn hermitian(self) -> Cutoff {
        Cutoff {
            hermitian: true,
            ..self
        }
    }
}

impl From<f64> for Cutoff {
    fn from(threshold: f64) -> Cutoff {
        Cutoff {
            threshold: Some(threshold),
            hermitian: false,
        }
    }
}

/// The triangle that contains the elements of a Hermitian or triangular matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Triangle {
    /// The diagonal and the elements below it.
    Lower,
    /// The diagonal and the elements above it.
    Upper,
}

/// Options of [`cholesky_with`](super::cholesky_with).
#[derive(Clone, Copy, Debug, Default)]
pub struct CholeskyFactor {
    pub(super) upper: bool,
    pub(super) unsymmetrized: bool,
}

impl CholeskyFactor {
    /// Creates the options of [`cholesky`](super::cholesky): a lower triangular factor of the
    /// symmetrized matrices.
    pub fn new() -> CholeskyFactor {
        CholeskyFactor::default()
    }

    /// Returns `U` with `A = Uᴴ U` instead of `L` (`upper=True` in JAX).
    #[must_use]
    pub fn upper(self) -> CholeskyFactor {
        CholeskyFactor {
            upper: true,
            ..self
        }
    }

    /// Reads only the lower triangle of the matrices (`symmetrize_input=False` in JAX).
    #[must_use]
    pub fn unsymmetrized(self) -> CholeskyFactor {
        CholeskyFactor {
            unsymmetrized: true,
            ..self
        }
    }
}

/// Solves the system of the transposed matrix, without conjugation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transposed;
