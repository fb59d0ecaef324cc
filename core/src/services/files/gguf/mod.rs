//! The header of a GGUF file: its metadata, and the names, types, shapes and offsets of its tensors.
//!
//! GGUF is the file format of llama.cpp. One file contains a model's weights, its configuration, its
//! tokenizer and its chat template. Versions 2 and 3 are supported, in little-endian byte order.

mod input;
mod tensor_type;
mod value;

pub use super::Problem;
pub use tensor_type::TensorType;
pub use value::{Value, Values};

use input::Input;
use std::collections::HashSet;
use std::io::Read;

/// The first bytes of every file.
pub const MAGIC: [u8; 4] = *b"GGUF";

/// Key of the alignment of tensors in bytes.
const ALIGNMENT: &str = "general.alignment";
const DEFAULT_ALIGNMENT: u64 = 32;

/// Maximum number of axes of a tensor. Files of llama.cpp have at most 4.
const MOST_AXES: u32 = 8;

/// A tensor with a validated entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Name of the tensor.
    pub name: String,
    /// Storage of its elements.
    pub tensor_type: TensorType,
    /// Shape of the tensor, with the slowest axis first. Files list the fastest axis first.
    pub shape: Vec<usize>,
    /// Offset of the first byte, counted from [`Header::data`].
    pub start: u64,
}

impl Tensor {
    /// Returns the number of elements.
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns the number of bytes in the file.
    pub fn nbytes(&self) -> usize {
        self.size() / self.tensor_type.block_len() * self.tensor_type.block_bytes()
    }
}

/// A header.
#[derive(Clone, Debug)]
pub struct Header {
    /// Version of the format: 2 or 3.
    pub version: u32,
    /// Metadata: values by key, in the order of the file.
    pub metadata: Vec<(String, Value)>,
    /// Tensors in the order of the file.
    pub tensors: Vec<Tensor>,
    /// Offset of the first byte of the tensors, counted from the beginning of the file.
    pub data: u64,
}

impl Header {
    /// Reads the header of a file of `length` bytes from its beginning. The memory that this takes
    /// is at most a small multiple of the length.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or does not start with a header, or if a tensor
    /// has an unknown type, overlaps another one, or lies outside of the file.
    pub fn read(file: impl Read, length: u64) -> Result<Header, Problem> {
        let mut input = Input::new(file, length);
        let version = version(&mut input)?;
        let tensors = input.count(24, &"tensors")?;
        let entries = input.count(13, &"metadata entries")?;
        let mut metadata = Vec::new();
        let mut keys = HashSet::new();
        for _ in 0..entries {
            let key = input.string(&"the key of a metadata entry")?;
            let value = Value::read(&mut input, &key)?;
            if !keys.insert(key.clone()) {
                let message = format!("contains the metadata `{key}` twice");
                return Err(Problem::file(message));
            }
            metadata.push((key, value));
        }
        let mut header = Header {
            version,
            metadata,
            tensors: Vec::new(),
            data: 0,
        };
        let alignment = header.alignment()?;
        for _ in 0..tensors {
            header.tensors.push(tensor(&mut input)?);
        }
        header.data = input.position().next_multiple_of(alignment);
        header.check(alignment, length.saturating_sub(header.data))?;
        Ok(header)
    }

