//! Detection of committed checkpoints.

use super::TEMPORARY;
use super::manifest::{self, MANIFEST};
use super::marker::{self, MARKER};
use super::metadata::{StepMetadata, TREE};
use crate::{Error, Result};
use std::io::ErrorKind;
use std::path::Path;

/// File in which older Orbax versions stored whole trees.
const AGGREGATE: &str = "checkpoint";

/// State of a directory that may be a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitState {
    /// Ramie or Orbax has committed the checkpoint.
    Committed,
    /// Not a checkpoint: the directory is missing, empty, still being written, or contains
    /// something else.
    Unfinished,
    /// Ramie has written all files, but the commit marker is missing or incomplete, for this
    /// reason: the save was interrupted at the last moment, or the file was damaged.
    Damaged(String),
}

/// Returns whether a directory contains a checkpoint that Ramie or Orbax has committed.
/// [`commit_state`] distinguishes unfinished from damaged checkpoints.
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
/// Returns an error if the directory cannot be read.
pub fn is_committed(folder: impl AsRef<Path>) -> Result<bool> {
    Ok(commit_state(folder)? == CommitState::Committed)
}

/// Returns the state of a directory that may be a checkpoint.
///
/// # Errors
/// Returns an error if the directory cannot be read.
pub fn commit_state(folder: impl AsRef<Path>) -> Result<CommitState> {
    use CommitState::{Committed, Damaged, Unfinished};
    let folder = folder.as_ref();
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    if name.contains(TEMPORARY) || !folder.is_dir() {
        return Ok(Unfinished);
    }
    let has = |name: &str| folder.join(name).is_file();
    // Both Ramie and Orbax write the marker last. With `Atomicity::CommitFile` it is written after
    // the manifest and may be incomplete; the manifest is empty until all other files are on disk.
    if has(MANIFEST) {
        return Ok(match marker::is_complete(folder) {
            true => Committed,
            false if has(MARKER) => Damaged(format!("{MARKER} is incomplete")),
            false if manifest::is_unfinished(folder) => Unfinished,
            false => Damaged(format!("{MARKER} is missing")),
        });
    }
    if has(MARKER) {
        return Ok(Committed);
    }
    // Older Orbax versions wrote no marker, but also committed with a rename.
    if StepMetadata::of(folder).is_ok_and(|m| m.is_some_and(|m| m.committed().is_some())) {
        return Ok(Committed);
    }
    if has(TREE) || has(AGGREGATE) {
        return Ok(Committed);
    }
    let failed = |e| Error::io(folder, "be listed", e);
    let entries = match std::fs::read_dir(folder) {
        // The directory was removed in the meantime.
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
