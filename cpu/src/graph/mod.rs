//! Graphs of typed operations with static shapes, built from the syntax tree.

mod absorb;
mod build;
mod free;
mod node;
mod source;

pub use build::{Entry, Functions};
pub use node::{Graph, Node, Operands, Operation, Use};
pub use source::{Region, Source};
