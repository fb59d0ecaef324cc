//! Flax's msgpack format: `flax.serialization`.
//!
//! A tree is converted to a [`StateDict`], nested dictionaries whose leaves are arrays, and then
//! to bytes that Flax can read, and back. For the same arrays, the bytes are equal to those that
//! Flax writes.
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

/// Serializes a tree like Flax's function of the same name: its state dict in msgpack, with
/// entries in the order of the tree.
///
/// # Errors
/// Returns an error if an array cannot be read because its computation failed or it is traced.
///
/// # Panics
/// Same as [`to_state_dict`].
#[track_caller]
pub fn to_bytes<T: Tree>(tree: &T) -> Result<Vec<u8>> {
    to_state_dict(tree).to_bytes()
}

/// Replaces all arrays of a tree with those that [`to_bytes`], or Flax's function of that name,
/// wrote.
///
/// # Errors
/// Returns an error if the bytes are not a state dict in msgpack, and in the cases of
/// [`from_state_dict`]. The tree is then unchanged.
pub fn from_bytes<T: Tree>(tree: &mut T, bytes: &[u8]) -> Result<()> {
    fit::restore(tree, &decode::parse(bytes)?)
}
