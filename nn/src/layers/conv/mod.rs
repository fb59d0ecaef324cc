//! Convolution layers.

#[allow(clippy::module_inception)]
mod conv;
mod local;
mod padding;
mod transpose;
mod window;

pub use conv::{Conv, ConvConfig};
pub use local::{ConvLocal, ConvLocalConfig};
pub use padding::ConvPadding;
pub use transpose::{ConvTranspose, ConvTransposeConfig};
