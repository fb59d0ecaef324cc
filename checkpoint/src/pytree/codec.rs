//! Conversion between the bytes of a chunk's file and its elements.
//!
//! Decoding never allocates more memory than the chunk and the file need, regardless of what the
//! file claims.

use super::layout::{Cells, bytes_of};
use super::region::{cell_region, copy, in_one_piece, whole};
use super::zarr::{Bytes, Endian, Extension, IndexLocation, Sharding};
use crate::zstandard;
use ramie_core::DType;

/// Encoding of a chunk's elements.
#[derive(Clone, Debug)]
pub(super) enum Codec {
    /// All elements together.
    Elements(Chain),
    /// Several parts in each chunk's file.
    Parts(Parts),
}

/// Codecs in the order in which elements are encoded.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// Size of the numbers whose bytes are in reverse order; 1 if elements are little-endian.
    swap: usize,
    steps: Vec<Step>,
}

/// Codec from bytes to bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Zstd,
    Crc32c,
}

/// The codec `sharding_indexed`: parts anywhere in a file, and an index of their offsets and
/// lengths at its start or end.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    /// Shape of the parts.
    shape: Vec<usize>,
    /// Number of parts along each axis of a chunk.
    counts: Vec<usize>,
    /// Size of an element in bytes.
    size: usize,
    part_bytes: usize,
    index_bytes: usize,
    inner: Chain,
    index: Chain,
    index_location: IndexLocation,
    fills_with_zero: bool,
}

/// Maximum number of codecs of a chain; Orbax uses two.
const MOST_CODECS: usize = 8;
/// Size of a checksum in bytes.
const SUM: usize = 4;
/// Size of an index entry in bytes: offset and length of a part.
const ENTRY: usize = 16;

impl Codec {
    /// Plain little-endian elements.
    pub const PLAIN: Codec = Codec::Elements(Chain {
        swap: 1,
        steps: Vec::new(),
    });

    /// Returns whether chunks are plain little-endian elements.
    pub fn is_plain(&self) -> bool {
        matches!(self, Codec::Elements(chain) if chain.swap == 1 && chain.steps.is_empty())
    }

    /// Returns the codec of a `.zarray`, given whether it uses Zstandard.
    pub fn zarr2(zstd: bool, endian: Endian, dtype: DType) -> Codec {
        Codec::Elements(Chain {
            swap: swap_size(endian, dtype),
            steps: zstd.then_some(Step::Zstd).into_iter().collect(),
        })
    }

    /// Returns the codec of a `zarr.json` for chunks of this shape.
    pub fn zarr3(
        list: &[Extension],
        chunk: &[usize],
        dtype: DType,
        fills_with_zero: bool,
    ) -> Result<Codec, String> {
        match list {
            [only] if only.name() == "sharding_indexed" => {
                Parts::new(only.settings()?, chunk, dtype, fills_with_zero).map(Codec::Parts)
            }
            _ => Chain::new(list, dtype).map(Codec::Elements),
        }
    }

    /// Returns the minimum size of a file that stores a chunk of `bytes` bytes.
    pub fn least(&self, bytes: usize) -> u64 {
        match self {
            Codec::Elements(chain) => {
                // A block of Zstandard takes at least 4 bytes and decodes to at most 2¹⁷.
                let compressed = chain.steps.iter().filter(|step| **step == Step::Zstd);
                compressed.fold(bytes as u64, |bytes, _| bytes >> 15)
            }
            // Parts of zeros are only in the index, which is checked when it is read.
            Codec::Parts(parts) => (parts.index_bytes / ENTRY) as u64,
        }
    }

    /// Decodes a chunk of this shape. On error, returns a description of the damage.
    pub fn decode(&self, encoded: &[u8], chunk: &[usize], out: &mut [u8]) -> Result<(), String> {
        match self {
            Codec::Elements(chain) => chain.decode(encoded, out, "chunk"),
            Codec::Parts(parts) => parts.decode(encoded, chunk, out),
        }
    }
}

