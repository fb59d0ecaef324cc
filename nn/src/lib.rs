//! Layers, held as structs in the way of Flax's NNX.
//!
//! Most users take this crate through `ramie`, which re-exports it.
#![forbid(unsafe_code)]

// Derived code names this crate from outside and from its own modules alike.
#[allow(unused_extern_crates)]
extern crate self as ramie_nn;

pub mod init;
mod layers;
mod module;
mod optimizer;
mod rngs;
mod value_and_grad;
mod variable;

pub use init::Initializer;
pub use layers::{Linear, LinearConfig};
pub use module::Module;
pub use optimizer::{OptVariable, Optimizer};
pub use ramie_derive::{Module, Tree};
pub use rngs::{RngKey, RngStream, Rngs};
pub use value_and_grad::{grad, value_and_grad, value_and_grad_wrt};
pub use variable::{BatchStat, Cache, Intermediate, Param, RngCount};

/// What derived code needs; not part of the interface.
#[doc(hidden)]
pub mod __private {
    pub use ramie_core;
}
