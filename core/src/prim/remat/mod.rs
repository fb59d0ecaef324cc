//! Rematerialization: `remat2`, the call of a function whose linearization recomputes values
//! instead of saving them, and related primitives.

mod barrier;
mod call;
mod name;
mod policy;
mod split;

pub use barrier::{OptimizationBarrier, optimization_barrier};
pub use call::Remat;
pub use name::{Name, checkpoint_name};
pub use policy::CheckpointPolicy;
pub(crate) use split::eval_inlined;
