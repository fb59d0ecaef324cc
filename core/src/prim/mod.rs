//! Primitives: each operation is defined in one block, with its parameters and all its rules.
//!
//! A primitive is a struct whose fields are its parameters, and an implementation of
//! [`Primitive`], whose required methods are its rules. Omitting one is a compile error.

// Uses only `passes` and the folders before it.

pub mod associative_scan;
pub mod call;
mod catalogue;
pub mod collective;
pub mod composite;
pub mod control;
pub mod conv;
pub mod cumulative;
pub mod custom;
pub mod dot;
pub mod elementwise;
pub mod fft;
pub(crate) mod fused;
pub mod index;
pub(crate) mod nested;
pub(crate) mod operands;
pub(crate) mod promotion;
pub mod random;
pub mod reduce;
pub mod remat;
pub mod shape;
pub mod sharding;
pub mod sort;
pub mod window;

pub use crate::program::nested::{Jaxprs, Nested, StatePass};
pub use crate::program::primitive::{
    Avals, DynPrimitive, Effects, Facts, Param, PositionRule, Positions, Primitive,
};
pub(crate) use crate::program::primitive::{batched, infer, one};
pub use crate::program::rules::{
    BatchAxis, Batched, Differentiation, NestedDifferentiation, Operand, Tangents, move_batch_axis,
    sum_to_shape,
};
pub(crate) use crate::program::rules::{example, in_front};
pub use catalogue::{CatalogueEntry, catalogue};
