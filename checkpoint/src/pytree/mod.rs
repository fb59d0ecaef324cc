//! Trees of arrays in Orbax's format. Orbax 0.12 restores what Ramie writes, and Ramie restores
//! what Orbax writes.
//!
//! [`PyTreeSave`] and [`PyTreeRestore`] are the arguments of saving and restoring a tree.
//! [`StandardSave`] and [`StandardRestore`] have fewer options, and [`ArraySave`] and
//! [`ArrayRestore`] handle a single array.
//!
//! By default, each array is stored in a directory of its dotted name, divided into chunks: one
//! per device shard, or smaller ones. Many small arrays are stored in an OCDBT database instead
//! (see [`PyTreeSave::use_ocdbt`]). Replicated shards are written once. Arrays can be restored
//! onto any number of devices: see [`PyTreeRestore`].

mod args;
mod array_metadata;
mod codec;
#[cfg(test)]
mod codec_tests;
mod dict;
mod differences;
mod dtype;
mod json;
mod key;
mod layout;
mod metadata;
mod read;
mod region;
mod restore;
mod save;
mod sharding;
mod source;
mod store;
mod strings;
mod transform;
mod walk;
mod zarr;

pub(crate) use args::ARRAY;
pub use args::{ArrayRestore, ArraySave, StandardRestore, StandardSave};
pub use dict::DictRestore;
pub use key::{KeyPart, KeyPath};
pub use layout::{Compression, Zarr};
pub use metadata::ValueKind;
pub use restore::PyTreeRestore;
pub use save::{LeafSave, PyTreeSave};
pub use source::{ArrayInfo, PartMetadata, TreeMetadata};
pub use transform::Transform;

use crate::commit::ItemReader;
use crate::{Result, ocdbt};
use std::path::Path;

/// Returns the metadata of a saved tree without reading its arrays: names, shapes, dtypes, chunks
/// and shardings (`Checkpointer.metadata`).
///
/// ```
/// use ramie_checkpoint::commit::save_item;
/// use ramie_checkpoint::pytree::{self, PyTreeSave};
/// use ramie_core::{Array, DType, State};
/// # fn main() -> ramie_checkpoint::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("weights");
/// let params = State::from_iter([("dense.kernel", Array::ones(&[2, 3], DType::F32))]);
/// save_item(&path, &PyTreeSave::new(&params))?;
/// let metadata = pytree::metadata(&path)?;
/// let array = metadata.get("dense.kernel").unwrap().array.as_ref().unwrap();
/// assert_eq!((array.shape.as_slice(), array.dtype), (&[2, 3][..], DType::F32));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Returns an error if the directory does not contain a tree, or a file in it is unreadable or
/// damaged.
pub fn metadata(folder: impl AsRef<Path>) -> Result<TreeMetadata> {
    TreeMetadata::read(&ItemReader::open(folder.as_ref())?)
}

/// Returns whether a file belongs to a tree, even if the tree's metadata is lost.
pub(crate) fn is_of_tree(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or_default();
    let arrays = name.strip_prefix(array_metadata::FOLDER);
    arrays.is_some_and(|rest| rest.starts_with('/'))
        || name.starts_with(ocdbt::PROCESS_PREFIX)
        || file == sharding::FILE
        || file == strings::FILE
        || file == ocdbt::MANIFEST
        || file == Zarr::V2.file()
        || file == Zarr::V3.file()
}
