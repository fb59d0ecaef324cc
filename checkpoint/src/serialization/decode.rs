//! Decoding of state dicts from msgpack.
//!
//! Memory is bounded by the number of bytes. Elements of arrays are not copied until everything
//! has been parsed. A part takes at least one byte, but several dozen in memory; input whose parts
//! would take more than a multiple of its size is rejected.

use super::StateDict;
use super::array::{CHUNKED, Encoded, MAX_AXES, Stored, code, dtype};
use crate::size::check_shape;
use crate::{Error, Result};
use ramie_core::dtypes::Scalar;
use rmp::Marker;
use std::borrow::Cow;
use std::collections::HashSet;

/// Restores the state dict that [`msgpack_serialize`](super::msgpack_serialize), or Flax's
/// function of that name, wrote (`flax.serialization.msgpack_restore`).
///
/// Arrays are placed on the default device. Integer keys become strings, since state dicts have
/// string keys.
///
/// # Errors
/// Returns an error if the bytes are not a single complete msgpack value, or if they contain
/// extension types other than Flax's or dtypes that Ramie does not support. Also returns an error
/// if there is no working plugin.
pub fn msgpack_restore(bytes: &[u8]) -> Result<StateDict> {
    load(parse(bytes)?, &mut Vec::new())
}

/// A part whose array elements are still in the encoded bytes.
type Part<'a> = StateDict<Box<Encoded<'a>>>;

/// Places the arrays of a parsed state dict on the default device.
fn load(dict: Part<'_>, path: &mut Vec<String>) -> Result<StateDict> {
    let array = |a: &Encoded<'_>, path: &[String]| {
        let failed = |message| Error::state_dict(&path.join("."), message);
        a.load().map_err(failed)
    };
    let mut below = |name: String, part| {
        path.push(name.clone());
        let part = load(part, path)?;
        path.pop();
        Ok((name, part))
    };
    Ok(match dict {
        StateDict::Dict(parts) => {
            let parts = parts.into_iter().map(|(name, part)| below(name, part));
            StateDict::Dict(parts.collect::<Result<_>>()?)
        }
        StateDict::List(parts) => {
            let parts = parts.into_iter().enumerate();
            let parts = parts.map(|(i, part)| Ok(below(i.to_string(), part)?.1));
            StateDict::List(parts.collect::<Result<_>>()?)
        }
        StateDict::Array(a) => StateDict::Array(array(&a, path)?),
        StateDict::NumpyScalar(a) => StateDict::NumpyScalar(array(&a, path)?),
        StateDict::Number(n) => StateDict::Number(n),
        StateDict::Str(s) => StateDict::Str(s),
        StateDict::Bytes(b) => StateDict::Bytes(b),
        StateDict::None => StateDict::None,
    })
}

/// Parses a state dict without copying the elements of arrays.
pub(super) fn parse(bytes: &[u8]) -> Result<Part<'_>> {
    let mut parser = Parser {
        all: bytes.len(),
        rest: bytes,
        path: Vec::new(),
        help: DAMAGED,
        room: ROOM.saturating_add(bytes.len().saturating_mul(ROOM_PER_BYTE)),
    };
    let dict = parser.part().and_then(|dict| match parser.rest.len() {
        0 => Ok(dict),
        more => Err(format!("{more} bytes follow the end of the value")),
    });
    dict.map_err(|message| {
        let at = parser.all - parser.rest.len();
        Error::state_dict(
            &parser.path.join("."),
            format!("{message} (byte {at})\n  help: {}", parser.help),
        )
    })
}

/// Help for bytes that cannot be decoded.
const DAMAGED: &str = "`flax.serialization` did not write these bytes, or they were damaged or \
                       truncated; copy the file again, or use an older checkpoint";

/// Maximum nesting depth of parts.
const DEEPEST: usize = 256;

/// Bytes of memory that parts may take regardless of the input size.
const ROOM: usize = 64 << 20;

