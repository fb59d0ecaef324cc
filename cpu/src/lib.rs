//! A CPU backend in Rust: compiles StableHLO programs and runs them, without a plugin.
//!
//! Each module uses only those above it in this list:
//!
//! | module | contents |
//! |---|---|
//! | [`error`] | the errors of damaged programs |
//! | [`types`] | element types, shapes and types of tensors |
//! | [`text`] | the syntax tree of a module and its parser |
//! | [`memory`] | storage, views and copies of tensors |
//! | [`graph`] | typed operations with static shapes |
//! | [`kernels`] | computations on slices and tiles |
//! | [`ops`] | the table of operations |
//! | [`program`] | compiled programs |

#![deny(unsafe_code)]

pub mod error;
pub mod graph;
pub mod kernels;
pub mod memory;
pub mod ops;
pub mod program;
pub mod text;
pub mod types;

pub use error::{Error, Result};
pub use memory::Buffer;
pub use program::Program;
pub use types::{Dims, ElementType, TensorType};
