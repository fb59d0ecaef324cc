//! Files in Flax's msgpack format.

use super::array::Stored;
use super::{StateDict, decode, encode, fit, state_dict, to_state_dict};
use crate::file::read;
use crate::{Error, Result, atomic};
use ramie_core::{Array, State, Tree};
use std::io::{BufWriter, Write};
use std::path::Path;

/// Saves the arrays of a tree in a file, replacing an existing one. The contents are those of
/// [`to_bytes`](super::to_bytes).
///
/// # Errors
/// Returns an error if the file cannot be written, or if an array cannot be read because its
/// computation failed or it is traced.
///
/// # Panics
/// Same as [`to_state_dict`].
///
/// ```no_run
/// use ramie_checkpoint::serialization;
/// use ramie_core::{Array, State};
/// # fn main() -> Result<(), ramie_checkpoint::Error> {
/// let mut params = State::from_iter([("Dense_0.bias", Array::from([1.0f32, 2.0]))]);
/// serialization::save("params.msgpack", &params)?;
/// serialization::load_into("params.msgpack", &mut params)?;
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn save<T: Tree>(path: impl AsRef<Path>, tree: &T) -> Result<()> {
    save_dict(path, &to_state_dict(tree))
}

/// Saves a state dict in a file that [`load`] reads, replacing an existing one. Entries are
/// written in order.
///
/// # Errors
/// Same as [`save`]. Also returns an error if a part is too large for the format.
pub fn save_dict(path: impl AsRef<Path>, dict: &StateDict) -> Result<()> {
    let path = path.as_ref();
    atomic::replace(path, |file| {
        let mut out = BufWriter::new(file);
        encode::write(dict, encode::Order::AsIs, &mut out).map_err(|e| e.in_file(path))?;
        out.flush().map_err(|e| Error::io(path, "be written", e))
    })
}

/// Loads the state dict of a file.
///
/// # Errors
/// Returns an error if the file cannot be read, and in the cases of
/// [`msgpack_restore`](super::msgpack_restore).
pub fn load(path: impl AsRef<Path>) -> Result<StateDict> {
    let path = path.as_ref();
    decode::msgpack_restore(&read(path)?).map_err(|e| e.in_file(path))
}

/// Loads the state dict of a file with arrays that have shapes and dtypes but no elements. This
/// needs no plugin.
///
/// # Errors
/// Same as [`load`], except that no plugin is required.
pub fn load_abstract(path: impl AsRef<Path>) -> Result<StateDict> {
    let path = path.as_ref();
    let bytes = read(path)?;
    let dict = decode::parse(&bytes).map_err(|e| e.in_file(path))?;
    Ok(dict.map(&mut |array| {
        let aval = array.aval();
        Array::shape_dtype_struct(aval.shape(), aval.dtype())
    }))
}

/// Returns the arrays in a file by their dotted paths, on the default device.
///
/// # Errors
/// Returns an error if the file cannot be read, and in the cases of
/// [`msgpack_restore`](super::msgpack_restore) and [`StateDict::to_state`].
pub fn load_state(path: impl AsRef<Path>) -> Result<State> {
    let path = path.as_ref();
    let bytes = read(path)?;
    let state = decode::parse(&bytes).and_then(|dict| state_dict::state(&dict));
    state.map_err(|e| e.in_file(path))
}

/// Replaces all arrays of a tree with the arrays that a file has at their paths.
///
/// # Errors
/// Returns an error if the file cannot be read, and in the cases of
/// [`from_bytes`](super::from_bytes). The tree is then unchanged.
pub fn load_into<T: Tree>(path: impl AsRef<Path>, tree: &mut T) -> Result<()> {
    let path = path.as_ref();
    let bytes = read(path)?;
    let restored = decode::parse(&bytes).and_then(|dict| fit::restore(tree, &dict));
    restored.map_err(|e| e.in_file(path))
}
