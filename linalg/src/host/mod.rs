//! The algorithms, on matrices of 64-bit floats in the memory of the host.
//!
//! They are those of LAPACK without its blocking: reduction to Hessenberg form by reflectors, and
//! QR iteration with implicit shifts.

pub(crate) mod balance;
pub(crate) mod complex_schur;
pub(crate) mod eigen;
pub(crate) mod hessenberg;
mod iteration;
pub(crate) mod matrix;
pub(crate) mod pivots;
pub(crate) mod real_schur;
pub(crate) mod reflector;
pub(crate) mod scalar;
pub(crate) mod square_root;
pub(crate) mod standard;
pub(crate) mod triangular;
