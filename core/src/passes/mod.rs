//! Passes that differentiate, transpose and batch programs of any primitives, and the primitives
//! that they insert. Uses only `program` and the folders before it.

mod add_any;
mod backward;
mod batch;
mod jvp;
mod reshard;

pub use add_any::AddAny;
pub(crate) use add_any::{add_any, add_tangents};
pub(crate) use backward::{backward, transpose_call, transpose_of};
pub(crate) use batch::batch_eval;
pub(crate) use jvp::{jvp_eval, jvp_of, linearize_eval};
pub use reshard::Reshard;
pub(crate) use reshard::{cast_sharding, resharded};
