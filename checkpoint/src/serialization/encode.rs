//! Encoding of state dicts in msgpack, with the same encodings as Python's packer.

use super::StateDict;
use super::array::{CHUNKED, MAX_CHUNK_SIZE, clear_signs, code};
use crate::{Error, Result};
use ramie_core::Array;
use ramie_core::dtypes::Scalar;
use ramie_core::files::Message;
use rmp::encode::{
    write_array_len, write_bin, write_bin_len, write_bool, write_ext_meta, write_f64,
    write_map_len, write_nil, write_sint, write_str, write_uint,
};
use std::io::{self, Write};

/// Serializes a state dict, with the entries of each dictionary sorted by name
/// (`flax.serialization.msgpack_serialize`).
///
/// Arrays of more than 2³⁰ bytes are written in chunks.
///
/// # Errors
/// Returns an error if an array cannot be read because its computation failed or it is traced, or
/// if a part is too large for the format.
pub fn msgpack_serialize(dict: &StateDict) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write(dict, Order::Sorted, &mut bytes)?;
    Ok(bytes)
}

/// Order of the entries of a dictionary.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Order {
    /// Order of the state dict.
    AsIs,
    /// Sorted by name.
    Sorted,
}

/// Writes a state dict to `out`.
pub(super) fn write(dict: &StateDict, order: Order, out: &mut dyn Write) -> Result<()> {
    write_in_chunks(dict, order, out, MAX_CHUNK_SIZE)
}

fn write_in_chunks(
    dict: &StateDict,
    order: Order,
    out: &mut dyn Write,
    largest: usize,
) -> Result<()> {
    let mut encoder = Encoder {
        out: Sink(out),
        order,
        largest,
        path: Vec::new(),
    };
    match encoder.part(dict, true) {
        Ok(()) => Ok(()),
        Err(Failure::Part(message)) => Err(Error::state_dict(&encoder.path.join("."), message)),
        Err(Failure::Write(e)) => Err(Error::Write(e)),
    }
}

/// A sized writer, which the functions of `rmp` require.
struct Sink<'a>(&'a mut dyn Write);

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

enum Failure {
    /// The part at the encoder's path cannot be written.
    Part(String),
    /// The writer failed.
    Write(io::Error),
}

impl<E: Into<io::Error>> From<E> for Failure {
    fn from(e: E) -> Failure {
        Failure::Write(e.into())
    }
}

struct Encoder<'a> {
    out: Sink<'a>,
    order: Order,
    /// Size above which arrays are written in chunks.
    largest: usize,
    path: Vec<String>,
}

