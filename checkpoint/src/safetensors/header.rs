//! The header: what arrays there are, and where their bytes are.

use super::Metadata;
use crate::{Error, Result};
use ramie_core::DType;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// The name under which the header keeps notes.
pub const METADATA: &str = "__metadata__";

/// Headers of more bytes are refused, as the reference implementation does.
pub const LARGEST: u64 = 100_000_000;

/// Names of element types.
const DTYPES: [(DType, &str); 19] = [
    (DType::Bool, "BOOL"),
    (DType::U8, "U8"),
    (DType::I8, "I8"),
    (DType::F8E5M2, "F8_E5M2"),
    (DType::F8E4M3Fn, "F8_E4M3"),
    (DType::F8E8M0Fnu, "F8_E8M0"),
    (DType::F8E4M3Fnuz, "F8_E4M3FNUZ"),
    (DType::F8E5M2Fnuz, "F8_E5M2FNUZ"),
    (DType::I16, "I16"),
    (DType::U16, "U16"),
    (DType::F16, "F16"),
    (DType::BF16, "BF16"),
    (DType::I32, "I32"),
    (DType::U32, "U32"),
    (DType::F32, "F32"),
    (DType::C64, "C64"),
    (DType::F64, "F64"),
    (DType::I64, "I64"),
    (DType::U64, "U64"),
];

/// The place of a type in the order in which a file keeps arrays, large
/// elements first so that all are aligned; and its name. The format has no
/// types of less than a byte, but for one that it packs.
pub fn dtype_name(dtype: DType) -> Option<(usize, &'static str)> {
    let at = DTYPES.iter().position(|(d, _)| *d == dtype)?;
    Some((DTYPES.len() - at, DTYPES[at].1))
}

/// What the header says of an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Name of the element type.
    pub dtype: String,
    /// Dimensions.
    pub shape: Vec<usize>,
    /// First byte, and the byte after the last, counted after the header.
    pub data_offsets: (u64, u64),
}

/// An array whose entry makes sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    pub name: String,
    pub dtype: DType,
    pub shape: Vec<usize>,
    /// The first byte, counted after the header.
    pub start: u64,
}

/// A header, entries in the order of the file when written and of their names
/// when read.
#[derive(Debug, Default)]
pub struct Header {
    pub metadata: Metadata,
    pub entries: Vec<(String, Entry)>,
}

impl Serialize for Header {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if !self.metadata.is_empty() {
            map.serialize_entry(METADATA, &self.metadata)?;
        }
        for (name, entry) in &self.entries {
            map.serialize_entry(name, entry)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Header, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Header;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of tensors by name")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
                let mut metadata = None;
                let mut entries = BTreeMap::new();
                while let Some(name) = map.next_key::<String>()? {
                    let twice = if name == METADATA {
                        metadata.replace(map.next_value()?).is_some()
                    } else {
                        entries.insert(name.clone(), map.next_value()?).is_some()
                    };
                    if twice {
                        return Err(A::Error::custom(format!("`{name}` is there twice")));
                    }
                }
                Ok(Header {
                    metadata: metadata.unwrap_or_default(),
                    entries: entries.into_iter().collect(),
                })
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

impl Header {
    /// The arrays, by name, of a file with `available` bytes after the header.
    ///
    /// # Errors
    /// If an entry makes no sense, or the arrays do not fill the file without
    /// gaps.
    pub fn tensors(&self, path: &Path, available: u64) -> Result<Vec<Tensor>> {
        let mut places = Vec::with_capacity(self.entries.len());
        let mut tensors = Vec::with_capacity(self.entries.len());
        for (name, entry) in &self.entries {
            let bad = |message: String| Error::tensor(path, name, message);
            let known = DTYPES.iter().find(|(_, text)| *text == entry.dtype);
            let Some((dtype, _)) = known else {
                return Err(bad(format!(
                    "has the element type {}, which Ramie does not have\n  help: convert it, for \
                     example to F32, where the file is written",
                    entry.dtype
                )));
            };
            let size = entry
                .shape
                .iter()
                .try_fold(dtype.size(), |n, &d| n.checked_mul(d));
            let (start, end) = entry.data_offsets;
            if size.is_none_or(|size| end.checked_sub(start) != Some(size as u64)) {
                return Err(bad(format!(
                    "bytes {start} to {end} are not those of {}{:?}; the file is damaged",
                    entry.dtype, entry.shape
                )));
            }
            places.push((start, end, name));
            tensors.push(Tensor {
                name: name.clone(),
                dtype: *dtype,
                shape: entry.shape.clone(),
                start,
            });
        }
        places.sort();
        let mut filled = 0;
        for (start, end, name) in places {
            if start != filled {
                return Err(Error::tensor(
                    path,
                    name,
                    format!("begins at byte {start}, expected {filled}; the file is damaged"),
                ));
            }
            filled = end;
        }
        if filled != available {
            return Err(Error::format(
                path,
                format!(
                    "has {available} bytes of tensors, its header names {filled}; the file is \
                     damaged or cut short"
                ),
            ));
        }
        Ok(tensors)
    }
}