    /// Returns the metadata with a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let mut all = self.metadata.iter();
        all.find(|(name, _)| name == key).map(|(_, value)| value)
    }

    fn alignment(&self) -> Result<u64, Problem> {
        let Some(value) = self.get(ALIGNMENT) else {
            return Ok(DEFAULT_ALIGNMENT);
        };
        let valid = |n: &u64| n.is_power_of_two() && *n <= 1 << 30;
        value.as_u64().filter(valid).ok_or_else(|| {
            let message = format!("has `{ALIGNMENT}` {value}, expected a power of two");
            Problem::file(message)
        })
    }

    /// Checks that names are unique, and that tensors are aligned, inside of the file's `available`
    /// bytes, and do not overlap.
    fn check(&self, alignment: u64, available: u64) -> Result<(), Problem> {
        let mut names = HashSet::new();
        let mut ranges = Vec::with_capacity(self.tensors.len());
        for tensor in &self.tensors {
            let wrong = |message: String| Err(Problem::tensor(tensor.name.clone(), message));
            if !names.insert(&tensor.name) {
                return wrong("occurs twice".to_owned());
            }
            let (start, bytes) = (tensor.start, tensor.nbytes() as u64);
            if !start.is_multiple_of(alignment) {
                return wrong(format!(
                    "starts at byte {start}, which is not a multiple of {alignment}; the file is \
                     damaged"
                ));
            }
            match start.checked_add(bytes) {
                Some(end) if end <= available => ranges.push((start, end, &tensor.name)),
                _ => {
                    return wrong(format!(
                        "has {bytes} bytes at byte {start} of the tensors, which have only \
                         {available} bytes; the file is damaged or truncated"
                    ));
                }
            }
        }
        ranges.sort();
        for pair in ranges.windows(2) {
            let ((_, end, first), (start, _, second)) = (pair[0], pair[1]);
            if start < end {
                let message = format!("overlaps the tensor `{first}`; the file is damaged");
                return Err(Problem::tensor(second.clone(), message));
            }
        }
        Ok(())
    }
}

fn version<R: Read>(input: &mut Input<R>) -> Result<u32, Problem> {
    let magic: [u8; 4] = input.array(&"the magic number")?;
    if magic != MAGIC {
        let shown = magic.escape_ascii();
        let message = format!("starts with `{shown}`, expected `GGUF`");
        return Err(Problem::file(message));
    }
    let version = u32::from_le_bytes(input.array(&"the version")?);
    let other = match version {
        2 | 3 => return Ok(version),
        1 => "has version 1 of the format, expected 2 or 3".to_owned(),
        _ if (1..=3).contains(&version.swap_bytes()) => {
            "is in big-endian byte order, which is not \
             supported; convert the file to little-endian"
                .to_owned()
        }
        _ => format!("has version {version} of the format, expected 2 or 3"),
    };
    Err(Problem::file(other))
}

/// Reads the entry of a tensor.
fn tensor<R: Read>(input: &mut Input<R>) -> Result<Tensor, Problem> {
    let name = input.string(&"the name of a tensor")?;
    let wrong = |message: String| Problem::tensor(name.clone(), message);
    let what = format_args!("the entry of the tensor `{name}`");
    let axes = u32::from_le_bytes(input.array(&what)?);
    if axes > MOST_AXES {
        return Err(wrong(format!(
            "has {axes} axes, expected at most {MOST_AXES}"
        )));
    }
    let mut sizes = Vec::new();
    for _ in 0..axes {
        sizes.push(u64::from_le_bytes(input.array(&what)?));
    }
    let id = u32::from_le_bytes(input.array(&what)?);
    let start = u64::from_le_bytes(input.array(&what)?);
    let tensor_type = TensorType::from_id(id)
        .ok_or_else(|| wrong(format!("has type {id}, which is not a type of the format")))?;
    let (block, row) = (tensor_type.block_len(), sizes.first().copied().unwrap_or(1));
    if !row.is_multiple_of(block as u64) {
        return Err(wrong(format!(
            "has rows of {row} elements, but {tensor_type} stores blocks of {block}; the file is \
             damaged"
        )));
    }
    let shape = sizes.iter().rev().map(|&n| usize::try_from(n).ok());
    let shape: Option<Vec<usize>> = shape.collect();
    // No element of an array takes more than eight bytes.
    let bytes = |shape: &Vec<usize>| shape.iter().try_fold(8usize, |n, &d| n.checked_mul(d));
    let shape = shape.filter(|shape| bytes(shape).is_some_and(|n| isize::try_from(n).is_ok()));
    let shape =
        shape.ok_or_else(|| wrong(format!("has the sizes {sizes:?}, which are too large")))?;
    Ok(Tensor {
        name,
        tensor_type,
        shape,
        start,
    })
}
