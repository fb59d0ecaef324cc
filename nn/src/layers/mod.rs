//! Layers: the mathematics once, for structs that hold their variables and for
//! Linen's scopes.

pub(crate) mod hyperparameters;
mod linear;
pub(crate) mod promote;

pub use linear::{Linear, LinearConfig};
