//! Data sets and loaders that feed compiled train steps.
//!
//! Part of Ramie; see the `ramie` crate.
#![forbid(unsafe_code)]

pub mod digits;
mod error;

pub use digits::{Digits, Split};
pub use error::{Error, Result};
