//! Models as trees of variables: filters, parts, states and recorded calls, for both styles.
//!
//! [`nnx`](crate::nnx) re-exports the public items.

mod filter;
mod graph;
mod observe;
mod parts;
mod sow;

pub use filter::{
    All, Any, Everything, Filter, HasTag, Kind, KindOf, Leaf, Not, Nothing, OfType, PathContains,
    PathContainsPart, PathIn, RngState, WithTag, of_type, predicate,
};
pub use graph::{Filters, GraphDef, States, clone, graphdef, merge, split, state, update};
pub(crate) use graph::{add_writes, copy, divided, replace, writes};
pub(crate) use observe::{Recording, flops, observed, program_costs, start, types};
pub use observe::{observe, observe_mut};
pub use parts::{
    Node, for_each, for_each_mut, iter_children, iter_graph, iter_modules, set_attributes,
};
pub use sow::{Intermediates, Perturb, capture, capture_intermediates, init_perturbations, pop};
