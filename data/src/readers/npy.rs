//! NumPy files: `.npy`, an array, and `.npz`, an archive of arrays.
//!
//! ```
//! use ramie_data::{HostArray, readers::npy};
//! let x = HostArray::from(ndarray::array![[1.0f32, 2.0], [3.0, 4.0]].into_dyn());
//! let bytes = npy::to_bytes(&x)?;
//! assert_eq!(npy::parse("x.npy", &bytes)?, x);
//! # Ok::<(), ramie_data::Error>(())
//! ```

use super::file::{damaged, expect_end, name_of, read, read_exactly, rejected};
use crate::device::nbytes;
use crate::{Error, HostArray, Result};
use ramie_core::DType;
use ramie_core::files::{Message, Problem};
use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// The maximum length of a header in bytes. Headers of plain arrays have about a hundred bytes.
const LONGEST_HEADER: usize = 1 << 16;

/// Loads the array of an `.npy` file.
///
/// # Errors
/// Returns an error if the file cannot be read or is damaged, or if no device supports its dtype.
pub fn load(path: impl AsRef<Path>) -> Result<HostArray> {
    let path = path.as_ref();
    parse(&name_of(path), &read(path)?)
}

/// Parses the contents of an `.npy` file. Errors refer to the file by the name `file`.
///
/// # Errors
/// Returns an error if the contents are damaged, or if no device supports the dtype.
pub fn parse(file: &str, mut bytes: &[u8]) -> Result<HostArray> {
    read_array(file, &mut bytes)
}

/// Loads the arrays of an `.npz` file, by name.
///
/// # Errors
/// Returns an error if the file cannot be read or is damaged, or if no device supports an array's
/// dtype.
pub fn load_npz(path: impl AsRef<Path>) -> Result<BTreeMap<String, HostArray>> {
    let path = path.as_ref();
    parse_npz(&name_of(path), &read(path)?)
}

/// Parses the contents of an `.npz` file. Errors refer to the file by the name `file`.
///
/// # Errors
/// Returns an error if the contents are damaged, or if no device supports an array's dtype.
pub fn parse_npz(file: &str, bytes: &[u8]) -> Result<BTreeMap<String, HostArray>> {
    let bad = |e: zip::result::ZipError| damaged(file, format!("is not an archive of arrays: {e}"));
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(bad)?;
    let mut arrays = BTreeMap::new();
    for i in 0..archive.len() {
        let mut entry = archive.by_index(i).map_err(bad)?;
        let name = entry.name().map_err(bad)?.into_owned();
        let inside = format!("{file}, {name}");
        let array = read_array(&inside, &mut entry)?;
        let name = name.strip_suffix(".npy").unwrap_or(&name).to_string();
        if arrays.insert(name, array).is_some() {
            return Err(damaged(&inside, "occurs twice"));
        }
    }
    Ok(arrays)
}

/// Returns the contents of an `.npz` file of these arrays, uncompressed (`np.savez`). Equal arrays give
/// equal bytes.
///
/// ```
/// use ramie_data::{HostArray, readers::npy};
/// use std::collections::BTreeMap;
/// let x = HostArray::from(ndarray::array![1.0f32, 2.0].into_dyn());
/// let arrays = BTreeMap::from([("x".to_string(), x)]);
/// assert_eq!(npy::parse_npz("a.npz", &npy::npz_to_bytes(&arrays)?)?, arrays);
/// # Ok::<(), ramie_data::Error>(())
/// ```
///
/// # Errors
/// Returns an error if NumPy does not have an array's dtype.
#[doc(alias = "savez")]
pub fn npz_to_bytes(arrays: &BTreeMap<String, HostArray>) -> Result<Vec<u8>> {
    let bad = |e: zip::result::ZipError| Error::Other(format!("npz: {e}"));
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::DEFAULT.compression_method(CompressionMethod::Stored);
    for (name, array) in arrays {
        archive
            .start_file(format!("{name}.npy"), stored)
            .map_err(bad)?;
        archive
            .write_all(&to_bytes(array)?)
            .map_err(|e| bad(e.into()))?;
    }
    Ok(archive.finish().map_err(bad)?.into_inner())
}

