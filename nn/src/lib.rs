//! Layers once, held in two ways: as structs with their variables (Flax's NNX),
//! and as pure functions of variables ([`linen`]).
//!
//! Most users take this crate through `ramie`, which re-exports it.
//!
//! # A model that is trained
//! A model is a struct of layers that derives [`Module`], and its computation a
//! method. [`value_and_grad`] differentiates a function of it with respect to its
//! parameters, an [`Optimizer`] updates them, and [`jit`](ramie_core::jit) compiles
//! a step of both, whose state is a struct, too.
//!
//! ```
//! use ramie_core::{Array, DType, jit, random};
//! use ramie_nn::{Dropout, Linear, Module, Optimizer, Rngs, Tree, value_and_grad};
//! use ramie_optim::adam;
//!
//! #[derive(Module)]
//! struct Mlp { hidden: Linear, dropout: Dropout, out: Linear }
//!
//! impl Mlp {
//!     fn new(rngs: &mut Rngs) -> Mlp {
//!         Mlp {
//!             hidden: Linear::new(2, 16, rngs),
//!             dropout: Dropout::new(0.1, rngs),
//!             out: Linear::new(16, 1, rngs),
//!         }
//!     }
//!     // Dropout takes a new key at each call, so that the model changes.
//!     fn forward(&mut self, x: &Array) -> Array {
//!         let x = self.hidden.forward(x).tanh();
//!         self.out.forward(&self.dropout.forward(&x))
//!     }
//! }
//!
//! #[derive(Tree)]
//! struct Trainer { model: Mlp, optimizer: Optimizer }
//!
//! let model = Mlp::new(&mut Rngs::new(0));
//! let mut trainer = Trainer { optimizer: Optimizer::new(&model, adam(1e-2)), model };
//! let step = jit(|t: &mut Trainer, x: Array, y: Array| {
//!     let (loss, grads) = value_and_grad(&mut t.model, |m| (m.forward(&x) - &y).square().mean());
//!     t.optimizer.update(&mut t.model, grads);
//!     loss
//! });
//! let x = random::normal(&random::key(1), &[32, 2], DType::F32);
//! let y = x.sum_axes(&[1]).expand_dims(&[1]);
//! let first = step(&mut trainer, x.clone(), y.clone()).item::<f32>();
//! let last = (0..20).map(|_| step(&mut trainer, x.clone(), y.clone())).last();
//! assert!(last.unwrap().item::<f32>() < first);
//! trainer.model.eval();
//! let predicted = trainer.model.forward(&x);
//! ```
//!
//! # What all layers have in common
//! - `Layer::new(sizes.., rngs)` makes one with the defaults. For all else there
//!   is a configuration: `Linear::features(10).without_bias().build(64, rngs)`.
//!   In the way of Linen the configuration is the module.
//! - Features are the last axis, of images as well; the batch comes first.
//! - `forward` takes an array and returns one. Where a call can be given more,
//!   such as a mask, a key or a mode, there is `forward_with` or
//!   `forward_masked`.
//! - Layers that draw keys or keep statistics have `forward(&mut self, ..)`.
//!   [`Module::train`] and [`Module::eval`] switch them, for the whole model.
//! - Pass the model itself, `&mut model`, to what differentiates or repeats it:
//!   [`value_and_grad`], [`accumulate`] for the parts of a batch, the functions of
//!   [`nnx`] for loops. A copy that draws keys or updates statistics in a traced
//!   function and is then dropped loses them, and is reported on stderr.
//! - `dtype` is what a layer computes in, `param_dtype` what its parameters are
//!   kept in.
//! - Streams of keys come from [`Rngs`]: `params` for first values, `dropout`
//!   for dropout, and `default` for each that is not there.
//! - A call that does not fit panics, at the line of the call, with what it got,
//!   what was expected and what to do.
//!
//! # Where to find what
//! Layers, gradients and the optimizer are here; [`init`] draws first values,
//! [`nnx`] takes models apart, transforms functions of them and shows them;
//! [`linen`] is the other way to hold variables; [`metrics`] and [`training`]
//! (with writers for TensorBoard) are for training loops, and [`models`] are
//! whole models that load published checkpoints.
#![forbid(unsafe_code)]

