//! Lifted transformations: transformations of modules together with their variables.

mod axes;
mod control;
mod custom_vjp;
mod derivatives;
mod jit;
mod map_variables;
mod method;
mod pack;
mod remat;
mod scan;
mod vmap;

pub use axes::{Axes, VariableAxis};
pub use control::{While, cond, switch, while_loop};
pub use custom_vjp::custom_vjp;
pub use derivatives::{Pullback, grad, jvp, value_and_grad, vjp};
pub use jit::{FoldRngs, Jit, fold_rngs, jit};
pub use map_variables::{MapVariables, add_metadata_axis, map_variables};
pub use method::{Method, method};
pub use remat::{Remat, RematScan, remat, remat_scan};
pub use scan::{Scan, scan};
pub use vmap::{Vmap, vmap};
