//! The JSON of `.zarray` and `zarr.json`.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Contents of `.zarray`. Unknown fields are ignored: version 2 has no rule for them.
#[derive(Debug, Deserialize)]
pub(super) struct ArrayV2 {
    pub zarr_format: u64,
    pub shape: Vec<usize>,
    pub chunks: Vec<usize>,
    /// Name of the element type, or a list of fields.
    pub dtype: Value,
    pub compressor: Option<CodecV2>,
    pub fill_value: Value,
    pub order: String,
    pub filters: Option<Vec<CodecV2>>,
    pub dimension_separator: Option<char>,
}

/// Compressor or filter of version 2; its settings are not needed to decode.
#[derive(Debug, Deserialize)]
pub(super) struct CodecV2 {
    pub id: String,
}

/// Contents of `zarr.json` for an array.
#[derive(Debug, Deserialize)]
pub(super) struct ArrayV3 {
    pub zarr_format: u64,
    pub node_type: String,
    pub shape: Vec<usize>,
    pub data_type: Extension,
    pub chunk_grid: Extension,
    pub chunk_key_encoding: Extension,
    pub fill_value: Value,
    pub codecs: Vec<Extension>,
    #[serde(default)]
    pub storage_transformers: Vec<Extension>,
    /// All other fields.
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

impl ArrayV3 {
    /// Returns the name of an unknown field that is not marked as optional.
    pub fn unsupported_field(&self) -> Option<&str> {
        let mut others = self.others.iter();
        let unsupported = others.find(|(name, value)| {
            !matches!(name.as_str(), "attributes" | "dimension_names")
                && value["must_understand"] != Value::Bool(false)
        });
        unsupported.map(|(name, _)| name.as_str())
    }
}

/// Named element of `zarr.json` with settings, such as a codec or a chunk grid.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected a name, or an object with `name` and `configuration`"
)]
pub(super) enum Extension {
    Name(String),
    Object {
        name: String,
        configuration: Option<Map<String, Value>>,
        #[serde(rename = "must_understand")]
        _must_understand: Option<bool>,
    },
}

impl Extension {
    pub fn name(&self) -> &str {
        match self {
            Extension::Name(name) | Extension::Object { name, .. } => name,
        }
    }

    /// Returns the settings.
    pub fn settings<T: DeserializeOwned>(&self) -> Result<T, String> {
        let settings = match self {
            Extension::Name(_) => None,
            Extension::Object { configuration, .. } => configuration.clone(),
        };
        let settings = serde_json::from_value(Value::Object(settings.unwrap_or_default()));
        settings.map_err(|e| format!("the settings of `{}` are invalid: {e}", self.name()))
    }
}

/// Settings of the chunk grid `regular`.
#[derive(Debug, Deserialize)]
pub(super) struct Regular {
    pub chunk_shape: Vec<usize>,
}

/// Settings of an encoding of chunk keys.
#[derive(Debug, Deserialize)]
pub(super) struct KeyEncoding {
    pub separator: Option<char>,
}

/// Settings of the codec `bytes`.
#[derive(Debug, Deserialize)]
pub(super) struct Bytes {
    /// `None` for elements of one byte.
    pub endian: Option<Endian>,
}

/// Byte order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Endian {
    #[default]
    Little,
    Big,
}

/// Settings of the codec `sharding_indexed`.
#[derive(Debug, Deserialize)]
pub(super) struct Sharding {
    pub chunk_shape: Vec<usize>,
    pub codecs: Vec<Extension>,
    pub index_codecs: Vec<Extension>,
    #[serde(default)]
    pub index_location: IndexLocation,
}

/// Location of a file's index of parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum IndexLocation {
    Start,
    #[default]
    End,
}
