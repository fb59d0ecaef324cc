//! Which folders are checkpoints.

use super::TEMPORARY;
use super::manifest::MANIFEST;
use super::marker::{self, MARKER};
use super::metadata::StepMetadata;
use crate::pytree::TREE;
use crate::{Error, Result};
use std::io::ErrorKind;
use std::path::Path;

/// The file in which Orbax kept whole trees before.
const AGGREGATE: &str = "checkpoint";

/// Whether a folder is a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitState {
    /// It is, and Ramie or Orbax has committed it.
    Committed,
    /// It is not: it is missing, empty, still being written, or holds something else.
    Unfinished,
    /// Ramie has written it to the end, but its commit marker is missing or incomplete, for
    /// this reason: the save was interrupted at the last moment, or the file was damaged.
    Damaged(String),
}

/// Whether a folder holds a whole checkpoint: one that Ramie or Orbax has committed.
/// [`commit_state`] tells unfinished ones from damaged ones.
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
    Ok(commit_state(folder)? == CommitState::Committed)
}

/// Whether a folder is a checkpoint, and if not, why.
///
/// # Errors
/// If the folder cannot be looked into.
pub fn commit_state(folder: impl AsRef<Path>) -> Result<CommitState> {
    use CommitState::{Committed, Damaged, Unfinished};
    let folder = folder.as_ref();
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    if name.contains(TEMPORARY) || !folder.is_dir() {
        return Ok(Unfinished);
    }
    let has = |name: &str| folder.join(name).is_file();
    // Both Ramie and Orbax write the marker last. In place it is written after the
    // manifest, and may be there without its text.
    if has(MANIFEST) {
        return Ok(match marker::is_complete(folder) {
            true => Committed,
            false if has(MARKER) => Damaged(format!("{MARKER} is incomplete")),
            false => Damaged(format!("{MARKER} is missing")),
        });
    }
    if has(MARKER) {
        return Ok(Committed);
    }
    // Former versions of Orbax wrote no marker, but renamed as well.
    if StepMetadata::of(folder).is_ok_and(|m| m.is_some_and(|m| m.committed().is_some())) {
        return Ok(Committed);
    }
    if has(TREE) || has(AGGREGATE) {
        return Ok(Committed);
    }
    let failed = |e| Error::io(folder, "be listed", e);
    let entries = match std::fs::read_dir(folder) {
        // It was removed in between.
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Unfinished),
        other => other.map_err(failed)?,
    };
    for entry in entries {
        let item = entry.map_err(failed)?.path();
        if item.join(TREE).is_file() || item.join(AGGREGATE).is_file() {
            return Ok(Committed);
        }
    }
    Ok(Unfinished)
}