impl Chain {
    fn new(list: &[Extension], dtype: DType) -> Result<Chain, String> {
        if list.len() > MOST_CODECS {
            let n = list.len();
            return Err(format!(
                "{n} codecs are not supported, at most {MOST_CODECS}"
            ));
        }
        let (mut swap, mut steps) = (1, Vec::new());
        for (i, codec) in list.iter().enumerate() {
            match codec.name() {
                "bytes" | "endian" if i == 0 => {
                    swap = swap_size(codec.settings::<Bytes>()?.endian.unwrap_or_default(), dtype);
                }
                "bytes" | "endian" => return Err("`bytes` is not the first codec".into()),
                "zstd" => steps.push(Step::Zstd),
                "crc32c" => steps.push(Step::Crc32c),
                other => {
                    return Err(format!("the codec `{other}` is not supported"));
                }
            }
        }
        // Only `bytes` at the start adds no step, so equal lengths mean that it is missing.
        if steps.len() < list.len() {
            Ok(Chain { swap, steps })
        } else {
            Err("the first codec is not `bytes`".into())
        }
    }

    /// Decodes all of `out`, which errors call `what`.
    fn decode(&self, encoded: &[u8], out: &mut [u8], what: &str) -> Result<(), String> {
        let n = undo(&self.steps, encoded, out)?;
        if n != out.len() {
            return Err(format!("has {n} bytes, but the {what} has {}", out.len()));
        }
        if self.swap > 1 {
            out.chunks_exact_mut(self.swap).for_each(<[u8]>::reverse);
        }
        Ok(())
    }
}

/// Returns the size of the numbers whose bytes need to be reversed: a complex element has two.
fn swap_size(endian: Endian, dtype: DType) -> usize {
    match endian {
        Endian::Little => 1,
        Endian::Big if dtype.is_complex() => dtype.size() / 2,
        Endian::Big => dtype.size(),
    }
}

/// Undoes the steps from the last to the first. Returns the number of decoded bytes, which are
/// in `out` if they fill it.
fn undo(steps: &[Step], encoded: &[u8], out: &mut [u8]) -> Result<usize, String> {
    let bad = |e| format!("cannot be decompressed: {e}");
    match steps.split_last() {
        None => {
            // For other lengths the caller reports the length that is returned.
            if encoded.len() == out.len() {
                out.copy_from_slice(encoded);
            }
            Ok(encoded.len())
        }
        Some((Step::Crc32c, before)) => match encoded.split_last_chunk::<SUM>() {
            Some((bytes, sum)) if crc32c::crc32c(bytes).to_le_bytes() == *sum => {
                undo(before, bytes, out)
            }
            _ => Err("is damaged: its checksum differs".into()),
        },
        Some((Step::Zstd, [])) => zstandard::decompress(encoded, out).map_err(bad),
        Some((Step::Zstd, before)) => {
            // The largest possible input of the earlier steps bounds the memory of this one.
            let most = before.iter().fold(out.len(), |n, step| match step {
                Step::Zstd => zstandard::bound(n),
                Step::Crc32c => n + SUM,
            });
            let mut content = vec![0; most];
            let length = zstandard::decompress(encoded, &mut content).map_err(bad)?;
            undo(before, &content[..length], out)
        }
    }
}

