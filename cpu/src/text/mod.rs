//! The text of modules: StableHLO, CHLO and functions in MLIR's generic and pretty forms.

mod module;

pub use module::{Attribute, Attributes, Block, Function, Module, Operation, Type, ValueId};
