//! A CPU backend in Rust: compiles StableHLO programs and runs them, without a plugin.
//!
//! Each module uses only those above it in this list:
//!
//! | module | contents |
//! |---|---|
//! | [`error`] | the errors of damaged programs |
//! | [`types`] | element types, shapes and types of tensors |
//! | [`text`] | the syntax tree of a module and its parser |

#![deny(unsafe_code)]

pub mod error;
pub mod text;
pub mod types;

pub use error::{Error, Result};
pub use types::{Dims, ElementType, TensorType};
