//! Layers once, held in two ways: as structs with their variables (Flax's NNX),
//! and as pure functions of variables ([`linen`]).
//!
//! Most users take this crate through `ramie`, which re-exports it.
#![forbid(unsafe_code)]

// Derived code names this crate from outside and from its own modules alike.
#[allow(unused_extern_crates)]
extern crate self as ramie_nn;

pub mod init;
mod layers;
pub mod linen;
mod metadata;
pub mod metrics;
pub mod models;
mod module;
pub mod nnx;
mod optimizer;
mod quantity;
mod rngs;
mod sharding;
pub mod training;
mod value_and_grad;
mod variable;
mod vars;

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
    pub use ramie_core;
}
