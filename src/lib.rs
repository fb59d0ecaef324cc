//! Ramie: train neural networks in Rust, compiled by XLA.
#![forbid(unsafe_code)]

// Derived code names this crate from outside and from its own examples alike.
#[allow(unused_extern_crates)]
extern crate self as ramie;

/// What derived code needs; not part of the interface.
#[doc(hidden)]
pub mod __private {
    pub use {ramie_core, ramie_nn};
}

pub use ramie_core as core;

#[cfg(feature = "logging")]
mod logging;
#[cfg(feature = "logging")]
pub use logging::init_logging;
