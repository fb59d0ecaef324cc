//! Tensors of a file, whose elements are read on request.

use super::message::entry;
use super::wire::{Reader, Result, Value};
use ramie_core::files::{self, Message, Problem};
use ramie_core::typing::AlignedBytes;
use ramie_core::{Array, DType};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// A `TensorProto`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tensor {
    pub name: String,
    pub data_type: i64,
    pub shape: Vec<usize>,
    elements: Elements,
}

/// Location of the elements of a tensor.
#[derive(Clone, Debug, Default)]
enum Elements {
    #[default]
    None,
    /// Bytes of the file.
    Raw(Range<u64>),
    /// Numbers that the file stores one by one, such as `int32_data`.
    Numbers(Vec<u64>),
    /// Bytes of another file beside this one.
    External(External),
    /// Strings.
    Texts,
}

/// A part of another file.
#[derive(Clone, Debug)]
struct External {
    location: String,
    offset: u64,
    length: Option<u64>,
}

/// The bytes of a model.
#[derive(Debug)]
pub(crate) enum Store {
    File { file: File, path: PathBuf },
    Bytes(Arc<[u8]>),
}

/// The element types of ONNX that Ramie has, by number.
const DTYPES: [(i64, DType); 25] = [
    (1, DType::F32),
    (2, DType::U8),
    (3, DType::I8),
    (4, DType::U16),
    (5, DType::I16),
    (6, DType::I32),
    (7, DType::I64),
    (9, DType::Bool),
    (10, DType::F16),
    (11, DType::F64),
    (12, DType::U32),
    (13, DType::U64),
    (14, DType::C64),
    (15, DType::C128),
    (16, DType::BF16),
    (17, DType::F8E4M3Fn),
    (18, DType::F8E4M3Fnuz),
    (19, DType::F8E5M2),
    (20, DType::F8E5M2Fnuz),
    (21, DType::U4),
    (22, DType::I4),
    (23, DType::F4E2M1Fn),
    (24, DType::F8E8M0Fnu),
    (25, DType::U2),
    (26, DType::I2),
];

/// Returns the dtype with a number in ONNX, or `None` if Ramie does not have it.
pub(crate) fn dtype_of(number: i64) -> Option<DType> {
    let found = DTYPES.iter().find(|(n, _)| *n == number);
    found.map(|(_, dtype)| *dtype)
}

/// Returns the name of an element type.
pub(crate) fn data_type_name(number: i64) -> Cow<'static, str> {
    match (number, dtype_of(number)) {
        (_, Some(dtype)) => dtype.name().into(),
        (8, _) => "string".into(),
        _ => format!("type {number}").into(),
    }
}

impl Tensor {
    /// Reads a file that is one `TensorProto`.
    pub fn of_bytes(bytes: &[u8]) -> Result<Tensor> {
        Tensor::message(&mut Reader::new(io::Cursor::new(bytes)), bytes.len() as u64)
    }

    /// Reads a `TensorProto` without its elements.
    pub(super) fn message<R: Read + Seek>(r: &mut Reader<R>, end: u64) -> Result<Tensor> {
        let mut tensor = Tensor::default();
        let (mut dims, mut numbers, mut external) = (Vec::new(), Vec::new(), Vec::new());
        let (mut raw, mut is_external, mut texts) = (Vec::new(), false, false);
        r.message(end, |r, field, value| {
            match (field, value) {
                (1, value) => r.numbers(value, &mut dims)?,
                (2, Value::Number(number)) => tensor.data_type = number.cast_signed(),
                // `float_data`, `raw_data` and `double_data` have the layout of arrays.
                (4 | 9 | 10, Value::Bytes(end)) if end > r.at() => raw.push(r.at()..end),
                (4, Value::Bytes(_)) | (9 | 10, Value::Bytes(_)) => {}
                (4 | 5 | 7 | 10 | 11, value) => r.numbers(value, &mut numbers)?,
                (6, _) => texts = true,
                (8, Value::Bytes(end)) => tensor.name = r.text(end)?,
                (13, Value::Bytes(end)) => external.push(entry(r, end)?),
                (14, Value::Number(location)) => is_external = location == 1,
                _ => {}
            }
            Ok(())
        })?;
        let shape: Option<Vec<usize>> = dims.iter().map(|d| usize::try_from(*d).ok()).collect();
        let Some(shape) = shape else {
            return Err(tensor.problem("has a size that is not in the range of sizes"));
        };
        tensor.shape = shape;
        tensor.elements = match (is_external, &raw[..], numbers.is_empty()) {
            (true, ..) => Elements::External(tensor.external(external)?),
            (false, [], true) if texts => Elements::Texts,
            (false, [], true) => Elements::None,
            (false, [], false) => Elements::Numbers(numbers),
            (false, [range], true) => Elements::Raw(range.clone()),
            _ => return Err(tensor.problem("stores its elements in several parts")),
        };
        tensor.check()?;
        Ok(tensor)
    }

