//! Functions over primitives, as in NumPy, and the families of primitives that are written in them.

pub(crate) mod control;
pub mod fft;
pub mod image;
pub mod linalg;
pub(crate) mod ops;
pub mod random;
pub mod stats;