/// Bytes of memory that parts may take per input byte.
const ROOM_PER_BYTE: usize = 8;

/// Approximate overhead of a small allocation or of an entry in a set.
const OVERHEAD: usize = 32;

struct Parser<'a> {
    all: usize,
    rest: &'a [u8],
    /// Names on the path to the current part.
    path: Vec<String>,
    /// Help to print if there is an error.
    help: &'static str,
    /// Bytes of memory that parts may still take.
    room: usize,
}

type Parsed<T> = std::result::Result<T, String>;

impl<'a> Parser<'a> {
    fn take(&mut self, length: usize) -> Parsed<&'a [u8]> {
        let Some((start, rest)) = self.rest.split_at_checked(length) else {
            return Err(format!(
                "expected {length} more bytes, got {}",
                self.rest.len()
            ));
        };
        self.rest = rest;
        Ok(start)
    }

    fn bytes<const N: usize>(&mut self) -> Parsed<[u8; N]> {
        let bytes = self.take(N)?;
        Ok(bytes.try_into().expect("as many bytes as were taken"))
    }

    /// Reads a length of `width` bytes.
    fn length(&mut self, width: usize) -> Parsed<usize> {
        let bytes = self.take(width)?;
        Ok(bytes.iter().fold(0, |n, b| n << 8 | usize::from(*b)))
    }

    fn marker(&mut self) -> Parsed<Marker> {
        Ok(Marker::from_u8(self.bytes::<1>()?[0]))
    }

    /// Reserves memory from the budget before it is allocated.
    fn take_room(&mut self, bytes: usize) -> Parsed<()> {
        match self.room.checked_sub(bytes) {
            Some(room) => {
                self.room = room;
                Ok(())
            }
            None => {
                self.help = "`flax.serialization` did not write these bytes; save many numbers as \
                             one array, not as a list";
                Err(format!(
                    "{} bytes contain so many small parts that they take more than {ROOM_PER_BYTE} \
                     times as much memory",
                    self.all
                ))
            }
        }
    }

    /// Returns an empty list with capacity for `length` parts, limited by the bytes left.
    fn parts<T>(&mut self, length: usize) -> Parsed<Vec<T>> {
        // A part takes at least one byte.
        let length = length.min(self.rest.len());
        self.take_room(
            length
                .saturating_mul(size_of::<T>())
                .saturating_add(OVERHEAD),
        )?;
        Ok(Vec::with_capacity(length))
    }

    fn part(&mut self) -> Parsed<Part<'a>> {
        let marker = self.marker()?;
        let number = |n| Ok(StateDict::Number(n));
        match marker {
            Marker::Null => Ok(StateDict::None),
            Marker::True => number(Scalar::Bool(true)),
            Marker::False => number(Scalar::Bool(false)),
            Marker::FixMap(n) => self.dict(n.into()),
            Marker::Map16 | Marker::Map32 => {
                let length = self.length(if marker == Marker::Map16 { 2 } else { 4 })?;
                self.dict(length)
            }
            Marker::FixArray(_) | Marker::Array16 | Marker::Array32 => {
                let length = self.list_length(marker)?;
                self.list(length)
            }
            Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => {
                let bytes = self.binary(marker)?;
                self.take_room(bytes.len() + OVERHEAD)?;
                Ok(StateDict::Bytes(bytes.to_vec()))
            }
            Marker::FixExt1 => self.extension(1),
            Marker::FixExt2 => self.extension(2),
            Marker::FixExt4 => self.extension(4),
            Marker::FixExt8 => self.extension(8),
            Marker::FixExt16 => self.extension(16),
            Marker::Ext8 | Marker::Ext16 | Marker::Ext32 => {
                let length = self.length(match marker {
                    Marker::Ext8 => 1,
                    Marker::Ext16 => 2,
                    _ => 4,
                })?;
                self.extension(length)
            }
            Marker::Reserved => Err("0xc1 is not a msgpack value".into()),
            other => match self.number(other)? {
                Some(n) => number(n),
                None => {
                    let text = self.text(other)?;
                    self.take_room(text.len() + OVERHEAD)?;
                    Ok(StateDict::Str(text.to_owned()))
                }
            },
        }
    }

    /// Reads the number after a marker, if the marker is that of an integer or a float.
    fn number(&mut self, marker: Marker) -> Parsed<Option<Scalar>> {
        Ok(Some(match marker {
            Marker::F32 => Scalar::Float(f32::from_be_bytes(self.bytes()?).into()),
            Marker::F64 => Scalar::Float(f64::from_be_bytes(self.bytes()?)),
            other => return self.integer(other),
        }))
    }

    /// Reads the integer after a marker, if the marker is that of an integer.
    fn integer(&mut self, marker: Marker) -> Parsed<Option<Scalar>> {
        Ok(Some(match marker {
            Marker::FixPos(n) => Scalar::Int(n.into()),
            Marker::FixNeg(n) => Scalar::Int(n.into()),
            Marker::U8 => Scalar::Int(u8::from_be_bytes(self.bytes()?).into()),
            Marker::U16 => Scalar::Int(u16::from_be_bytes(self.bytes()?).into()),
            Marker::U32 => Scalar::Int(u32::from_be_bytes(self.bytes()?).into()),
            Marker::U64 => {
                let n = u64::from_be_bytes(self.bytes()?);
                // `Uint` is only for numbers that `Int` cannot represent; `dimension` relies on it.
                i64::try_from(n).map_or(Scalar::Uint(n), Scalar::Int)
            }
            Marker::I8 => Scalar::Int(i8::from_be_bytes(self.bytes()?).into()),
            Marker::I16 => Scalar::Int(i16::from_be_bytes(self.bytes()?).into()),
            Marker::I32 => Scalar::Int(i32::from_be_bytes(self.bytes()?).into()),
            Marker::I64 => Scalar::Int(i64::from_be_bytes(self.bytes()?)),
            _ => return Ok(None),
        }))
    }

    /// Reads the string after a marker.
    fn text(&mut self, marker: Marker) -> Parsed<&'a str> {
        let length = match marker {
            Marker::FixStr(n) => n.into(),
            Marker::Str8 => self.length(1)?,
            Marker::Str16 => self.length(2)?,
            Marker::Str32 => self.length(4)?,
            other => return Err(format!("expected a string, got {other:?}")),
        };
        utf8(self.take(length)?)
    }

    /// Reads the bytes after a marker.
    fn binary(&mut self, marker: Marker) -> Parsed<&'a [u8]> {
        let length = match marker {
            Marker::Bin8 => self.length(1)?,
            Marker::Bin16 => self.length(2)?,
            Marker::Bin32 => self.length(4)?,
            other => return Err(format!("expected the bytes of an array, got {other:?}")),
        };
        self.take(length)
    }

    fn check_depth(&self) -> Parsed<()> {
        if self.path.len() < DEEPEST {
            return Ok(());
        }
        Err(format!("parts are nested more than {DEEPEST} deep"))
    }

    fn list(&mut self, length: usize) -> Parsed<Part<'a>> {
        self.check_depth()?;
        let mut parts = self.parts(length)?;
        for i in 0..length {
            self.path.push(i.to_string());
            // After an error the index stays on the path, which `parse` puts into the message.
            parts.push(self.part()?);
            self.path.pop();
        }
        Ok(StateDict::List(parts))
    }

    fn dict(&mut self, length: usize) -> Parsed<Part<'a>> {
        self.check_depth()?;
        let mut parts = self.parts(length)?;
        let mut names = HashSet::new();
        for _ in 0..length {
            let marker = self.marker()?;
            let name = match self.integer(marker)? {
                Some(Scalar::Uint(n)) => Cow::Owned(n.to_string()),
                Some(Scalar::Int(n)) => Cow::Owned(n.to_string()),
                _ => Cow::Borrowed(self.text(marker)?),
            };
            // The bytes of the name, its allocation, and its entry in `names`.
            self.take_room(name.len() + 2 * OVERHEAD)?;
            if !names.insert(name.clone()) {
                return Err(format!("the name `{name}` occurs twice"));
            }
            self.path.push(name.clone().into_owned());
            let part = self.part()?;
            self.path.pop();
            parts.push((name.into_owned(), part));
        }
        // Flax marks a chunked array by this key alone, whatever its value.
        if names.contains(CHUNKED) {
            return joined(&parts).map(|array| StateDict::Array(Box::new(array)));
        }
        Ok(StateDict::Dict(parts))
    }

    fn extension(&mut self, length: usize) -> Parsed<Part<'a>> {
        let code = i8::from_be_bytes(self.bytes()?);
        let content = self.take(length)?;
        // A parser of its own cannot read beyond the end of the extension.
        let mut inner = Parser {
            all: content.len(),
            rest: content,
            path: Vec::new(),
            help: DAMAGED,
            room: self.room,
        };
        let part = match code {
            code::NDARRAY => inner.array().map(|array| StateDict::Array(Box::new(array))),
            code::NPSCALAR => inner.array().map(|a| StateDict::NumpyScalar(Box::new(a))),
            code::NATIVE_COMPLEX => inner.complex().map(StateDict::Number),
            other => Err(format!(
                "unknown extension type {other}; Flax writes 1, 2 and 3"
            )),
        };
        // The memory budget is that of the whole input, whichever parser spends it.
        (self.help, self.room) = (inner.help, inner.room);
        let part = part?;
        match inner.rest.len() {
            0 => Ok(part),
            more => Err(format!("{more} bytes follow the end of an array or number")),
        }
    }

    /// Reads the length of the list after a marker.
    fn list_length(&mut self, marker: Marker) -> Parsed<usize> {
        match marker {
            Marker::FixArray(n) => Ok(n.into()),
            Marker::Array16 => self.length(2),
            Marker::Array32 => self.length(4),
            other => Err(format!("expected a list, got {other:?}")),
        }
    }

    fn complex(&mut self) -> Parsed<Scalar> {
        let marker = self.marker()?;
        let length = self.list_length(marker)?;
        if length != 2 {
            return Err(format!("a complex number has two parts, got {length}"));
        }
        // Only numbers are parsed: an extension in an extension would start again at depth 0.
        let mut part = || {
            let marker = self.marker()?;
            match self.number(marker)? {
                Some(n) => Ok(n.to_f64()),
                None => Err(format!(
                    "expected a part of a complex number, got {marker:?}"
                )),
            }
        };
        Ok(Scalar::Complex(part()?, part()?))
    }

    /// Reads an array: shape, name of the dtype, and bytes.
    fn array(&mut self) -> Parsed<Encoded<'a>> {
        let marker = self.marker()?;
        let length = self.list_length(marker)?;
        if length != 3 {
            return Err(format!(
                "expected the shape, dtype and bytes of an array, got {length} parts"
            ));
        }
        let marker = self.marker()?;
        let axes = self.list_length(marker)?;
        check_axes(axes)?;
        self.take_room(size_of::<Encoded<'_>>() + 8 * axes + 4 * OVERHEAD)?;
        let mut shape = Vec::with_capacity(axes);
        for _ in 0..axes {
            let marker = self.marker()?;
            match self.integer(marker)? {
                Some(n) => shape.push(dimension(n)?),
                None => return Err(format!("expected a dimension, got {marker:?}")),
            }
        }
        let marker = self.marker()?;
        let name = match marker {
            // Python's packer can be configured to write the name as bytes.
            Marker::Bin8 => utf8(self.binary(marker)?)?,
            other => self.text(other)?,
        };
        let Some(dtype) = dtype(name) else {
            self.help = "convert the array to another dtype, such as float32, before saving it";
            return Err(format!(
                "has the dtype `{name}`, which Ramie does not support"
            ));
        };
        let marker = self.marker()?;
        let bytes = self.binary(marker)?;
        check_size(&shape, dtype.size(), bytes.len(), name)?;
        Ok(Encoded {
            shape,
            dtype,
            pieces: vec![bytes],
        })
    }
}

