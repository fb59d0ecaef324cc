//! Graphs of typed operations with static shapes, built from the syntax tree.

mod absorb;
mod arrange;
mod build;
mod clusters;
mod constant;
mod devices;
mod free;
mod fuse;
mod node;
mod order;
mod part;
mod peak;
mod recompute;
mod rows;
mod simplify;
mod source;
mod stages;

pub use build::{Entry, Functions};
pub use constant::Constant;
pub use devices::Devices;
pub use node::{Graph, Node, Operands, Operation, Use};
pub use part::Part;
pub use rows::{Results, fresh, lanes, results};
pub use simplify::{KnownOperand, Simpler};
pub use source::{Region, Source};
