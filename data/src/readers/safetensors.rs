//! safetensors files, an array at a time.

use super::file::{Positioned, bad_file};
use crate::device::nbytes;
use crate::source::check;
use crate::{Error, HostArray, Result, Source};
use ramie_core::DType;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The longest header that is read, as in the format's own library.
const LONGEST_HEADER: u64 = 100_000_000;

/// A safetensors file whose arrays are read when asked for.
///
/// ```no_run
/// use ramie_data::{Source, readers::safetensors::Safetensors};
/// let file = Safetensors::open("embeddings.safetensors")?;
/// for name in file.names() {
///     println!("{name}: {:?}", file.shape(name)?);
/// }
/// // The rows of an array that need not fit in memory.
/// let rows = file.rows("embeddings")?;
/// let first = rows.get(0)?;
/// # Ok::<(), ramie_data::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Safetensors {
    file: Arc<Positioned>,
    arrays: BTreeMap<String, Place>,
}

#[derive(Clone, Debug)]
struct Place {
    dtype: DType,
    shape: Vec<usize>,
    at: u64,
    len: usize,
}

#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (u64, u64),
}

fn dtype_of(name: &str) -> Option<DType> {
    Some(match name {
        "BOOL" => DType::Bool,
        "U8" => DType::U8,
        "I8" => DType::I8,
        "I16" => DType::I16,
        "U16" => DType::U16,
        "F16" => DType::F16,
        "BF16" => DType::BF16,
        "I32" => DType::I32,
        "U32" => DType::U32,
        "F32" => DType::F32,
        "F64" => DType::F64,
        "I64" => DType::I64,
        "U64" => DType::U64,
        "C64" => DType::C64,
        "F8_E4M3" => DType::F8E4M3Fn,
        "F8_E5M2" => DType::F8E5M2,
        _ => return None,
    })
}

impl Safetensors {
    /// A file, of which the header is read.
    ///
    /// # Errors
    /// If the file cannot be read, its header is damaged, or an array has elements
    /// that no device has.
    pub fn open(path: impl AsRef<Path>) -> Result<Safetensors> {
        let file = Positioned::open(path.as_ref())?;
        let bad = |message: String| bad_file(file.name(), message);
        if file.len() < 8 {
            return Err(bad("has no 8 bytes of the header's length".into()));
        }
        let length = file.read_at(0, 8)?;
        let length = u64::from_le_bytes(length.try_into().expect("8 bytes"));
        if length > LONGEST_HEADER || length > file.len() - 8 {
            return Err(bad(format!(
                "claims a header of {length} bytes, and has {} bytes",
                file.len()
            )));
        }
        let header = file.read_at(8, length as usize)?;
        let entries: BTreeMap<String, serde_json::Value> = serde_json::from_slice(&header)
            .map_err(|e| bad(format!("has a header that is not as expected: {e}")))?;
        let mut arrays = BTreeMap::new();
        for (name, entry) in entries {
            if name == "__metadata__" {
                continue;
            }
            let place = place(entry, 8 + length, file.len());
            let place = place.map_err(|what| bad(format!("array {name:?} {what}")))?;
            arrays.insert(name, place);
        }
        Ok(Safetensors {
            file: Arc::new(file),
            arrays,
        })
    }

    /// The names of the arrays.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.arrays.keys().map(String::as_str)
    }

    fn place(&self, name: &str) -> Result<&Place> {
        let missing = || bad_file(self.file.name(), format!("has no array {name:?}"));
        self.arrays.get(name).ok_or_else(missing)
    }

    /// The sizes of an array's dimensions.
    ///
    /// # Errors
    /// If there is no such array.
    pub fn shape(&self, name: &str) -> Result<&[usize]> {
        Ok(&self.place(name)?.shape)
    }

    /// An array.
    ///
    /// # Errors
    /// If there is no such array, or it cannot be read.
    pub fn get(&self, name: &str) -> Result<HostArray> {
        let place = self.place(name)?;
        let bytes = self.file.read_at(place.at, place.len)?;
        self.array(name, place.dtype, &place.shape, bytes)
    }

    fn array(
        &self,
        name: &str,
        dtype: DType,
        shape: &[usize],
        bytes: Vec<u8>,
    ) -> Result<HostArray> {
        HostArray::new(dtype, shape, bytes)
            .map_err(|e| bad_file(self.file.name(), format!("array {name:?}: {e}")))
    }

    /// The rows of an array as a source that reads each when asked for.
    ///
    /// # Errors
    /// If there is no such array, or it has no dimensions.
    pub fn rows(&self, name: &str) -> Result<Rows> {
        let place = self.place(name)?.clone();
        if place.shape.is_empty() {
            return Err(bad_file(
                self.file.name(),
                format!("array {name:?} has no dimensions, and no rows"),
            ));
        }
        Ok(Rows {
            of: self.clone(),
            name: name.into(),
            place,
        })
    }
}

/// Where an array is, if its entry is sound.
fn place(entry: serde_json::Value, data: u64, file: u64) -> Result<Place, String> {
    let entry: Entry = serde_json::from_value(entry)
        .map_err(|e| format!("has an entry that is not as expected: {e}"))?;
    let dtype = dtype_of(&entry.dtype).ok_or_else(|| {
        format!(
            "has elements of the type {:?}, which no device has",
            entry.dtype
        )
    })?;
    let (begin, end) = entry.data_offsets;
    let len = nbytes(dtype, &entry.shape);
    let at = data.checked_add(begin);
    match (len, at) {
        (Some(len), Some(at))
            if begin.checked_add(len as u64) == Some(end) && end <= file - data =>
        {
            Ok(Place {
                dtype,
                shape: entry.shape,
                at,
                len,
            })
        }
        _ => Err(format!(
            "of {dtype}{:?} is said to be at bytes {begin} to {end} of {}",
            entry.shape,
            file - data
        )),
    }
}

/// The rows of an array in a file; see [`Safetensors::rows`].
#[derive(Clone, Debug)]
pub struct Rows {
    of: Safetensors,
    name: String,
    place: Place,
}

impl Source for Rows {
    type Item = HostArray;
    fn len(&self) -> usize {
        self.place.shape[0]
    }
    fn get(&self, index: usize) -> Result<HostArray> {
        check(index, self.len())?;
        let count = self.place.len / self.len();
        let bytes = self
            .of
            .file
            .read_at(self.place.at + (index * count) as u64, count)?;
        let row = self
            .of
            .array(&self.name, self.place.dtype, &self.place.shape[1..], bytes);
        row.map_err(|e| Error::element(index, e))
    }
}