fn utf8(text: &[u8]) -> Parsed<&str> {
    std::str::from_utf8(text).map_err(|e| format!("a string is not UTF-8: {e}"))
}

fn check_axes(axes: usize) -> Parsed<()> {
    if axes <= MAX_AXES {
        return Ok(());
    }
    Err(format!(
        "has {axes} axes, but NumPy arrays have at most {MAX_AXES}"
    ))
}

fn dimension(n: Scalar) -> Parsed<usize> {
    match n {
        Scalar::Int(n) => usize::try_from(n).map_err(|_| format!("{n} is not a dimension")),
        other => Err(format!("{other:?} is not a dimension")),
    }
}

/// Checks that an array of this shape has `length` bytes and that the product of its dimensions
/// does not overflow in any order.
fn check_size(shape: &[usize], size: usize, length: usize, name: &str) -> Parsed<()> {
    // Skip sizes of 0, which would hide an overflow of the product of the others.
    let mut dimensions = shape.iter().filter(|&&d| d > 0);
    let bound = dimensions.try_fold(size, |n, &d| n.checked_mul(d));
    let expected = match bound {
        Some(_) if shape.contains(&0) => Some(0),
        bound => bound,
    };
    if bound.is_some_and(|n| isize::try_from(n).is_ok()) && expected == Some(length) {
        return check_shape(shape);
    }
    Err(format!("{length} bytes do not match {name}{shape:?}"))
}

