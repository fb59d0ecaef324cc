//! Layers.

mod linear;

pub use linear::{Linear, LinearConfig};
