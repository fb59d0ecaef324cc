//! Neural-network layers for Ramie in two styles: as structs that own their variables (Flax
//! NNX), and as pure functions of variables (Flax Linen, in [`linen`]).
//!
//! Most users depend on the crate `ramie`, which re-exports this one.
//!
//! # Training a model
//! A model is a struct of layers that derives [`Module`], with a method for its forward
//! computation. [`value_and_grad`] differentiates a function of the model with respect to its
//! parameters, and an [`Optimizer`] updates them. [`jit`](ramie_core::jit) compiles both into
//! one step, whose state is another struct.
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
//!     // Dropout takes a new key at each call, so `forward` needs `&mut self`.
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
//! let y = x.sum_over(1).expand_dims(&[1]);
//! let first = step(&mut trainer, x.clone(), y.clone()).item::<f32>();
//! let last = (0..20).map(|_| step(&mut trainer, x.clone(), y.clone())).last();
//! assert!(last.unwrap().item::<f32>() < first);
//! trainer.model.eval();
//! let predicted = trainer.model.forward(&x);
//! ```
//!
//! # Conventions of all layers
//! - `Layer::new(sizes.., rngs)` creates a layer with default options. For other options, use
//!   its configuration: `Linear::features(10).without_bias().build(64, rngs)`. In Linen style
//!   the configuration is the module.
//! - The features are the last axis, also for images; batch axes come first.
//! - `forward` takes an array and returns one. Calls with more arguments, such as a mask, a key
//!   or a mode, use `forward_with` or `forward_masked`.
//! - Layers that draw keys or update statistics have `forward(&mut self, ..)`.
//!   [`Module::train`] and [`Module::eval`] switch the mode of a whole model.
//! - Pass the model itself, `&mut model`, to functions that differentiate or repeat it:
//!   [`value_and_grad`], [`accumulate`] for microbatches, and the functions of [`nnx`] for
//!   loops. If a traced function clones the model and drops the clone, the keys and statistics
//!   that the clone updated are lost; a warning on stderr reports this.
//! - `dtype` is the dtype of a layer's computation, `param_dtype` that of its parameters.
//! - [`Rngs`] contains the RNG streams: `params` for initial values, `dropout` for dropout, and
//!   `default` for all missing names.
//! - An invalid call panics at the caller's line. The message shows the actual and the expected
//!   arguments and how to fix the call.
//!
//! # Modules of this crate
//! The crate root has layers, gradients and the optimizer. [`init`] draws initial values of
//! parameters. [`nnx`] splits, transforms and displays models. [`linen`] is the functional
//! style. [`metrics`] and [`training`] support training loops.
//! The crate `ramie-models` contains complete models that load published checkpoints.
#![forbid(unsafe_code)]

// The derive macros expand to paths that start with `ramie_nn`, in other crates and in this
// one.
#[allow(unused_extern_crates)]
extern crate self as ramie_nn;

#[doc(hidden)]
pub mod __private;
mod accumulate;
pub mod init;
mod layers;
pub mod linen;
mod metadata;
pub mod metrics;
mod model;
mod module;
pub mod nnx;
mod optimizer;
mod quantity;
mod rngs;
mod setters;
mod sharding;
mod shared_fn;
mod table;
pub mod training;
mod value_and_grad;
mod variable;
mod variable_operators;
mod vars;
mod wide;

pub use accumulate::{accumulate, accumulate_wrt};
pub use init::Initializer;
pub use layers::{
    AnyLayer, AttentionDropout, AttentionFn, AttentionInputs, AttentionOptions, ByCall, ByType,
    Forward, HeadNorm, IntoLayer, IntoLayers, MultiHeadAttention, MultiHeadAttentionConfig, QkNorm,
    RotaryEmbedding, RotaryScaling, RotaryStyle, Sequential, batch_apply, combine_masks,
    combine_masks_with, dot_product_attention, dot_product_attention_weights, known_range,
    make_attention_mask, make_attention_mask_with, make_causal_mask, make_causal_mask_with,
};
pub use layers::{
    BatchNorm, BatchNormConfig, GroupNorm, GroupNormConfig, InstanceNorm, InstanceNormConfig,
    LayerNorm, LayerNormConfig, RMSNorm, RMSNormConfig, SpectralNorm, SpectralNormConfig,
    WeightNorm, WeightNormConfig,
};
pub use layers::{
    Bidirectional, BidirectionalConfig, CellFunction, ConvLSTMCell, ConvLSTMCellConfig, GRUCell,
    GRUCellConfig, LSTMCell, LSTMCellConfig, MGUCell, MGUCellConfig, MergeFunction,
    OptimizedLSTMCell, OptimizedLSTMCellConfig, RNN, RNNCell, RNNCellConfig, RNNConfig, RNNInput,
    RNNOptions, ReturnCarry, SimpleCell, SimpleCellConfig, flip_sequences,
};
pub use layers::{
    Conv, ConvConfig, ConvLocal, ConvLocalConfig, ConvPadding, ConvTranspose, ConvTransposeConfig,
};
pub use layers::{ConvGeneralDilatedFn, DotGeneralFn, EinsumFn, PromoteDtypeFn, Sizes};
pub use layers::{Dropout, DropoutConfig};
pub use layers::{Einsum, EinsumConfig, Embed, EmbedConfig};
pub use layers::{Linear, LinearConfig};
pub use layers::{LinearGeneral, LinearGeneralConfig};
pub use layers::{
    Lora, LoraAdapter, LoraConfig, LoraLinear, LoraLinearConfig, LoraOptions, PReLU, PReLUConfig,
    apply_lora, apply_lora_with, merge_lora,
};
pub use layers::{SwiGLU, SwiGLUConfig};
pub use metadata::{Metadata, for_each_variable, get_partition_spec, metadata_of};
pub use module::{Deterministic, Module, UseRunningAverage};
pub use optimizer::{ModelAndOptimizer, Optimizer};
#[doc(inline)]
pub use ramie_core::lax::{avg_pool, avg_pool_with, max_pool, min_pool, pool};
pub use ramie_derive::Module;
/// ```
/// use ramie_core::{Array, DType, tree};
/// use ramie_nn::Tree;
///
/// #[derive(Clone, Debug, Hash)]
/// enum Padding { Same, Valid }
///
/// #[derive(Tree)]
/// struct Conv {
///     kernel: Array,
///     features: usize,
///     #[tree(fixed)]
///     padding: Padding,
/// }
///
/// let kernel = Array::scalar(1.0, DType::F32);
/// let conv = Conv { kernel, features: 1, padding: Padding::Same };
/// assert_eq!(tree::paths(&conv), ["kernel"]);
/// ```
///
/// A field that is neither a tree nor marked as fixed does not compile:
/// ```compile_fail,E0277
/// # use ramie_nn::Tree;
/// enum Padding { Same, Valid }
/// #[derive(Tree)]
/// struct Conv { padding: Padding }
/// ```
pub use ramie_derive::Tree;
pub use rngs::{RngKey, RngStream, Rngs};
pub use sharding::{get_named_sharding, logical_to_mesh_sharding, put_sharded, shardings_by_path};
pub use value_and_grad::{grad, value_and_grad, value_and_grad_wrt};
pub use variable::{
    BatchStat, Cache, Intermediate, LoraParam, OptVariable, Param, Perturbation, RngCount,
    Variable, collection_of,
};
pub use vars::{VarSource, Vars};
