//! Primitives that move elements without changing them.

mod broadcast;
mod iota;
mod reshape;
mod transpose;

pub use broadcast::*;
pub use iota::*;
pub use reshape::*;
pub use transpose::*;
