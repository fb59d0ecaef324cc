//! Reader of TFRecord files, which consist of byte records with checksums.
//!
//! A record is usually a `tf.train.Example`, which maps names to lists of numbers or byte
//! strings; [`Example::parse`] reads it.
//!
//! ```no_run
//! use ramie_data::{Source, SourceExt, readers::tfrecord::{Example, TfRecords}};
//! let records = TfRecords::open("train.tfrecord")?;
//! let examples = records.try_map(|record| Example::parse(&record));
//! let first = examples.get(0)?;
//! let (image, label) = (&first.bytes("image")?[0], first.ints("label")?[0]);
//! # Ok::<(), ramie_data::Error>(())
//! ```

use super::file::{Positioned, bad_record};
use crate::source::check;
use crate::{Error, Result, Source};
use ramie_core::files::{DAMAGED, Message};
use std::collections::BTreeMap;
use std::path::Path;

/// The records of a file. Records are read on access; only their offsets are in memory.
#[derive(Debug)]
pub struct TfRecords {
    file: Positioned,
    /// Offset and length of each record's bytes.
    records: Vec<(u64, usize)>,
}

/// Number of bytes before a record: its length, and the checksum of the length.
const HEAD: u64 = 12;
/// Number of bytes of a checksum.
const SUM: u64 = 4;

impl TfRecords {
    /// Opens a file and reads the lengths of its records.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or if a length is damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<TfRecords> {
        let file = Positioned::open(path.as_ref())?;
        let mut records = Vec::new();
        let mut at = 0;
        while at < file.len() {
            let bad = |message: &str| {
                bad_record(
                    file.name(),
                    records.len(),
                    Message::new(message).help(DAMAGED),
                )
            };
            // Only heads are read here. The checksum of each length keeps a damaged one from
            // leading the scan astray; `get` verifies the records themselves.
            let left = file.len() - at;
            if left < HEAD + SUM {
                return Err(bad(&format!(
                    "has only {left} bytes; the file is cut short, or compressed"
                )));
            }
            let head = file.read_at(at, HEAD as usize)?;
            let (length, sum) = head.split_at(8);
            if masked_sum(length).to_le_bytes() != sum {
                return Err(bad(
                    "its length has the wrong checksum; the file is damaged, compressed, or not a \
                     TFRecord file",
                ));
            }
            let length = u64::from_le_bytes(length.try_into().expect("8 bytes"));
            let size = usize::try_from(length).ok();
            let Some(size) = size.filter(|_| length <= left - HEAD - SUM) else {
                return Err(bad(&format!(
                    "should have {length} bytes, but only {left} are left; the file is cut short"
                )));
            };
            records.push((at + HEAD, size));
            at += HEAD + length + SUM;
        }
        Ok(TfRecords { file, records })
    }
}

impl Source for TfRecords {
    type Item = Vec<u8>;
    fn len(&self) -> usize {
        self.records.len()
    }
    fn get(&self, index: usize) -> Result<Vec<u8>> {
        check(index, self.len())?;
        let (at, size) = self.records[index];
        let mut bytes = self.file.read_at(at, size + SUM as usize)?;
        let sum = bytes.split_off(size);
        if masked_sum(&bytes).to_le_bytes() == sum[..] {
            Ok(bytes)
        } else {
            Err(bad_record(
                self.file.name(),
                index,
                Message::new("has the wrong checksum").help(DAMAGED),
            ))
        }
    }
}

/// Returns the contents of a TFRecord file with these records.
///
/// ```
/// use ramie_data::{Source, readers::tfrecord};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("two.tfrecord");
/// std::fs::write(&path, tfrecord::to_bytes([b"one".as_slice(), b"two"]))?;
/// assert_eq!(tfrecord::TfRecords::open(&path)?.get(1)?, b"two");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn to_bytes<R: AsRef<[u8]>>(records: impl IntoIterator<Item = R>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for record in records {
        let record = record.as_ref();
        let length = (record.len() as u64).to_le_bytes();
        bytes.extend(length);
        bytes.extend(masked_sum(&length).to_le_bytes());
        bytes.extend(record);
        bytes.extend(masked_sum(record).to_le_bytes());
    }
    bytes
}

