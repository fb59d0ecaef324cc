//! `array_metadatas/process_N`: how each process wrote its arrays.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// The folder of these files in the folder of a tree.
pub(super) const FOLDER: &str = "array_metadatas";

/// The name of a process's file in the folder of a tree.
pub(super) fn file(process: usize) -> String {
    format!("{FOLDER}/process_{process}")
}

/// How an array was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ArrayMetadata {
    pub param_name: String,
    /// The shape of the parts that were written at once.
    pub write_shape: Vec<u64>,
    pub chunk_shape: Vec<u64>,
    /// What else is known of it: the generator of a key.
    #[serde(default)]
    pub ext_metadata: Option<Value>,
}

/// The key of a generator's name in `ext_metadata`.
pub(super) const RANDOM_KEY_IMPL: &str = "random_key_impl";

#[derive(Serialize, Deserialize)]
struct FileJson {
    array_metadatas: Vec<EntryJson>,
}

#[derive(Serialize, Deserialize)]
struct EntryJson {
    array_metadata: ArrayMetadata,
}

pub(super) fn to_json(arrays: Vec<ArrayMetadata>) -> Result<Vec<u8>> {
    let entries = arrays.into_iter();
    let file = FileJson {
        array_metadatas: entries
            .map(|array_metadata| EntryJson { array_metadata })
            .collect(),
    };
    serde_json::to_vec(&file).map_err(|e| Error::Write(e.into()))
}

pub(super) fn from_json(path: &Path, bytes: &[u8]) -> Result<Vec<ArrayMetadata>> {
    let file: FileJson = serde_json::from_slice(bytes)
        .map_err(|e| Error::format(path, format!("is no list of metadata of arrays: {e}")))?;
    let entries = file.array_metadatas.into_iter();
    Ok(entries.map(|entry| entry.array_metadata).collect())
}