// Derived code names this crate from outside and from its own modules alike.
#[allow(unused_extern_crates)]
extern crate self as ramie_nn;

mod accumulate;
pub mod init;
mod layers;
pub mod linen;
mod metadata;
pub mod metrics;
pub mod models;
mod module;
mod names;
pub mod nnx;
mod optimizer;
mod quantity;
mod rngs;
mod sharding;
pub mod training;
mod value_and_grad;
mod variable;
mod vars;

pub use accumulate::{accumulate, accumulate_wrt};
pub use init::Initializer;
pub use layers::{
    AnyLayer, AttentionDropout, AttentionFn, AttentionInputs, AttentionOptions, ByCall, ByType,
    Forward, IntoLayer, IntoLayers, MultiHeadAttention, MultiHeadAttentionConfig, RotaryEmbedding,
    RotaryScaling, RotaryStyle, Sequential, batch_apply, combine_masks, combine_masks_with,
    dot_product_attention, dot_product_attention_weights, make_attention_mask,
    make_attention_mask_with, make_causal_mask, make_causal_mask_with,
};
pub use layers::{
    BatchNorm, BatchNormConfig, GroupNorm, GroupNormConfig, InstanceNorm, InstanceNormConfig,
    LayerNorm, LayerNormConfig, RMSNorm, RMSNormConfig, SpectralNorm, SpectralNormConfig,
    Statistics, WeightNorm, WeightNormConfig,
};
pub use layers::{
    Bidirectional, BidirectionalConfig, CellFunction, ConvLSTMCell, ConvLSTMCellConfig, GRUCell,
    GRUCellConfig, LSTMCell, LSTMCellConfig, MGUCell, MGUCellConfig, MergeFunction,
    OptimizedLSTMCell, OptimizedLSTMCellConfig, RNN, RNNCell, RNNCellConfig, RNNConfig, RNNInput,
    RNNOptions, SimpleCell, SimpleCellConfig, flip_sequences,
};
pub use layers::{
    Conv, ConvConfig, ConvLocal, ConvLocalConfig, ConvPadding, ConvTranspose, ConvTransposeConfig,
};
pub use layers::{DotGeneralFn, Sizes};
pub use layers::{Dropout, DropoutConfig};
pub use layers::{Einsum, EinsumConfig, Embed, EmbedConfig};
pub use layers::{Linear, LinearConfig};
pub use layers::{LinearGeneral, LinearGeneralConfig};
pub use layers::{Lora, LoraConfig, LoraLinear, LoraLinearConfig, PReLU, PReLUConfig};
pub use metadata::{Metadata, for_each_variable, get_partition_spec, metadata_of};
pub use module::{Deterministic, Module, UseRunningAverage};
pub use optimizer::{ModelAndOptimizer, OptVariable, Optimizer};
#[doc(inline)]
pub use ramie_core::{avg_pool, max_pool, min_pool, pool};
pub use ramie_derive::{Module, Tree};
pub use rngs::{RngKey, RngStream, Rngs};
pub use sharding::{get_named_sharding, logical_to_mesh_sharding, put_sharded, shardings_by_path};
pub use value_and_grad::{grad, value_and_grad, value_and_grad_wrt};
pub use variable::{
    BatchStat, Cache, Intermediate, LoraParam, Param, Perturbation, RngCount, Variable,
    collection_of,
};
pub use vars::Vars;

/// What derived code needs; not part of the interface.
#[doc(hidden)]
pub mod __private {
    pub use crate::variable::is_state;
    pub use ramie_core;
}
