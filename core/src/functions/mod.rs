//! Functions over primitives, as in NumPy, and the families of primitives that are written in them.

pub mod fft;
pub mod image;
pub(crate) mod implicit;
pub mod linalg;
pub(crate) mod ops;
pub mod random;
pub mod stats;
pub(crate) mod train_steps;
