//! What a checkpoint says of itself.

use super::ItemReader;
use crate::file::read_if_there;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The file's name in the folder of a checkpoint.
pub(crate) const METADATA: &str = "_CHECKPOINT_METADATA";

/// The classes that read a checkpoint's items.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ItemHandlers {
    /// There is one item, in the checkpoint's own folder.
    One(String),
    /// Each item has a folder of its name.
    Named(BTreeMap<String, Option<String>>),
}

/// What the file `_CHECKPOINT_METADATA` of a checkpoint holds: how it came about, and
/// what the run had to say of it. Orbax's `StepMetadata`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StepMetadata {
    /// The classes of Python that read the items.
    #[serde(default)]
    pub item_handlers: Option<ItemHandlers>,
    /// The metrics of the step; in a checkpoint of a manager they are those of its
    /// item `metrics`.
    #[serde(default)]
    pub metrics: Map<String, Value>,
    /// What the writer measured.
    #[serde(default)]
    pub performance_metrics: Map<String, Value>,
    /// When the save began, in nanoseconds since 1970.
    #[serde(default)]
    pub init_timestamp_nsecs: Option<u64>,
    /// When everything was written, in nanoseconds since 1970.
    #[serde(default)]
    pub commit_timestamp_nsecs: Option<u64>,
    /// What the caller of the save wanted to be kept.
    #[serde(default)]
    pub custom_metadata: Map<String, Value>,
}

impl StepMetadata {
    /// Reads that of a checkpoint; nothing, if it has none.
    ///
    /// # Errors
    /// If the file cannot be read, or is not what it should be.
    pub fn of(folder: impl AsRef<Path>) -> Result<Option<StepMetadata>> {
        let path = folder.as_ref().join(METADATA);
        let bytes = read_if_there(&path)?;
        bytes
            .map(|bytes| StepMetadata::from_bytes(&path, &bytes))
            .transpose()
    }

    /// Those of a checkpoint whose files are compared with its manifest.
    pub(crate) fn read(reader: &ItemReader) -> Result<Option<StepMetadata>> {
        if !reader.contains(METADATA) {
            return Ok(None);
        }
        let path = reader.path(METADATA)?;
        StepMetadata::from_bytes(&path, &reader.read(METADATA)?).map(Some)
    }

    fn from_bytes(path: &Path, bytes: &[u8]) -> Result<StepMetadata> {
        serde_json::from_slice(bytes)
            .map_err(|e| Error::format(path, format!("is no metadata of a checkpoint: {e}")))
    }

    /// When everything was written.
    pub fn committed(&self) -> Option<SystemTime> {
        self.commit_timestamp_nsecs
            .map(|ns| UNIX_EPOCH + Duration::from_nanos(ns))
    }

    /// The text of the file.
    pub(crate) fn to_text(&self) -> String {
        // Maps with texts as keys always have a text.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The time now, in nanoseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |d| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
}
