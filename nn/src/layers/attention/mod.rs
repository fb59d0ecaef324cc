//! Attention layers and functions.

mod cache;
mod dot_product;
mod function;
mod inputs;
mod linen;
mod mask;
mod multi_head;
mod projection;
mod qk_norm;
mod rotary;

pub use dot_product::{
    AttentionDropout, AttentionOptions, dot_product_attention, dot_product_attention_weights,
};
pub use function::AttentionFn;
pub use inputs::AttentionInputs;
pub use linen::{MultiHeadDotProductAttention, SelfAttention};
pub use mask::{
    combine_masks, combine_masks_with, make_attention_mask, make_attention_mask_with,
    make_causal_mask, make_causal_mask_with,
};
pub use multi_head::{MultiHeadAttention, MultiHeadAttentionConfig};
pub use qk_norm::{HeadNorm, QkNorm};
pub use rotary::{RotaryEmbedding, RotaryScaling, RotaryStyle};
