//! The file `_strings.json`: strings in a tree.

use super::key::{KeyPart, KeyPath};
use super::metadata::{Entry, ValueKind};
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// Name of the file in a tree's directory.
pub(super) const FILE: &str = "_strings.json";

/// Parses the strings of a file by dotted name.
pub(super) fn from_json(path: &Path, bytes: &[u8]) -> Result<BTreeMap<String, String>> {
    serde_json::from_slice(bytes)
        .map_err(|e| Error::format(path, format!("is not a valid list of strings: {e}")))
}

/// Returns the entry of a string in a tree's metadata.
pub(super) fn entry(name: &str) -> Entry {
    let parts = name.split('.').map(|part| KeyPart::Name(part.to_owned()));
    Entry {
        path: KeyPath::new(parts),
        kind: ValueKind::String,
        skip: false,
        write_shape: None,
    }
}