/// Joins the chunks of a chunked array's dictionary.
fn joined<'a>(parts: &[(String, Part<'a>)]) -> Parsed<Encoded<'a>> {
    // Returns the parts of the dictionary of this name, whose keys are "0", "1", ….
    let numbered = |name: &str| {
        let part = parts.iter().find(|(n, _)| n == name).map(|(_, part)| part);
        let Some(StateDict::Dict(parts)) = part else {
            return Err(format!("a chunked array has no dictionary `{name}`"));
        };
        // There are as many parts as slots, so if all slots are filled, each index occurs once.
        let mut sorted: Vec<Option<&Part<'a>>> = vec![None; parts.len()];
        for (name, part) in parts {
            match name.parse().ok().and_then(|i: usize| sorted.get_mut(i)) {
                Some(place) => *place = Some(part),
                None => return Err(format!("a chunked array has an unexpected part `{name}`")),
            }
        }
        let sorted: Option<Vec<_>> = sorted.into_iter().collect();
        sorted.ok_or_else(|| "a chunked array lacks a part".to_owned())
    };
    let dimensions = numbered("shape")?;
    check_axes(dimensions.len())?;
    let shape = dimensions.into_iter().map(|part| match part {
        StateDict::Number(n) => dimension(*n),
        other => Err(format!("{} is not a dimension", other.describe())),
    });
    let shape = shape.collect::<Parsed<Vec<usize>>>()?;
    let mut dtype = None;
    let mut pieces = Vec::new();
    for part in numbered("chunks")? {
        let StateDict::Array(chunk) = part else {
            return Err(format!("{} is not a chunk of an array", part.describe()));
        };
        // The pieces are joined as bytes, so they must agree on the dtype.
        if *dtype.get_or_insert(chunk.dtype) != chunk.dtype {
            return Err("the chunks of an array have different dtypes".into());
        }
        pieces.extend(&chunk.pieces);
    }
    let Some(dtype) = dtype else {
        return Err("a chunked array has no chunks".into());
    };
    let length = pieces.iter().map(|p: &&[u8]| p.len()).sum();
    check_size(&shape, dtype.size(), length, dtype.numpy_name())?;
    Ok(Encoded {
        shape,
        dtype,
        pieces,
    })
}
