//! Arrays, pytrees, jaxprs, tracing, and lowering to StableHLO. Operations are known only by the
//! trait `Primitive`. Uses only `base` and `types`.

pub(crate) mod array;
pub(crate) mod backend;
pub(crate) mod checks;
pub(crate) mod class;
pub(crate) mod disable;
pub(crate) mod jaxpr;
pub(crate) mod lists;
pub mod lost;
pub mod lower;
pub(crate) mod nested;
pub(crate) mod primitive;
pub(crate) mod rules;
pub(crate) mod sharding_rule;
pub(crate) mod specs;
pub(crate) mod state;
pub(crate) mod trace;
pub(crate) mod traced;
pub mod tree;
