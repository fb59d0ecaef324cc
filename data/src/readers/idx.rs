//! Reader of IDX files, the format of MNIST and related datasets.
//!
//! ```
//! use ramie_data::readers::idx;
//! // Two zero bytes, the element type (unsigned bytes) and the number of
//! // dimensions, then the sizes and the elements.
//! let bytes = [0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9];
//! let labels = idx::parse("labels", &bytes)?;
//! assert_eq!(labels.to_vec::<u8>()?, [7, 8, 9]);
//! # Ok::<(), ramie_data::Error>(())
//! ```

use super::file::{damaged, expect_end, name_of, plain, read, read_exactly};
use crate::device::nbytes;
use crate::{HostArray, Result};
use ndarray::{Array1, Array3, Ix1, Ix3};
use ramie_core::DType;
use std::path::Path;

/// Loads the array of an IDX file, which may be compressed with gzip.
///
/// # Errors
/// Returns an error if the file cannot be read or is damaged.
pub fn load(path: impl AsRef<Path>) -> Result<HostArray> {
    let path = path.as_ref();
    parse(&name_of(path), &read(path)?)
}

/// Parses the contents of an IDX file. Errors refer to the file by the name `file`.
///
/// # Errors
/// Returns an error if the contents are damaged.
pub fn parse(file: &str, bytes: &[u8]) -> Result<HostArray> {
    let reader = &mut *plain(bytes);
    let magic = read_exactly(reader, 4, file, "the magic number")?;
    let dtype = match magic[..] {
        [0, 0, 0x08, _] => DType::U8,
        [0, 0, 0x09, _] => DType::I8,
        [0, 0, 0x0b, _] => DType::I16,
        [0, 0, 0x0c, _] => DType::I32,
        [0, 0, 0x0d, _] => DType::F32,
        [0, 0, 0x0e, _] => DType::F64,
        _ => {
            return Err(damaged(
                file,
                format_args!("begins with {magic:02x?}, expected the magic number of an IDX file"),
            ));
        }
    };
    let sizes = read_exactly(reader, 4 * usize::from(magic[3]), file, "the sizes")?;
    let sizes = sizes.chunks_exact(4);
    let shape: Vec<usize> = sizes
        .map(|s| u32::from_be_bytes([s[0], s[1], s[2], s[3]]) as usize)
        .collect();
    let Some(count) = nbytes(dtype, &shape) else {
        return Err(damaged(
            file,
            format_args!("has the shape {shape:?}, which is too large"),
        ));
    };
    let mut elements = read_exactly(reader, count, file, &format!("the elements of {shape:?}"))?;
    expect_end(reader, file, "its elements")?;
    for element in elements.chunks_exact_mut(dtype.size()) {
        element.reverse();
    }
    HostArray::new(dtype, &shape, elements)
}

/// Images and labels of MNIST and related datasets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mnist {
    /// Brightness of each pixel: `[n, rows, columns]`.
    pub images: Array3<u8>,
    /// The class of each image: `[n]`.
    pub labels: Array1<u8>,
}

impl Mnist {
    /// Loads the images and labels of a directory, from the files `train-images-idx3-ubyte` and
    /// `train-labels-idx1-ubyte`, or those of another split such as `t10k`, with or without
    /// `.gz`.
    ///
    /// # Errors
    /// Returns an error if a file is missing or damaged, or if the numbers of images and labels
    /// differ.
    pub fn load(folder: impl AsRef<Path>, split: &str) -> Result<Mnist> {
        let find = |name: String| {
            let path = folder.as_ref().join(&name);
            if path.exists() {
                path
            } else {
                folder.as_ref().join(name + ".gz")
            }
        };
        let images = find(format!("{split}-images-idx3-ubyte"));
        let labels = find(format!("{split}-labels-idx1-ubyte"));
        let of = |path: &Path, what: &str, rank: usize| -> Result<_> {
            let array = load(path)?;
            if (array.dtype(), array.shape().len()) != (DType::U8, rank) {
                let message = format!(
                    "contains {}{:?}, expected {what}: unsigned bytes of {rank} dimensions",
                    array.dtype(),
                    array.shape()
                );
                return Err(damaged(&name_of(path), message));
            }
            array.to_ndarray::<u8>()
        };
        let (x, y) = (of(&images, "images", 3)?, of(&labels, "labels", 1)?);
        let x = x.into_dimensionality::<Ix3>().expect("checked");
        let y = y.into_dimensionality::<Ix1>().expect("checked");
        if x.dim().0 != y.len() {
            let message = format!("has {} labels for {} images", y.len(), x.dim().0);
            return Err(damaged(&name_of(&labels), message));
        }
        Ok(Mnist {
            images: x,
            labels: y,
        })
    }
}

impl crate::IntoSource for Mnist {
    type Source = <(Array3<u8>, Array1<u8>) as crate::IntoSource>::Source;
    fn into_source(self) -> Self::Source {
        (self.images, self.labels).into_source()
    }
}
