//! Layers, held as structs in the way of Flax's NNX.
//!
//! Most users take this crate through `ramie`, which re-exports it.
#![forbid(unsafe_code)]

// Derived code names this crate from outside and from its own modules alike.
extern crate self as ramie_nn;

mod module;

pub use module::Module;
pub use ramie_derive::{Module, Tree};

/// What derived code needs; not part of the interface.
#[doc(hidden)]
pub mod __private {
    pub use ramie_core;
}
