//! Primitives that rearrange elements without changing them.

mod bits;
mod broadcast;
mod concatenate;
pub(crate) mod into_shape;
mod iota;
mod pad;
mod reshape;
mod reshape_sharding;
mod rev;
mod slice;
mod split;
mod transpose;

pub use bits::*;
pub use broadcast::*;
pub use concatenate::*;
pub use iota::*;
pub use pad::*;
pub use reshape::*;
pub use rev::*;
pub use slice::*;
pub use split::*;
pub use transpose::*;
