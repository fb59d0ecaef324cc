//! The file `_METADATA`: the parts of a saved tree.

use super::json::Ordered;
use super::key::{KeyJson, KeyPath};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// Kind of a part of a saved tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueKind {
    /// A `jax.Array`, which Ramie writes.
    Array,
    /// A NumPy array.
    Numpy,
    /// A Python number.
    Scalar,
    /// A string.
    String,
    /// `None`, or an empty node of no other kind.
    None,
    /// An empty dictionary.
    Dict,
    /// An empty list.
    List,
    /// An empty tuple.
    Tuple,
    /// A named tuple without fields.
    NamedTuple,
    /// Another kind, given by its name.
    Other(String),
}

impl ValueKind {
    /// Returns Orbax's name of the kind.
    pub fn name(&self) -> &str {
        match self {
            ValueKind::Array => "jax.Array",
            ValueKind::Numpy => "np.ndarray",
            ValueKind::Scalar => "scalar",
            ValueKind::String => "string",
            ValueKind::None => "None",
            ValueKind::Dict => "Dict",
            ValueKind::List => "List",
            ValueKind::Tuple => "Tuple",
            ValueKind::NamedTuple => "NamedTuple",
            ValueKind::Other(name) => name,
        }
    }

    /// Returns the kind with this name.
    pub fn from_name(name: &str) -> ValueKind {
        use ValueKind::*;
        let known = [
            Array, Numpy, Scalar, String, None, Dict, List, Tuple, NamedTuple,
        ];
        let found = known.into_iter().find(|kind| kind.name() == name);
        found.unwrap_or_else(|| Other(name.to_owned()))
    }

    /// Returns whether a part of this kind stores no value.
    pub fn is_empty(&self) -> bool {
        use ValueKind::*;
        matches!(self, None | Dict | List | Tuple | NamedTuple)
    }
}

/// Part of a saved tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub path: KeyPath,
    pub kind: ValueKind,
    /// Whether no value is stored.
    pub skip: bool,
    /// Shape of the parts that were written at once.
    pub write_shape: Option<Vec<u64>>,
}

/// Contents of the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tree {
    pub entries: Vec<Entry>,
    pub use_ocdbt: Option<bool>,
    pub use_zarr3: bool,
    /// Whether chunks that contain only the fill value are written, so that a missing chunk means
    /// lost data.
    pub writes_all_chunks: bool,
    pub custom_metadata: Value,
}

#[derive(Serialize, Deserialize)]
struct TreeJson {
    tree_metadata: Ordered<EntryJson>,
    #[serde(default)]
    use_ocdbt: Option<bool>,
    #[serde(default)]
    use_zarr3: Option<bool>,
    #[serde(default)]
    store_array_data_equal_to_fill_value: Option<bool>,
    #[serde(default)]
    custom_metadata: Value,
}

#[derive(Serialize, Deserialize)]
struct EntryJson {
    key_metadata: Vec<KeyJson>,
    value_metadata: ValueJson,
}

#[derive(Serialize, Deserialize)]
struct ValueJson {
    value_type: String,
    #[serde(default)]
    skip_deserialize: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    write_shape: Option<Vec<u64>>,
}

impl Tree {
    pub fn to_json(&self) -> Result<Vec<u8>> {
        let entries = self.entries.iter().map(|entry| {
            let value_metadata = ValueJson {
                value_type: entry.kind.name().to_owned(),
                skip_deserialize: entry.skip,
                write_shape: entry.write_shape.clone(),
            };
            let value = EntryJson {
                key_metadata: entry.path.to_json(),
                value_metadata,
            };
            (entry.path.as_python(), value)
        });
        let json = TreeJson {
            tree_metadata: Ordered(entries.collect()),
            use_ocdbt: self.use_ocdbt,
            use_zarr3: Some(self.use_zarr3),
            store_array_data_equal_to_fill_value: Some(self.writes_all_chunks),
            custom_metadata: self.custom_metadata.clone(),
        };
        serde_json::to_vec(&json).map_err(|e| Error::Write(e.into()))
    }

    pub fn from_json(path: &Path, bytes: &[u8]) -> Result<Tree> {
        let wrong =
            |what: String| Error::format(path, format!("is not valid tree metadata: {what}"));
        let json: TreeJson = serde_json::from_slice(bytes).map_err(|e| wrong(e.to_string()))?;
        let entry = |(name, entry): (String, EntryJson)| {
            let keys = KeyPath::from_json(entry.key_metadata);
            let value = entry.value_metadata;
            Ok(Entry {
                path: keys.map_err(|what| wrong(format!("{name}: {what}")))?,
                kind: ValueKind::from_name(&value.value_type),
                skip: value.skip_deserialize,
                write_shape: value.write_shape,
            })
        };
        let entries = json.tree_metadata.0.into_iter().map(entry);
        Ok(Tree {
            entries: entries.collect::<Result<_>>()?,
            use_ocdbt: json.use_ocdbt,
            use_zarr3: json.use_zarr3.unwrap_or(false),
            writes_all_chunks: json.store_array_data_equal_to_fill_value.unwrap_or(false),
            custom_metadata: json.custom_metadata,
        })
    }
}
