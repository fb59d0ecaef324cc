//! Layers. Each is implemented once, for structs that own their variables and for Linen's
//! scopes.

mod attention;
mod batch_apply;
mod conv;
pub(crate) mod dot_general;
mod dropout;
mod einsum;
mod embed;
mod forward;
pub(crate) mod functions;
pub(crate) mod hyperparameters;
mod in_scope;
mod linear;
mod linear_general;
mod lora;
mod lora_adapter;
pub(crate) mod mode;
mod norm;
mod prelu;
pub(crate) mod promote;
mod recurrent;
mod sequential;
mod sizes;
mod swiglu;

pub use attention::{
    AttentionDropout, AttentionFn, AttentionInputs, AttentionOptions, HeadNorm, MultiHeadAttention,
    MultiHeadAttentionConfig, MultiHeadDotProductAttention, QkNorm, RotaryEmbedding, RotaryScaling,
    RotaryStyle, SelfAttention, combine_masks, combine_masks_with, dot_product_attention,
    dot_product_attention_weights, make_attention_mask, make_attention_mask_with, make_causal_mask,
    make_causal_mask_with,
};
pub use batch_apply::batch_apply;
pub use conv::{
    Conv, ConvConfig, ConvLocal, ConvLocalConfig, ConvPadding, ConvTranspose, ConvTransposeConfig,
};
pub use dropout::{Dropout, DropoutConfig};
pub use einsum::{Einsum, EinsumConfig};
pub use embed::{Embed, EmbedConfig, known_range};
pub use forward::Forward;
pub use functions::{ConvGeneralDilatedFn, DotGeneralFn, EinsumFn, PromoteDtypeFn};
pub(crate) use in_scope::in_scope;
pub use linear::{Linear, LinearConfig};
pub use linear_general::{LinearGeneral, LinearGeneralConfig};
pub use lora::{Lora, LoraConfig, LoraLinear, LoraLinearConfig};
pub use lora_adapter::{LoraAdapter, LoraOptions, apply_lora, apply_lora_with, merge_lora};
pub use norm::{
    BatchNorm, BatchNormConfig, GroupNorm, GroupNormConfig, InstanceNorm, InstanceNormConfig,
    LayerNorm, LayerNormConfig, RMSNorm, RMSNormConfig, SpectralNorm, SpectralNormConfig,
    WeightNorm, WeightNormConfig,
};
pub use prelu::{PReLU, PReLUConfig};
pub use recurrent::{
    Bidirectional, BidirectionalConfig, CellFunction, ConvLSTMCell, ConvLSTMCellConfig, GRUCell,
    GRUCellConfig, LSTMCell, LSTMCellConfig, MGUCell, MGUCellConfig, MergeFunction,
    OptimizedLSTMCell, OptimizedLSTMCellConfig, RNN, RNNCell, RNNCellConfig, RNNConfig, RNNInput,
    RNNOptions, ReturnCarry, SimpleCell, SimpleCellConfig, flip_sequences,
};
pub use sequential::{AnyLayer, ByCall, ByType, IntoLayer, IntoLayers, Sequential};
pub use sequential::{IntoStep, IntoSteps, LinenSequential};
pub use sizes::Sizes;
pub use swiglu::{SwiGLU, SwiGLUConfig};