/// Returns the contents of an `.npy` file of an array.
///
/// # Errors
/// Returns an error if NumPy has no such dtype.
pub fn to_bytes(array: &HostArray) -> Result<Vec<u8>> {
    let Some((descr, _)) = TYPES.iter().find(|(_, dtype)| *dtype == array.dtype()) else {
        return Err(Error::other(format!(
            "NumPy has no dtype {}\n  help: convert the array first",
            array.dtype()
        )));
    };
    let order = if array.dtype().size() == 1 { '|' } else { '<' };
    let shape: String = array.shape().iter().map(|d| format!("{d}, ")).collect();
    let shape = match array.shape() {
        [_] => shape.trim_end().to_string(),
        _ => shape.trim_end_matches(", ").to_string(),
    };
    let mut header =
        format!("{{'descr': '{order}{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    // The elements begin at a multiple of 64 bytes.
    let padding = 64 - (10 + header.len() + 1) % 64;
    header.extend(std::iter::repeat_n(' ', padding % 64));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(array.bytes());
    Ok(bytes)
}

/// NumPy's names of dtypes, without the byte order.
const TYPES: [(&str, DType); 14] = [
    ("b1", DType::Bool),
    ("i1", DType::I8),
    ("i2", DType::I16),
    ("i4", DType::I32),
    ("i8", DType::I64),
    ("u1", DType::U8),
    ("u2", DType::U16),
    ("u4", DType::U32),
    ("u8", DType::U64),
    ("f2", DType::F16),
    ("f4", DType::F32),
    ("f8", DType::F64),
    ("c8", DType::C64),
    ("c16", DType::C128),
];

fn read_array(file: &str, reader: &mut dyn Read) -> Result<HostArray> {
    let magic = read_exactly(reader, 8, file, "the magic number")?;
    if magic[..6] != *b"\x93NUMPY" {
        return Err(damaged(
            file,
            "does not begin with the magic number of NumPy arrays",
        ));
    }
    let length = match magic[6] {
        1 => 2,
        2 | 3 => 4,
        version => {
            let message = format!("has version {version}, expected 1, 2 or 3");
            return Err(damaged(file, message));
        }
    };
    let mut count = [0; 4];
    count[..length].copy_from_slice(&read_exactly(reader, length, file, "the header's length")?);
    let count = u32::from_le_bytes(count) as usize;
    if count > LONGEST_HEADER {
        let message = format!("has a header of {count} bytes, expected {LONGEST_HEADER} at most");
        return Err(damaged(file, message));
    }
    let header = read_exactly(reader, count, file, "the header")?;
    let header = String::from_utf8_lossy(&header);
    let header = Header::parse(&header).map_err(|what| {
        let what = what.of(format_args!("has the header {:?}", header.trim_end()));
        rejected(file, Problem::File(what))
    })?;
    let shape = &header.shape;
    let count = nbytes(header.dtype, shape).filter(|n| *n <= isize::MAX as usize);
    let Some(count) = count else {
        return Err(damaged(
            file,
            format_args!("has the shape {shape:?}, which is too large"),
        ));
    };
    let mut bytes = read_exactly(reader, count, file, &format!("the elements of {shape:?}"))?;
    expect_end(reader, file, "its elements")?;
    if header.big_endian {
        let parts = if header.dtype.is_complex() { 2 } else { 1 };
        for number in bytes.chunks_exact_mut(header.dtype.size() / parts) {
            number.reverse();
        }
    }
    if header.fortran_order {
        bytes = rows_first(&bytes, shape, header.dtype.size());
    }
    HostArray::new(header.dtype, shape, bytes).map_err(|e| damaged(file, e.to_string()))
}

/// Converts elements from column-major to row-major order.
fn rows_first(bytes: &[u8], shape: &[usize], size: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut index = vec![0; shape.len()];
    for _ in 0..bytes.len() / size {
        let place = index
            .iter()
            .zip(shape)
            .rev()
            .fold(0, |at, (i, d)| at * d + i);
        out.extend_from_slice(&bytes[place * size..(place + 1) * size]);
        for (i, d) in index.iter_mut().zip(shape).rev() {
            *i += 1;
            if *i < *d {
                break;
            }
            *i = 0;
        }
    }
    out
}

/// The remedy for arrays of other dtypes.
const CONVERT: &str = "convert the array in NumPy, for example with \
                       `np.save(file, array.astype(\"float32\"))`";

struct Header {
    dtype: DType,
    big_endian: bool,
    fortran_order: bool,
    shape: Vec<usize>,
}

impl Header {
    /// Parses a header, which is a Python dictionary.
    fn parse(text: &str) -> Result<Header, Message> {
        let descr = value_of(text, "descr")?;
        let descr = descr
            .strip_prefix(['\'', '"'])
            .and_then(|d| d.split(['\'', '"']).next());
        let descr = descr.ok_or_else(|| {
            Message::new("the dtype is a record, expected a single number").help(CONVERT)
        })?;
        let order = descr.chars().next().unwrap_or_default();
        let kind = descr.strip_prefix(['<', '>', '|', '=']).unwrap_or(descr);
        let Some((_, dtype)) = TYPES.iter().find(|(name, _)| *name == kind) else {
            let what = format!("no device supports the dtype {descr:?}");
            return Err(Message::new(what).help(CONVERT));
        };
        let fortran_order = match value_of(text, "fortran_order")? {
            order if order.starts_with("False") => false,
            order if order.starts_with("True") => true,
            _ => return Err("fortran_order is neither True nor False".into()),
        };
        let shape = value_of(text, "shape")?;
        let shape = shape.strip_prefix('(').and_then(|s| s.split_once(')'));
        let (shape, _) = shape.ok_or("the shape is not a tuple")?;
        let sizes = shape.split(',').map(str::trim).filter(|s| !s.is_empty());
        let size = |s: &str| {
            s.parse()
                .map_err(|_| format!("the shape has the invalid size {s:?}"))
        };
        Ok(Header {
            dtype: *dtype,
            big_endian: order == '>',
            fortran_order,
            shape: sizes.map(size).collect::<Result<_, String>>()?,
        })
    }
}

/// Returns the text after a key.
fn value_of<'a>(text: &'a str, key: &str) -> Result<&'a str, String> {
    let behind = ['\'', '"'].iter().find_map(|quote| {
        let (_, rest) = text.split_once(&format!("{quote}{key}{quote}"))?;
        rest.trim_start().strip_prefix(':')
    });
    behind
        .map(str::trim_start)
        .ok_or_else(|| format!("it has no {key:?}"))
}
