//! Decompositions of general matrices, computed on the host: eigenvalues and eigenvectors, Schur
//! decompositions, square roots, and QR decompositions with column pivoting.
//!
//! ```
//! use ramie_core::{Array, grad, jit};
//! use ramie_linalg::eigvals;
//!
//! // The spectral radius of a matrix, and its derivative.
//! let radius = |a: Array| eigvals(&a).abs().max();
//! let a = Array::from([[0.0f64, 2.0], [0.5, 0.0]]);
//! assert!((jit(radius)(a.clone()).item::<f64>() - 1.0).abs() < 1e-12);
//! let slope = grad(radius)(a);
//! assert!((slope.to_vec::<f64>()[2] - 1.0).abs() < 1e-12);
//! ```
//!
//! JAX calls LAPACK for these functions, which XLA's plugins do not contain. Here the program calls
//! a function of the host ([`pure_callback`](ramie_core::pure_callback)), so they run on CPUs only,
//! inside and outside [`jit`](ramie_core::jit). [`vmap`](ramie_core::vmap) makes one call for the
//! whole batch. The host computes in 64-bit floats, also for `f32` and `c64`.
//!
//! Matrices are the last two axes; the leading axes are batch axes. Operands are `f32`, `f64`, `c64`
//! or `c128`; integers and booleans are converted to floats first. A matrix with elements that are
//! not finite gives NaN. [`ramie_core::linalg`] has the decompositions that need no host.
#![forbid(unsafe_code)]

mod call;
mod eig;
mod host;
mod operand;
mod qr;
mod schur;
mod sqrtm;

pub use eig::{eig, eigvals};
pub use qr::qr_pivoted;
pub use schur::{SchurOutput, hessenberg, rsf2csf, schur, schur_with};
pub use sqrtm::sqrtm;
