//! Metadata of a checkpoint.

use super::ItemReader;
use crate::file::read_if_there;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Name of the file in a checkpoint's directory.
pub(crate) const METADATA: &str = "_CHECKPOINT_METADATA";
/// Name of the file in the directory of a tree that lists its parts.
pub(crate) const TREE: &str = "_METADATA";

/// Python classes that read a checkpoint's items.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ItemHandlers {
    /// A single item, in the checkpoint's own directory.
    One(String),
    /// Items with names, each in a directory of its name.
    Named(BTreeMap<String, Option<String>>),
}

/// Contents of a checkpoint's file `_CHECKPOINT_METADATA`: Orbax's `StepMetadata`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StepMetadata {
    /// Python classes that read the items.
    #[serde(default)]
    pub item_handlers: Option<ItemHandlers>,
    /// Metrics of the step. For a manager's checkpoint, they come from the item `metrics`.
    #[serde(default)]
    pub metrics: Map<String, Value>,
    /// Measurements of the writer.
    #[serde(default)]
    pub performance_metrics: Map<String, Value>,
    /// Start of the save, in nanoseconds since 1970.
    #[serde(default)]
    pub init_timestamp_nsecs: Option<u64>,
    /// End of writing, in nanoseconds since 1970.
    #[serde(default)]
    pub commit_timestamp_nsecs: Option<u64>,
    /// Custom metadata of the caller.
    #[serde(default)]
    pub custom_metadata: Map<String, Value>,
}

impl StepMetadata {
    /// Reads the metadata of a checkpoint; `None` if it has none.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is invalid.
    pub fn of(folder: impl AsRef<Path>) -> Result<Option<StepMetadata>> {
        let path = folder.as_ref().join(METADATA);
        let bytes = read_if_there(&path)?;
        bytes
            .map(|bytes| StepMetadata::from_bytes(&path, &bytes))
            .transpose()
    }

    /// Reads the metadata of a checkpoint whose files are verified against its manifest.
    pub(crate) fn read(reader: &ItemReader) -> Result<Option<StepMetadata>> {
        if !reader.contains(METADATA) {
            return Ok(None);
        }
        let path = reader.path(METADATA)?;
        StepMetadata::from_bytes(&path, &reader.read(METADATA)?).map(Some)
    }

    fn from_bytes(path: &Path, bytes: &[u8]) -> Result<StepMetadata> {
        serde_json::from_slice(bytes)
            .map_err(|e| Error::format(path, format!("is not valid checkpoint metadata: {e}")))
    }

    /// Returns the time when everything was written.
    pub fn committed(&self) -> Option<SystemTime> {
        self.commit_timestamp_nsecs
            .map(|ns| UNIX_EPOCH + Duration::from_nanos(ns))
    }

    /// Returns the text of the file.
    pub(crate) fn to_text(&self) -> String {
        // Maps with string keys always serialize.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Returns the current time in nanoseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |d| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
}
