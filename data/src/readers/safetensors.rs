//! Reader of safetensors files, one array at a time.

use super::file::{Positioned, bad_file, damaged, missing, rejected};
use crate::source::check;
use crate::{Error, HostArray, Result, Source};
use ramie_core::DType;
use ramie_core::files::Message;
use ramie_core::files::safetensors::{Header, Tensor};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A safetensors file whose arrays are read on access.
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

impl Safetensors {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, if its header is damaged, if arrays overlap
    /// or leave gaps, or if no device supports an array's dtype.
    pub fn open(path: impl AsRef<Path>) -> Result<Safetensors> {
        let file = Positioned::open(path.as_ref())?;
        let bad = |problem| rejected(file.name(), problem);
        let (header, data) = Header::read(file.start(), file.len()).map_err(bad)?;
        let tensors = header.tensors(file.len() - data).map_err(bad)?;
        let place = |tensor: Tensor| {
            let (at, len) = (data + tensor.start, tensor.nbytes());
            let place = Place {
                dtype: tensor.dtype,
                shape: tensor.shape,
                at,
                len,
            };
            (tensor.name, place)
        };
        let arrays = tensors.into_iter().map(place).collect();
        Ok(Safetensors {
            file: Arc::new(file),
            arrays,
        })
    }

    /// Returns the names of the arrays.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.arrays.keys().map(String::as_str)
    }

    fn place(&self, name: &str) -> Result<&Place> {
        let place = self.arrays.get(name);
        place.ok_or_else(|| missing(self.file.name(), "array", name, self.names()))
    }

    /// Returns the shape of an array.
    ///
    /// # Errors
    /// Returns an error if there is no such array.
    pub fn shape(&self, name: &str) -> Result<&[usize]> {
        Ok(&self.place(name)?.shape)
    }

    /// Reads an array.
    ///
    /// # Errors
    /// Returns an error if there is no such array, or if it cannot be read.
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
            .map_err(|e| damaged(self.file.name(), format_args!("array {name:?}: {e}")))
    }

    /// Returns a source of the rows of an array, which reads each row on access.
    ///
    /// # Errors
    /// Returns an error if there is no such array, or if it has no dimensions.
    pub fn rows(&self, name: &str) -> Result<Rows> {
        let place = self.place(name)?.clone();
        if place.shape.is_empty() {
            return Err(bad_file(
                self.file.name(),
                Message::new(format!(
                    "array {name:?} has no dimensions, so it has no rows"
                ))
                .help("use `get` to read it"),
            ));
        }
        Ok(Rows {
            of: self.clone(),
            name: name.into(),
            place,
        })
    }
}

/// A source of the rows of an array in a file; see [`Safetensors::rows`].
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
