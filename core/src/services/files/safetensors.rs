//! The header of a safetensors file: the names, dtypes, shapes and offsets of its arrays.

use super::Message;
use crate::DType;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

pub use super::Problem;

/// Key of the metadata in a header.
pub const METADATA: &str = "__metadata__";

/// Maximum number of bytes of a header, as in the reference implementation.
const LARGEST: u64 = 100_000_000;

/// Names of dtypes in the format.
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

/// Returns the rank of a dtype in the order in which a file stores its arrays, and its name. Wide
/// dtypes come first, so that all arrays are aligned. Returns `None` for dtypes that the format
/// does not support: those of less than a byte, and `c128`.
pub fn dtype_name(dtype: DType) -> Option<(usize, &'static str)> {
    let at = DTYPES.iter().position(|(d, _)| *d == dtype)?;
    Some((DTYPES.len() - at, DTYPES[at].1))
}

/// The header's entry of an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Name of the dtype.
    pub dtype: String,
    /// Dimensions.
    pub shape: Vec<usize>,
    /// Offsets of the first byte and of the byte after the last, counted from the end of the
    /// header.
    pub data_offsets: (u64, u64),
}

/// An array with a validated entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Name of the array.
    pub name: String,
    /// Dtype of the elements.
    pub dtype: DType,
    /// Shape of the array.
    pub shape: Vec<usize>,
    /// Offset of the first byte, counted from the end of the header.
    pub start: u64,
}

impl Tensor {
    /// Returns the number of bytes of the elements.
    pub fn nbytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.dtype.size()
    }
}

/// A header. Its entries are in the order of the file when it is written, and sorted by name
/// after it was read.
#[derive(Debug, Default)]
pub struct Header {
    /// Metadata: strings by name.
    pub metadata: BTreeMap<String, String>,
    /// Arrays by name.
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
                        return Err(A::Error::custom(format!("`{name}` occurs twice")));
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
    /// Reads the header of a file of `length` bytes from its beginning. Returns it and the number
    /// of bytes before the elements.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or does not start with a header.
    pub fn read(mut file: impl Read, length: u64) -> Result<(Header, u64), Problem> {
        let Some(room) = length.checked_sub(8) else {
            return Err(Problem::file(format!(
                "has only {length} bytes, which is too short"
            )));
        };
        let mut size = [0; 8];
        file.read_exact(&mut size).map_err(Problem::Io)?;
        let size = u64::from_le_bytes(size);
        if size > LARGEST || size > room {
            return Err(Problem::file(format!(
                "has a header of {size} bytes according to its length field, but only {room} bytes \
                 follow"
            )));
        }
        let mut text = vec![0; size as usize];
        file.read_exact(&mut text).map_err(Problem::Io)?;
        let header = serde_json::from_slice(&text)
            .map_err(|e| Problem::file(format!("has a header that cannot be read: {e}")))?;
        Ok((header, 8 + size))
    }

    /// Returns the arrays, sorted by name, of a file with `available` bytes after the header.
    ///
    /// # Errors
    /// Returns an error if an entry is inconsistent, or if the arrays overlap, leave gaps or do
    /// not fill the file.
    pub fn tensors(&self, available: u64) -> Result<Vec<Tensor>, Problem> {
        let mut ranges = Vec::with_capacity(self.entries.len());
        let mut tensors = Vec::with_capacity(self.entries.len());
        for (name, entry) in &self.entries {
            let tensor = tensor(name, entry);
            tensors.push(tensor.map_err(|message| Problem::tensor(name.clone(), message))?);
            let (start, end) = entry.data_offsets;
            ranges.push((start, end, name));
        }
        ranges.sort();
        let mut filled = 0;
        for (start, end, name) in ranges {
            if start != filled {
                let message =
                    format!("starts at byte {start}, expected {filled}; the file is damaged");
                return Err(Problem::tensor(name.clone(), message));
            }
            filled = end;
        }
        if filled != available {
            return Err(Problem::file(format!(
                "has {available} bytes of tensors, but {filled} according to its header; the file \
                 is damaged or truncated"
            )));
        }
        Ok(tensors)
    }
}

/// Validates an entry and returns its array, or a description of the problem.
fn tensor(name: &str, entry: &Entry) -> Result<Tensor, Message> {
    let known = DTYPES.iter().find(|(_, text)| *text == entry.dtype);
    let Some((dtype, _)) = known else {
        return Err(
            Message::new(format!("has dtype {}, which is not supported", entry.dtype))
                .help("convert it before writing the file, for example to F32"),
        );
    };
    let mut sizes = entry.shape.iter();
    let size = sizes.try_fold(dtype.size(), |n, &d| n.checked_mul(d));
    let (start, end) = entry.data_offsets;
    if size.is_none_or(|size| end.checked_sub(start) != Some(size as u64)) {
        return Err(format!(
            "bytes {start} to {end} do not match the size of {}{:?}; the file is damaged",
            entry.dtype, entry.shape
        )
        .into());
    }
    Ok(Tensor {
        name: name.to_owned(),
        dtype: *dtype,
        shape: entry.shape.clone(),
        start,
    })
}
