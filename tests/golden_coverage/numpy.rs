//! Functions of `jax.numpy`, `jax.nn` and `jax.scipy` that lack a shape.

use super::Exemption;

/// Where JAX has no such call.
pub const EXEMPTIONS: &[Exemption] = &[];
