//! Writing safetensors files.

use super::Metadata;
use crate::{Error, Result, atomic};
use ramie_core::files::Message;
use ramie_core::files::safetensors::{Entry, Header, METADATA, dtype_name};
use ramie_core::{Array, State, Tree};
use std::io::Write;
use std::path::Path;

/// Saves the arrays of a tree in a file, replacing an existing one. The format has no numbers and
/// strings, which are omitted.
///
/// # Errors
/// Returns an error if the file cannot be written, or if an array cannot be read because its
/// computation failed or it is traced.
///
/// # Panics
/// Panics if two leaves of the tree have the same path.
#[track_caller]
pub fn save<T: Tree>(path: impl AsRef<Path>, tree: &T) -> Result<()> {
    save_with_metadata(path, tree, &Metadata::new())
}

/// Saves a tree like [`save`], with metadata that [`load_metadata`](super::load_metadata) returns.
///
/// # Errors
/// Same as [`save`].
///
/// # Panics
/// Same as [`save`].
#[track_caller]
pub fn save_with_metadata<T: Tree>(
    path: impl AsRef<Path>,
    tree: &T,
    metadata: &Metadata,
) -> Result<()> {
    let state = State::of(tree);
    write(path.as_ref(), state.iter().collect(), metadata)
}

/// Writes a file of arrays, sorted in the order of the format.
pub(super) fn write(
    path: &Path,
    mut arrays: Vec<(&str, &Array)>,
    metadata: &Metadata,
) -> Result<()> {
    arrays.sort_by_key(|(name, array)| (dtype_name(array.dtype()).map(|d| d.0), *name));
    let mut header = Header {
        metadata: metadata.clone(),
        entries: Vec::with_capacity(arrays.len()),
    };
    let mut end = 0;
    for (name, array) in &arrays {
        if *name == METADATA {
            let message =
                Message::new("is a name that the format reserves").help("rename the field");
            return Err(Error::tensor(path, name, message));
        }
        let Some((_, dtype)) = dtype_name(array.dtype()) else {
            let message = Message::new(format!("the format does not support {}", array.dtype()))
                .help(
                    "convert the array first: x.astype(DType::I8), or DType::F8E4M3Fn for floats",
                );
            return Err(Error::tensor(path, name, message));
        };
        let start = end;
        end += array.nbytes() as u64;
        let entry = Entry {
            dtype: dtype.into(),
            shape: array.shape().to_vec(),
            data_offsets: (start, end),
        };
        header.entries.push((name.to_string(), entry));
    }
    let mut text = serde_json::to_vec(&header)
        .map_err(|e| Error::format(path, format!("the header cannot be written: {e}")))?;
    // Align the bytes of the arrays to 8.
    text.resize(text.len().next_multiple_of(8), b' ');
    atomic::replace(path, |file| {
        let failed = |e| Error::io(path, "be written", e);
        let length = (text.len() as u64).to_le_bytes();
        file.write_all(&length).map_err(failed)?;
        file.write_all(&text).map_err(failed)?;
        for (name, array) in &arrays {
            let bytes = array.try_to_bytes();
            let bytes = bytes.map_err(|e| Error::tensor(path, name, e))?;
            file.write_all(&bytes).map_err(failed)?;
        }
        Ok(())
    })
}
