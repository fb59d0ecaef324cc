//! Transformations of functions, such as `grad` and `vmap`. Most trace a function and apply a pass
//! to its program. Uses only `prim` and the folders before it.

mod arguments;
pub mod checkify;
mod checkpoint;
mod closure_convert;
mod composite;
mod custom;
mod custom_jvp;
mod custom_vjp;
mod custom_vmap;
mod differentiable;
mod function;
mod grad;
mod hessian;
mod jacobian;
pub(crate) mod map;
pub(crate) mod map_axes;
mod shard_map;
mod smap;
mod stage;
mod tangents;
pub(crate) mod vmap;

pub use arguments::{ByRef, ByValue};
pub use checkpoint::checkpoint as remat;
pub use checkpoint::{
    CheckpointOptions, Residual, checkpoint, checkpoint_with, print_saved_residuals,
    saved_residuals,
};
pub use closure_convert::closure_convert;
pub use composite::{CompositeName, composite};
pub use custom::{Dots, FirstOnly, RuleOptions, SymbolicZeros};
pub use custom_jvp::{custom_jvp, custom_jvp_with};
pub use custom_vjp::{custom_vjp, custom_vjp_with};
pub use custom_vmap::{BatchedResults, Mapped, custom_vmap, sequential_vmap};
pub use function::{
    ArgTuple, Function, FunctionOnce, HasAux, Holomorphic, Objective, Packed, Pure, Stateful,
};
pub use grad::{
    grad, grad_with, jvp, linear_transpose, linearize, value_and_grad, value_and_grad_with, vjp,
    vjp_with,
};
pub use hessian::{hessian, hessian_with, hvp};
pub use jacobian::{Codomain, JacobianOptions, jacfwd, jacfwd_with, jacrev, jacrev_with};
pub use map::{MapOptions, map, map_with};
pub use map_axes::{MapAxes, VmapOptions};
pub use shard_map::{InSpecs, Infer, ShardMapOptions, shard_map, shard_map_with};
pub use smap::smap;
pub use stage::{eval_shape, make_jaxpr};
pub use tangents::Tangents;
pub use vmap::{vmap, vmap_with};

pub(crate) use arguments::{Arguments, for_each_form};