/// Returns the CRC-32C, masked as in TFRecord files.
fn masked_sum(bytes: &[u8]) -> u32 {
    let sum = crc32c::crc32c(bytes);
    // As in LevelDB: a CRC of data that contains CRCs is a poor checksum, so they are masked.
    sum.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// A `tf.train.Example`, which maps names to lists of numbers or byte strings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Example(BTreeMap<String, Feature>);

/// A list of an example.
#[derive(Clone, Debug, PartialEq)]
pub enum Feature {
    /// Byte strings, such as text or images.
    Bytes(Vec<Vec<u8>>),
    /// Floating-point numbers.
    Floats(Vec<f32>),
    /// Integers.
    Ints(Vec<i64>),
}

impl Example {
    /// Parses a record.
    ///
    /// # Errors
    /// Returns an error if the record is not a `tf.train.Example`.
    pub fn parse(record: &[u8]) -> Result<Example> {
        let mut features = BTreeMap::new();
        each(record, &mut |field, value| {
            // The `Features` message, its map, and the key and the value of an entry.
            let (1, Value::Bytes(message)) = (field, value) else {
                return Ok(());
            };
            each(message, &mut |field, value| {
                let (1, Value::Bytes(entry)) = (field, value) else {
                    return Ok(());
                };
                let (mut name, mut feature) = (String::new(), None);
                each(entry, &mut |field, value| {
                    match (field, value) {
                        (1, Value::Bytes(text)) => {
                            let text = std::str::from_utf8(text);
                            name = text.map_err(|_| "a name is not UTF-8")?.into();
                        }
                        (2, Value::Bytes(message)) => feature = parse_feature(message)?,
                        _ => {}
                    }
                    Ok(())
                })?;
                // As in protocol buffers, the last entry of a name replaces earlier ones.
                features.extend(feature.map(|feature| (name, feature)));
                Ok(())
            })
        })
        .map_err(|what| {
            let help = "decode records of another format with a function of your own";
            Error::Other(format!(
                "the record is not a tf.train.Example: {what}\n  help: {help}"
            ))
        })?;
        Ok(Example(features))
    }

    /// Returns the names of the lists.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns a list.
    ///
    /// # Errors
    /// Returns an error if there is no list of this name.
    pub fn feature(&self, name: &str) -> Result<&Feature> {
        self.0.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.names().collect();
            Error::Other(format!(
                "the example has no {name:?}; its lists are {}\n  help: use one of these names",
                names.join(", ")
            ))
        })
    }

    fn other(&self, name: &str, wanted: &str) -> Error {
        let found = match self.0.get(name) {
            Some(Feature::Bytes(_)) => "bytes",
            Some(Feature::Floats(_)) => "floats",
            _ => "integers",
        };
        Error::Other(format!(
            "{name:?} contains {found}, expected {wanted}\n  help: read it with the method for {found}"
        ))
    }

    /// Returns a list of byte strings.
    ///
    /// # Errors
    /// Returns an error if there is no list of this name, or if it has another type.
    pub fn bytes(&self, name: &str) -> Result<&[Vec<u8>]> {
        match self.feature(name)? {
            Feature::Bytes(list) => Ok(list),
            _ => Err(self.other(name, "bytes")),
        }
    }

    /// Returns a list of floats.
    ///
    /// # Errors
    /// Returns an error if there is no list of this name, or if it has another type.
    pub fn floats(&self, name: &str) -> Result<&[f32]> {
        match self.feature(name)? {
            Feature::Floats(list) => Ok(list),
            _ => Err(self.other(name, "floats")),
        }
    }

    /// Returns a list of integers.
    ///
    /// # Errors
    /// Returns an error if there is no list of this name, or if it has another type.
    pub fn ints(&self, name: &str) -> Result<&[i64]> {
        match self.feature(name)? {
            Feature::Ints(list) => Ok(list),
            _ => Err(self.other(name, "integers")),
        }
    }
}