impl Encoder<'_> {
    /// Writes a part. Arrays are written in chunks only at the root or in dictionaries, since Flax
    /// does not support chunks in lists.
    fn part(&mut self, part: &StateDict, chunked: bool) -> Result<(), Failure> {
        let out = &mut self.out;
        match part {
            StateDict::Dict(parts) => {
                write_map_len(out, count(parts.len())?)?;
                let mut parts: Vec<&(String, StateDict)> = parts.iter().collect();
                if self.order == Order::Sorted {
                    // Rust compares strings by UTF-8 bytes, which is Python's order of code points.
                    parts.sort_by(|a, b| a.0.cmp(&b.0));
                }
                for (name, part) in parts {
                    // After an error the name stays on the path, for the message.
                    self.path.push(name.clone());
                    // `write_str` would truncate a longer length to 32 bits.
                    count(name.len())?;
                    write_str(&mut self.out, name)?;
                    self.part(part, true)?;
                    self.path.pop();
                }
            }
            StateDict::List(parts) => {
                write_array_len(out, count(parts.len())?)?;
                for (i, part) in parts.iter().enumerate() {
                    self.path.push(i.to_string());
                    self.part(part, false)?;
                    self.path.pop();
                }
            }
            StateDict::Array(array) => {
                let bytes = bytes(array)?;
                if chunked && bytes.len() > self.largest {
                    self.chunks(array, &bytes)?;
                } else {
                    self.array(code::NDARRAY, array, array.shape(), &bytes)?;
                }
            }
            StateDict::NumpyScalar(array) => {
                self.array(code::NPSCALAR, array, array.shape(), &bytes(array)?)?;
            }
            StateDict::Number(number) => self.number(*number)?,
            StateDict::Str(text) => {
                count(text.len())?;
                write_str(out, text)?;
            }
            StateDict::Bytes(bytes) => {
                count(bytes.len())?;
                write_bin(out, bytes)?;
            }
            StateDict::None => write_nil(out)?,
        }
        Ok(())
    }

    fn number(&mut self, number: Scalar) -> Result<(), Failure> {
        let out = &mut self.out;
        match number {
            Scalar::Bool(v) => write_bool(out, v)?,
            Scalar::Int(v) => {
                write_sint(out, v)?;
            }
            Scalar::Uint(v) => {
                write_uint(out, v)?;
            }
            Scalar::Float(v) => write_f64(out, v)?,
            Scalar::Complex(re, im) => {
                // The length of an extension precedes it, so write its contents to a buffer first.
                let mut pair = Vec::new();
                write_array_len(&mut pair, 2)?;
                write_f64(&mut pair, re)?;
                write_f64(&mut pair, im)?;
                write_ext_meta(out, count(pair.len())?, code::NATIVE_COMPLEX)?;
                out.write_all(&pair)?;
            }
        }
        Ok(())
    }

    /// Writes elements of an array as an extension type with this code.
    fn array(
        &mut self,
        code: i8,
        array: &Array,
        shape: &[usize],
        bytes: &[u8],
    ) -> Result<(), Failure> {
        // Only the head is buffered to learn its length; the elements follow without a copy.
        let mut start = Vec::new();
        write_array_len(&mut start, 3)?;
        write_array_len(&mut start, count(shape.len())?)?;
        for d in shape {
            write_uint(&mut start, *d as u64)?;
        }
        write_str(&mut start, array.dtype().numpy_name())?;
        write_bin_len(&mut start, count(bytes.len())?)?;
        write_ext_meta(&mut self.out, count(start.len() + bytes.len())?, code)?;
        self.out.write_all(&start)?;
        self.out.write_all(bytes)?;
        Ok(())
    }

    /// Writes a large array as a dictionary of flat chunks.
    fn chunks(&mut self, array: &Array, bytes: &[u8]) -> Result<(), Failure> {
        let size = array.dtype().size();
        // A chunk has whole elements, and at least one.
        let length = (self.largest / size).max(1) * size;
        let out = &mut self.out;
        write_map_len(out, 3)?;
        write_str(out, CHUNKED)?;
        write_bool(out, true)?;
        write_str(out, "shape")?;
        // Flax writes tuples, such as this shape, as dictionaries with the keys "0", "1", …
        write_map_len(out, count(array.shape().len())?)?;
        for (i, d) in array.shape().iter().enumerate() {
            write_str(out, &i.to_string())?;
            write_uint(out, *d as u64)?;
        }
        write_str(out, "chunks")?;
        write_map_len(out, count(bytes.len().div_ceil(length))?)?;
        for (i, chunk) in bytes.chunks(length).enumerate() {
            write_str(&mut self.out, &i.to_string())?;
            self.array(code::NDARRAY, array, &[chunk.len() / size], chunk)?;
        }
        Ok(())
    }
}

/// Converts a length to the format's type.
fn count(n: usize) -> Result<u32, Failure> {
    u32::try_from(n).map_err(|_| {
        Failure::Part(
            Message::new(format!(
                "has {n} bytes or parts, but the format supports at most {}",
                u32::MAX
            ))
            .help(
                "use `ramie_checkpoint::save`, or put a large array into a dictionary, where \
                it is written in chunks",
            )
            .to_string(),
        )
    })
}

/// Returns the bytes of the elements in NumPy's representation.
fn bytes(array: &Array) -> Result<Vec<u8>, Failure> {
    let mut bytes = array
        .try_to_bytes()
        .map_err(|e| Failure::Part(e.to_string()))?;
    clear_signs(array.dtype(), &mut bytes);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serialization::to_state_dict;
    use ramie_core::State;

    /// Flax's output with `MAX_CHUNK_SIZE = 16`.
    #[test]
    fn chunks_are_flaxs() {
        let state = State::from_iter([
            ("flat", Array::from([0.0f32, 1.0, 2.0, 3.0])),
            (
                "large.w",
                Array::from([[0.0f32, 1.0, 2.0], [3.0, 4.0, 5.0]]),
            ),
            ("large.n", Array::from((0..17).collect::<Vec<u8>>())),
        ]);
        let mut written = Vec::new();
        write_in_chunks(&to_state_dict(&state), Order::AsIs, &mut written, 16).unwrap();
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/golden/data/flax_chunks.msgpack"
        );
        assert!(written == std::fs::read(path).unwrap());
    }
}
