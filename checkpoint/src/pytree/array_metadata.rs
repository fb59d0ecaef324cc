//! The files `array_metadatas/process_N`: how each process wrote its arrays.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// Directory of these files in a tree's directory.
pub(super) const FOLDER: &str = "array_metadatas";

/// Returns the path of a process's file in a tree's directory.
pub(super) fn file(process: usize) -> String {
    format!("{FOLDER}/process_{process}")
}

/// Metadata of a written array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ArrayMetadata {
    pub param_name: String,
    /// Shape of the parts that were written at once.
    pub write_shape: Vec<u64>,
    pub chunk_shape: Vec<u64>,
    /// Additional metadata: the PRNG implementation of a key array.
    #[serde(default)]
    pub ext_metadata: Option<Value>,
}

/// Field of `ext_metadata` for the name of the PRNG implementation.
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
        .map_err(|e| Error::format(path, format!("is not a valid list of array metadata: {e}")))?;
    let entries = file.array_metadatas.into_iter();
    Ok(entries.map(|entry| entry.array_metadata).collect())
}
