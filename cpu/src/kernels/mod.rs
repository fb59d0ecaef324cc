//! Kernels: computations on slices and tiles of known types.
#![allow(
    clippy::unnecessary_cast,
    reason = "macros repeat casts for all element types"
)]

pub mod convert;
pub mod fold;
pub mod formats;
pub mod fused;
mod group;
mod kernel;
pub mod math;
pub mod pick;
pub mod product;
pub mod random;
pub mod rows;
mod team;

pub use group::{Bytes, Group, Lanes, Step, TILE, fill};
pub use kernel::{Kernel, binary, binary_wide, ternary, ternary_wide, unary, unary_wide};
pub use team::{share, try_share};