impl Parts {
    fn new(
        settings: Sharding,
        chunk: &[usize],
        dtype: DType,
        fills_with_zero: bool,
    ) -> Result<Parts, String> {
        let (part, n) = (settings.chunk_shape, chunk.len());
        if part.len() != n {
            return Err(format!(
                "parts have shape {part:?}, but chunks have {n} dimensions"
            ));
        }
        let mut axes = chunk.iter().zip(&part);
        if axes.any(|(chunk, part)| *part == 0 || chunk % part != 0) {
            return Err(format!(
                "chunks of shape {chunk:?} are not divisible into parts of shape {part:?}"
            ));
        }
        let counts: Vec<usize> = chunk.iter().zip(&part).map(|(c, p)| c / p).collect();
        let index_bytes = counts.iter().try_fold(ENTRY, |n, c| n.checked_mul(*c));
        let index = Chain::new(&settings.index_codecs, DType::U64)?;
        // The size of the index must follow from the number of parts.
        if index.steps.contains(&Step::Zstd) {
            return Err("a compressed index of sharding_indexed is not supported".into());
        }
        Ok(Parts {
            index_bytes: index_bytes.ok_or("the number of parts overflows")?,
            part_bytes: bytes_of(&part, dtype).ok_or("the size of parts overflows")?,
            size: dtype.size(),
            shape: part,
            counts,
            inner: Chain::new(&settings.codecs, dtype)?,
            index,
            index_location: settings.index_location,
            fills_with_zero,
        })
    }

    fn decode(&self, encoded: &[u8], chunk: &[usize], out: &mut [u8]) -> Result<(), String> {
        let (index, chunk) = (self.read_index(encoded)?, whole(chunk));
        let mut buffer = Vec::new();
        let cells = Cells::new(whole(&self.counts));
        for (cell, entry) in cells.zip(index.as_chunks::<ENTRY>().0) {
            let region = cell_region(&cell, &self.shape);
            // A part that is contiguous in the chunk, such as whole rows, is decoded in place.
            let piece = in_one_piece(&chunk, &region);
            let part = match &piece {
                Some(piece) => &mut out[piece.start * self.size..piece.end * self.size],
                None => {
                    buffer.resize(self.part_bytes, 0);
                    &mut buffer
                }
            };
            match self.stored(encoded, entry)? {
                Some(bytes) => self
                    .inner
                    .decode(bytes, part, "part")
                    .map_err(|e| format!("has a damaged part {cell:?}, which {e}"))?,
                None => part.fill(0),
            }
            if piece.is_none() {
                copy(&region, (&region, &buffer), (&chunk, out), self.size);
            }
        }
        Ok(())
    }

    /// Returns the decoded index of a file.
    fn read_index(&self, encoded: &[u8]) -> Result<Vec<u8>, String> {
        let n = encoded.len();
        let stored = self
            .index_bytes
            .saturating_add(SUM * self.index.steps.len());
        if stored > n {
            let parts = self.index_bytes / ENTRY;
            return Err(format!(
                "has {n} bytes, too few for the index of its {parts} parts"
            ));
        }
        let bytes = match self.index_location {
            IndexLocation::Start => &encoded[..stored],
            IndexLocation::End => &encoded[n - stored..],
        };
        let mut index = vec![0; self.index_bytes];
        let decoded = self.index.decode(bytes, &mut index, "index");
        decoded.map_err(|e| format!("has a damaged index, which {e}"))?;
        Ok(index)
    }

    /// Returns the bytes of a part, or `None` if it consists of the fill value.
    fn stored<'a>(
        &self,
        encoded: &'a [u8],
        entry: &[u8; ENTRY],
    ) -> Result<Option<&'a [u8]>, String> {
        // The zarr specification marks a missing part by an offset and a length of 2⁶⁴ - 1.
        if *entry == [u8::MAX; ENTRY] {
            return if self.fills_with_zero {
                Ok(None)
            } else {
                Err("lacks a part, and the fill value is not 0".into())
            };
        }
        let [start, length] = [0, 8].map(|at| {
            let bytes = entry[at..at + 8].iter();
            bytes.rfold(0, |n, b| n << 8 | u64::from(*b))
        });
        let range = |end| Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?);
        let range = start.checked_add(length).and_then(range);
        match range.and_then(|range| encoded.get(range)) {
            Some(bytes) => Ok(Some(bytes)),
            None => Err(format!(
                "has {} bytes, but a part of {length} bytes at byte {start}",
                encoded.len()
            )),
        }
    }
}
