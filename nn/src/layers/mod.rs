//! Layers: the mathematics once, for structs that hold their variables and for
//! Linen's scopes.

mod dropout;
pub(crate) mod hyperparameters;
mod linear;
pub(crate) mod mode;
mod norm;
pub(crate) mod promote;

pub use dropout::{Dropout, DropoutConfig};
pub use linear::{Linear, LinearConfig};
pub use norm::{
    BatchNorm, BatchNormConfig, GroupNorm, GroupNormConfig, InstanceNorm, InstanceNormConfig,
    LayerNorm, LayerNormConfig, RMSNorm, RMSNormConfig, Statistics,
};
