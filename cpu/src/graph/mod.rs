//! Graphs of typed operations with static shapes, built from the syntax tree.

mod absorb;
mod build;
mod constant;
mod devices;
mod free;
mod fuse;
mod node;
mod order;
mod peak;
mod source;

pub use build::{Entry, Functions};
pub use constant::Constant;
pub use devices::Devices;
pub use node::{Graph, Node, Operands, Operation, Use};
pub use source::{Region, Source};
