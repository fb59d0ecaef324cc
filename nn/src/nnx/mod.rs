//! Models in the style of Flax's NNX: structs that own their variables.
//!
//! A model is a value: a struct that derives [`Module`](crate::Module), with variables, layers
//! and hyperparameters as fields. [`split`] divides it into its structure and its arrays, by
//! [`Filter`]; [`merge`] combines them again. The functions of this module transform functions
//! of `&mut model`, and write the changes back to the model.
//!
//! ```no_run
//! use ramie_core::{Array, DType};
//! use ramie_nn::nnx::{self, Carry, Everything, RngState, StateAxes, of_type};
//! use ramie_nn::{Linear, Module, Param, Rngs};
//!
//! // Stack five layers, each with its own parameters.
//! let mut rngs = Rngs::new(0).split(5);
//! let mut layers = nnx::vmap(&mut rngs, (), 0, |rngs, ()| Linear::new(4, 4, rngs));
//!
//! // Compute the gradient through all of them.
//! let x = Array::ones(&[2, 4], DType::F32);
//! let grads = nnx::grad(&mut layers, |layers| {
//!     let (y, ()) = nnx::scan(layers, x.clone(), (), 0, |l, x, ()| (l.forward(&x).tanh(), ()));
//!     y.square().mean()
//! });
//! assert_eq!(grads["kernel"].shape(), [5, 4, 4]);
//! ```
//!
//! # Shared variables
//! A struct owns its variables, so two layers cannot contain the same one. Weights are tied
//! where they are used: the output layer of a language model borrows the embedding of the input
//! layer, and the gradient is the sum of both uses.
//!
//! ```no_run
//! use ramie_core::Array;
//! use ramie_nn::{Module, Param};
//! #[derive(Module)]
//! struct Tied { embedding: Param }
//! impl Tied {
//!     fn logits(&self, tokens: &Array) -> Array {
//!         let hidden = self.embedding.take(tokens, 0);
//!         hidden.matmul(&self.embedding.t())
//!     }
//! }
//! ```

mod bridge;
mod display;
mod ema;
mod rng_state;
mod state;
mod tabulate;
mod transforms;

pub use crate::model::*;
pub use crate::optimizer::{ModelAndOptimizer, Optimizer};
pub use bridge::{ToLinen, ToNnx, to_linen, to_nnx};
pub use display::{Summary, display, summary};
pub use ema::{Ema, TrainState};
pub use ramie_core::options::JitOptions;
pub use ramie_core::{jit, jit_with, make_jaxpr};
pub use rng_state::{ReseedPolicy, RngBackups, fork_rngs, reseed, restore_rngs, split_rngs};
pub use state::{
    FlatState, filter_state, from_flat_state, map_state, merge_state, replace_by_pure_dict,
    split_state, to_flat_state, to_pure_dict,
};
pub use tabulate::{Row, TabulateOptions, tabulate};
pub use transforms::{
    Axis, Carry, DiffState, Models, ScanOptions, StateAxes, VmapOptions, cond, custom_vjp,
    eval_shape, fori_loop, grad, grad_wrt, jvp, remat, remat_with, scan, switch, together,
    value_and_grad, value_and_grad_wrt, vjp, vmap, while_loop,
};