    /// Returns the dtype of the elements.
    pub fn dtype(&self) -> Result<DType> {
        let dtype = dtype_of(self.data_type);
        dtype.ok_or_else(|| {
            self.problem(
                Message::new(format!(
                    "has elements of {}, which Ramie does not have",
                    data_type_name(self.data_type)
                ))
                .help("export the model without this tensor"),
            )
        })
    }

    fn problem(&self, message: impl Into<Message>) -> Problem {
        Problem::tensor(self.name.clone(), message)
    }

    /// Returns the location of the elements in another file.
    fn external(&self, entries: Vec<(String, String)>) -> Result<External> {
        let get = |key: &str| entries.iter().find(|(k, _)| k == key).map(|(_, v)| v);
        let number = |key: &str| match get(key).map(|text| text.parse::<u64>()) {
            None => Ok(None),
            Some(Ok(number)) => Ok(Some(number)),
            Some(Err(_)) => {
                Err(self.problem(format!("has an external `{key}` that is not a number")))
            }
        };
        let Some(location) = get("location") else {
            return Err(self.problem("is in another file, but has no `location`"));
        };
        let inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if location.is_empty() || !Path::new(location).components().all(inside) {
            return Err(self.problem(
                Message::new(format!(
                    "is in `{location}`, which is not below the folder of the model"
                ))
                .help(
                    "files are only read from this folder; save the model with its data beside it",
                ),
            ));
        }
        Ok(External {
            location: location.clone(),
            offset: number("offset")?.unwrap_or(0),
            length: number("length")?,
        })
    }

    /// Returns the number of elements, and that of bytes in the file.
    fn sizes(&self) -> Option<(usize, u64)> {
        // Arrays without elements must be addressable, too.
        let mut sizes = self.shape.iter();
        let most = sizes.try_fold(16usize, |n, d| n.checked_mul((*d).max(1)))?;
        isize::try_from(most).ok()?;
        let size: usize = self.shape.iter().product();
        let bits = dtype_of(self.data_type).map_or(8, DType::bits);
        Some((size, (size as u64 * bits as u64).div_ceil(8)))
    }

    /// Returns an error unless the file has as many elements as the shape.
    fn check(&self) -> Result<()> {
        let shape = &self.shape;
        let Some((size, bytes)) = self.sizes() else {
            return Err(self.problem(format!("has the shape {shape:?}, which is too large")));
        };
        let (found, expected) = match &self.elements {
            Elements::None => (0, size as u64),
            Elements::Raw(range) => (range.end - range.start, bytes),
            // A number is a byte with several elements.
            Elements::Numbers(numbers)
                if dtype_of(self.data_type).is_some_and(|dtype| dtype.bits() < 8) =>
            {
                (numbers.len() as u64, bytes)
            }
            // A complex number is two numbers.
            Elements::Numbers(numbers) if self.data_type == 14 || self.data_type == 15 => {
                (numbers.len() as u64, 2 * size as u64)
            }
            Elements::Numbers(numbers) => (numbers.len() as u64, size as u64),
            Elements::External(External { length, .. }) => (length.unwrap_or(bytes), bytes),
            Elements::Texts => return Ok(()),
        };
        if found == expected {
            return Ok(());
        }
        Err(self.problem(
            Message::new(format!(
                "has the type {}{shape:?}, which takes {expected} bytes or numbers, but the \
                file has {found}",
                data_type_name(self.data_type)
            ))
            .help("the file is damaged; copy or export it again"),
        ))
    }

