//! Models in the style of Flax's Linen: a module contains only hyperparameters, and its
//! variables are a value that pure functions take and return.
//!
//! A module requests its parameters from a [`Scope`], or calls other modules in it.
//! [`init`](Module::init) creates the [`Variables`], and [`apply`](Module::apply) computes with
//! them. Names and shapes are those of Flax, and so are initial values for the same key.
//! Parameter files of Flax therefore load unchanged.
//!
//! ```no_run
//! use ramie_core::{Array, DType, random};
//! use ramie_nn::linen::{Dense, Module, Scope};
//!
//! #[derive(Clone)]
//! struct Classifier { hidden: usize, classes: usize }
//!
//! impl Module for Classifier {
//!     fn call(&self, scope: &mut Scope, x: Array) -> Array {
//!         let x = scope.child(&Dense::new(self.hidden), x).tanh();
//!         scope.child(&Dense::new(self.classes), x)
//!     }
//! }
//!
//! let model = Classifier { hidden: 8, classes: 1 };
//! let x = Array::zeros(&[8, 2], DType::F32);
//! let variables = model.init(random::key(0), x.clone());
//! assert_eq!(variables["params"]["Dense_0.kernel"].shape(), [2, 8]);
//! assert_eq!(model.apply(&variables, x).shape(), [8, 1]);
//! ```
//!
//! The following functions transform modules together with their variables: [`vmap`], [`scan`],
//! [`remat`], [`remat_scan`], [`jit`], [`map_variables`], [`cond`], [`switch`], [`while_loop`],
//! [`vjp`], [`jvp`], [`value_and_grad`] and [`custom_vjp`]:
//!
//! ```no_run
//! # use ramie_core::{Array, DType, random};
//! # use ramie_nn::linen::{self, Dense, Module};
//! // Three layers in parallel, each with its own parameters.
//! let layers = linen::vmap(Dense::new(2)).variable_axes("params", 0).split_rngs("params", true);
//! let variables = layers.init(random::key(0), Array::ones(&[3, 4], DType::F32));
//! assert_eq!(variables["params"]["kernel"].shape(), [3, 4, 2]);
//! ```
//!
//! A module that calls another one as `other.call(scope, x)`, in its own scope instead of a
//! child scope, shares its names with that module (`share_scope` of Flax).
//!
//! Both styles configure layers with the same structs: [`Dense`] contains the options of
//! [`Linear`](crate::Linear).

mod adopt;
mod apply;
mod bind;
mod constrain;
mod filter;
mod intercept;
mod lazy;
mod lift;
mod module;
mod root;
mod scope;
mod streams;
mod submodules;
mod tabulate;
mod variables;
mod within;

pub use crate::layers::ConvConfig as Conv;
pub use crate::layers::ConvLocalConfig as ConvLocal;
pub use crate::layers::ConvTransposeConfig as ConvTranspose;
pub use crate::layers::DropoutConfig as Dropout;
pub use crate::layers::EinsumConfig as Einsum;
pub use crate::layers::EmbedConfig as Embed;
pub use crate::layers::LinearConfig as Dense;
pub use crate::layers::LinearGeneralConfig as DenseGeneral;
pub use crate::layers::LoraConfig as Lora;
pub use crate::layers::LoraLinearConfig as LoraLinear;
pub use crate::layers::MultiHeadAttentionConfig as MultiHeadAttention;
pub use crate::layers::PReLUConfig as PReLU;
pub use crate::layers::SwiGLUConfig as SwiGLU;
pub use crate::layers::{
    BatchNormConfig as BatchNorm, GroupNormConfig as GroupNorm, InstanceNormConfig as InstanceNorm,
    LayerNormConfig as LayerNorm, RMSNormConfig as RMSNorm, SpectralNormConfig as SpectralNorm,
    WeightNormConfig as WeightNorm,
};
pub use crate::layers::{
    BidirectionalConfig as Bidirectional, ConvLSTMCellConfig as ConvLSTMCell,
    GRUCellConfig as GRUCell, LSTMCellConfig as LSTMCell, MGUCellConfig as MGUCell,
    OptimizedLSTMCellConfig as OptimizedLSTMCell, RNNConfig as RNN, SimpleCellConfig as SimpleCell,
};
pub use crate::layers::{IntoStep, IntoSteps, LinenSequential as Sequential};
pub use crate::layers::{MultiHeadDotProductAttention, SelfAttention};
pub use crate::quantity::Quantity;
pub use adopt::Adopted;
pub use apply::{Apply, apply, init, init_with_output};
pub use bind::Bound;
pub use filter::CollectionFilter;
pub use intercept::{MethodContext, NextCall, intercept_methods};
pub use lift::{
    Axes, FoldRngs, Jit, MapVariables, Method, Pullback, Remat, RematScan, Scan, VariableAxis,
    Vmap, While, add_metadata_axis, cond, custom_vjp, fold_rngs, grad, jit, jvp, map_variables,
    method, remat, remat_scan, scan, switch, value_and_grad, vjp, vmap, while_loop,
};
pub use module::{Child, Module, merge_param};
pub use scope::Scope;
pub use streams::Streams;
pub use tabulate::{Summary, SummaryRow, Tabulate};
pub use variables::Variables;
