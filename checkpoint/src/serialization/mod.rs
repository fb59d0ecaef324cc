//! Flax's msgpack format: `flax.serialization`.
//!
//! A tree becomes a [`StateDict`], nested dictionaries whose leaves are arrays,
//! and that becomes bytes which Flax reads; the reverse as well. Given the same
//! arrays, the bytes are equal to those that Flax writes.
//!
//! ```
//! use ramie_checkpoint::serialization::{from_bytes, to_bytes};
//! use ramie_core::{Array, State};
//! # fn main() -> Result<(), ramie_checkpoint::Error> {
//! let params = State::from_iter([("Dense_0.bias", Array::from([1.0f32, 2.0]))]);
//! let bytes = to_bytes(&params)?; // of {"Dense_0": {"bias": …}}
//! let mut restored = params.zeros_like();
//! from_bytes(&mut restored, &bytes)?;
//! assert_eq!(restored.get("Dense_0.bias").unwrap().to_vec::<f32>(), [1.0, 2.0]);
//! # Ok(())
//! # }
//! ```

mod array;
mod decode;
mod encode;
mod file;
mod fit;
mod state_dict;
mod tree;

pub use decode::msgpack_restore;
pub use encode::msgpack_serialize;
pub use file::{load, load_abstract, load_into, load_state, save, save_dict};
pub use fit::from_state_dict;
pub use state_dict::StateDict;
pub use tree::to_state_dict;

use crate::Result;
use ramie_core::Tree;

/// The bytes that Flax's function of the same name makes of a tree: its state
/// dict in msgpack, entries in the order of the tree.
///
/// # Errors
/// If an array cannot be read: because its computation failed, or because it is
/// traced.
///
/// # Panics
/// As [`to_state_dict`].
#[track_caller]
pub fn to_bytes<T: Tree>(tree: &T) -> Result<Vec<u8>> {
    to_state_dict(tree).to_bytes()
}

/// Replaces all arrays of a tree by those that [`to_bytes`], or Flax's function
/// of that name, wrote.
///
/// # Errors
/// If the bytes are no state dict in msgpack, or as [`from_state_dict`]. The
/// tree is then left as it was.
pub fn from_bytes<T: Tree>(tree: &mut T, bytes: &[u8]) -> Result<()> {
    fit::restore(tree, &decode::parse(bytes)?)
}
