//! `_strings.json`: texts in a tree.

use super::key::{KeyPart, KeyPath};
use super::metadata::{Entry, ValueKind};
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// The file's name in the folder of a tree.
pub(super) const FILE: &str = "_strings.json";

/// The texts in a file, by their dotted names.
pub(super) fn from_json(path: &Path, bytes: &[u8]) -> Result<BTreeMap<String, String>> {
    serde_json::from_slice(bytes)
        .map_err(|e| Error::format(path, format!("is no list of texts: {e}")))
}

/// The entry of a text in the metadata of a tree.
pub(super) fn entry(name: &str) -> Entry {
    let parts = name.split('.').map(|part| KeyPart::Name(part.to_owned()));
    Entry {
        path: KeyPath::new(parts),
        kind: ValueKind::String,
        skip: false,
        write_shape: None,
    }
}