    /// Reads the elements, one after the other and each in [`DType::size`] bytes.
    pub fn read(&self, store: &Store) -> Result<AlignedBytes> {
        let dtype = self.dtype()?;
        let Some((size, stored)) = self.sizes() else {
            return Err(self.problem("has too many elements"));
        };
        // Memory is only allocated for bytes that exist.
        let other = match &self.elements {
            Elements::External(external) => Some((self.open(store, external, stored)?, external)),
            _ => None,
        };
        let mut bytes = AlignedBytes::zeroed(size * dtype.size());
        let packed = stored as usize;
        match (&self.elements, other) {
            (_, Some((file, external))) => {
                files::read_exact_at(&file, &mut bytes[..packed], external.offset)
                    .map_err(Problem::Io)?;
            }
            (Elements::Raw(range), _) => {
                store
                    .read_at(&mut bytes[..packed], range.start)
                    .map_err(Problem::Io)?;
            }
            (Elements::Numbers(numbers), _) => {
                let width = if dtype.bits() < 8 {
                    1
                } else {
                    bytes.len() / numbers.len().max(1)
                };
                for (number, bytes) in numbers.iter().zip(bytes.chunks_exact_mut(width)) {
                    bytes.copy_from_slice(&number.to_le_bytes()[..width]);
                }
            }
            _ => {}
        }
        unpack(&mut bytes, dtype, size);
        Ok(bytes)
    }

    /// Opens the file with the elements, which must have as many bytes.
    fn open(&self, store: &Store, external: &External, stored: u64) -> Result<File> {
        let Some(path) = store.path() else {
            return Err(self.problem(
                Message::new(format!(
                    "is in another file, `{}`, but the model was read from bytes",
                    external.location
                ))
                .help("open the model by its path"),
            ));
        };
        let path = path.with_file_name(&external.location);
        let opened = files::open(&path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (length, file) = opened.map_err(|e| {
            self.problem(
                Message::new(format!("cannot be read from {}: {e}", path.display()))
                    .help("this file belongs to the model; put it into the same folder"),
            )
        })?;
        let end = external.offset.checked_add(stored);
        if end.is_some_and(|end| end <= length) {
            return Ok(file);
        }
        Err(self.problem(
            Message::new(format!(
                "is at byte {} of {} and has {stored} bytes, but the file has {length}",
                external.offset,
                path.display()
            ))
            .help("the file is damaged or truncated; copy it again"),
        ))
    }

    /// Reads the tensor onto the default device.
    pub fn array(&self, store: &Store) -> Result<Array> {
        let (bytes, dtype) = (self.read(store)?, self.dtype()?);
        Array::try_from_aligned(bytes, &self.shape, dtype).map_err(|e| self.problem(e.to_string()))
    }
}

/// Spreads elements of less than a byte, which are at the start of `bytes`, over a byte each.
fn unpack(bytes: &mut [u8], dtype: DType, size: usize) {
    let bits = dtype.bits();
    if bits >= 8 {
        return;
    }
    let each = 8 / bits;
    for i in (0..size).rev() {
        let element = bytes[i / each] >> (i % each * bits) & ((1 << bits) - 1);
        let shift = 8 - bits;
        bytes[i] = if dtype.is_signed() && dtype.is_integer() {
            ((element << shift).cast_signed() >> shift).cast_unsigned()
        } else {
            element
        };
    }
}

impl Store {
    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Store::File { file, .. } => files::read_exact_at(file, out, offset),
            Store::Bytes(bytes) => {
                // The range was checked when the model was read.
                let offset = offset as usize;
                out.copy_from_slice(&bytes[offset..offset + out.len()]);
                Ok(())
            }
        }
    }

    /// Returns the path of the model's file.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Store::File { path, .. } => Some(path),
            Store::Bytes(_) => None,
        }
    }
}
