//! Ramie: train neural networks in Rust, compiled by XLA.
#![forbid(unsafe_code)]

#[cfg(feature = "logging")]
mod logging;
#[cfg(feature = "logging")]
pub use logging::init_logging;