/// Parses a list; returns `None` if the message has none.
fn parse_feature(message: &[u8]) -> Result<Option<Feature>, &'static str> {
    let mut feature = None;
    each(message, &mut |kind, value| {
        let Value::Bytes(list) = value else {
            return Ok(());
        };
        match kind {
            1 => {
                let mut items = Vec::new();
                each(list, &mut |field, value| {
                    if let (1, Value::Bytes(item)) = (field, value) {
                        items.push(item.to_vec());
                    }
                    Ok(())
                })?;
                feature = Some(Feature::Bytes(items));
            }
            // Writers may pack a list into one field or repeat the field; parsers accept both.
            2 => {
                let mut items = Vec::new();
                let number = |b: &[u8]| f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
                each(list, &mut |field, value| {
                    match (field, value) {
                        (1, Value::Bytes(packed)) if packed.len().is_multiple_of(4) => {
                            items.extend(packed.chunks_exact(4).map(number));
                        }
                        (1, Value::Four(one)) => items.push(number(&one)),
                        (1, _) => return Err("a list of floats contains other values"),
                        _ => {}
                    }
                    Ok(())
                })?;
                feature = Some(Feature::Floats(items));
            }
            3 => {
                let mut items = Vec::new();
                each(list, &mut |field, value| {
                    match (field, value) {
                        (1, Value::Bytes(mut packed)) => {
                            while !packed.is_empty() {
                                items.push(varint(&mut packed)? as i64);
                            }
                        }
                        (1, Value::Varint(one)) => items.push(one as i64),
                        (1, _) => return Err("a list of integers contains other values"),
                        _ => {}
                    }
                    Ok(())
                })?;
                feature = Some(Feature::Ints(items));
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(feature)
}

/// The value of a protocol buffer field.
enum Value<'a> {
    Varint(u64),
    Four([u8; 4]),
    Bytes(&'a [u8]),
}

/// Calls a function for each field of a protocol buffer message.
fn each<'a>(
    mut message: &'a [u8],
    found: &mut dyn FnMut(u64, Value<'a>) -> Result<(), &'static str>,
) -> Result<(), &'static str> {
    while !message.is_empty() {
        let key = varint(&mut message)?;
        let value = match key & 7 {
            0 => Value::Varint(varint(&mut message)?),
            // Numbers of 64 bits do not occur in an example; skip them as unknown fields.
            1 => {
                take(&mut message, 8)?;
                continue;
            }
            2 => {
                let count = varint(&mut message)?;
                Value::Bytes(take(&mut message, count)?)
            }
            5 => Value::Four(take(&mut message, 4)?.try_into().expect("4 bytes")),
            _ => return Err("a field has an invalid wire type"),
        };
        found(key >> 3, value)?;
    }
    Ok(())
}

fn take<'a>(bytes: &mut &'a [u8], count: u64) -> Result<&'a [u8], &'static str> {
    let parts = usize::try_from(count)
        .ok()
        .and_then(|count| bytes.split_at_checked(count));
    let (taken, rest) = parts.ok_or("it ends within a field")?;
    *bytes = rest;
    Ok(taken)
}

/// Reads a variable-length integer: seven bits per byte, least significant first.
fn varint(bytes: &mut &[u8]) -> Result<u64, &'static str> {
    let mut number = 0;
    for place in 0..10 {
        let (byte, rest) = bytes.split_first().ok_or("it ends within a number")?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << (7 * place);
        if *byte < 0x80 {
            return Ok(number);
        }
    }
    Err("a number has more than ten bytes")
}
