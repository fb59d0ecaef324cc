//! Linear algebra: `jax.numpy.linalg`, `jax.lax.linalg` and `jax.scipy.linalg`.
//!
//! Matrices are the last two axes; the leading axes are batch axes. Decompositions support `f32`,
//! `f64`, `c64` and `c128`; integers and booleans are converted to floats first.
//!
//! ```
//! use ramie::{Array, linalg};
//! let a = Array::from([[4.0f32, 2.0], [2.0, 3.0]]);
//! let l = linalg::cholesky(&a);
//! assert_eq!(l.to_vec::<f32>()[..3], [2.0, 0.0, 1.0]);
//! ```
//!
//! With the feature `eigen`, `eig`, `eigvals`, `schur`, `rsf2csf`, `hessenberg`, `sqrtm` and
//! `qr_pivoted` decompose general matrices. The host computes them, so they run on CPUs only.

#[doc(inline)]
pub use ramie_core::linalg::*;
#[cfg(feature = "eigen")]
#[doc(inline)]
pub use ramie_linalg::*;
