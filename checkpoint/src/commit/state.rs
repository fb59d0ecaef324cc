//! Which folders are checkpoints.

use super::TEMPORARY;
use super::manifest::MANIFEST;
use super::marker::{self, MARKER};
use super::metadata::StepMetadata;
use crate::{Error, Result};
use std::io::ErrorKind;
use std::path::Path;

/// The file that Orbax writes beside the arrays of a tree.
const TREE: &str = "_METADATA";
/// The file in which Orbax kept whole trees before.
const AGGREGATE: &str = "checkpoint";

/// Whether a folder holds a whole checkpoint: one that Ramie committed, or that Orbax
/// did.
///
/// A folder that is empty, that is still being written, or that holds something else
/// is none.
///
/// ```
/// use ramie_checkpoint::commit::{is_committed, save_item};
/// use ramie_checkpoint::items::JsonSave;
/// # fn main() -> ramie_checkpoint::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("7");
/// std::fs::create_dir(&path).unwrap();
/// assert!(!is_committed(&path)?);
/// save_item(&path, &JsonSave::new("a value"))?;
/// assert!(is_committed(&path)?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If the folder cannot be looked into.
pub fn is_committed(folder: impl AsRef<Path>) -> Result<bool> {
    let folder = folder.as_ref();
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    if name.contains(TEMPORARY) || !folder.is_dir() {
        return Ok(false);
    }
    let has = |name: &str| folder.join(name).is_file();
    // Both Ramie and Orbax write the marker last. In place it is written after the
    // manifest, and may be there without its text.
    if has(MANIFEST) {
        return Ok(marker::is_complete(folder));
    }
    if has(MARKER) {
        return Ok(true);
    }
    // Former versions of Orbax wrote no marker, but renamed as well.
    if StepMetadata::of(folder).is_ok_and(|m| m.is_some_and(|m| m.committed().is_some())) {
        return Ok(true);
    }
    if has(TREE) || has(AGGREGATE) {
        return Ok(true);
    }
    let failed = |e| Error::io(folder, "be listed", e);
    let entries = match std::fs::read_dir(folder) {
        // It was removed in between.
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(false),
        other => other.map_err(failed)?,
    };
    for entry in entries {
        let item = entry.map_err(failed)?.path();
        if item.join(TREE).is_file() || item.join(AGGREGATE).is_file() {
            return Ok(true);
        }
    }
    Ok(false)
}
