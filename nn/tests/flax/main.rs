//! Layers, modules and training runs against Flax.

#[path = "../common/mod.rs"]
mod common;

mod flax_attention;
mod flax_conv;
mod flax_dense;
mod flax_lift;
mod flax_linear;
mod flax_linen;
mod flax_nnx;
mod flax_norm;
mod flax_promote;
mod flax_recurrent;
mod flax_runs;
mod flax_sequential;
mod flax_training;
mod flax_transformer;
mod flax_weight_norm;
mod init;
