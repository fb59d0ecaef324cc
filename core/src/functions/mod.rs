//! Functions composed of primitives and transformations. Uses only `transform` and the folders
//! before it.
//!
//! `ops` contains the functions and methods of `jax.numpy`, `jax.lax` and `jax.nn`, such as `einsum`
//! and `matmul`; `linalg` contains `jax.numpy.linalg` and its primitives, `random` samplers.

pub(crate) mod check_grads;
pub mod fft;
pub mod image;
pub(crate) mod implicit;
pub mod linalg;
pub(crate) mod ops;
pub(crate) mod pad_shard;
pub mod random;
pub mod stats;
pub(crate) mod train_steps;
