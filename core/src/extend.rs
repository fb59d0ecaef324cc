//! Programs and primitives, for those who add operations or passes (`jax.extend`).

pub use crate::prim::Primitive;
pub use crate::program::jaxpr::{Atom, ClosedJaxpr, Eqn, Jaxpr, Scope, Var};
pub use crate::program::sharding_rule::{DimensionRule, ShardingRule};
pub use crate::program::trace::{Outputs, bind, bind_arc, bind1};
