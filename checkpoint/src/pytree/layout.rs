//! The files `.zarray` and `zarr.json`: shape, dtype and chunks of a stored array.

use super::codec::Codec;
use super::dtype::{from_zarr2, from_zarr3, zarr2_name, zarr3_name};
use super::region::cell_region;
use super::zarr::{ArrayV2, ArrayV3, KeyEncoding, Regular};
use crate::size::check_shape;
use ramie_core::DType;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::ops::Range;

/// Version of the zarr format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Zarr {
    /// Version 2: a file `.zarray` per array and a file per chunk. Orbax's default.
    #[default]
    V2,
    /// Version 3: a file `zarr.json` per array, and files that can contain several chunks
    /// (`use_zarr3`).
    V3,
}

impl Zarr {
    /// Returns the name of the file with an array's metadata.
    pub(super) fn file(self) -> &'static str {
        match self {
            Zarr::V2 => ".zarray",
            Zarr::V3 => "zarr.json",
        }
    }
}

/// Compression of chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compression {
    /// No compression, the default: as fast as the disk.
    #[default]
    None,
    /// Zstandard. Orbax uses level 1 for zarr version 2 and level 3 for version 3. Weights become
    /// about 10 % smaller.
    Zstd {
        /// Compression level from 1 (fast) to 22 (small); 0 is the library's default.
        level: i32,
    },
}

/// Layout of a stored array.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub shape: Vec<usize>,
    /// Shape of the chunks; the last ones may extend beyond the array.
    pub chunk: Vec<usize>,
    pub dtype: DType,
    pub codec: Codec,
    /// Whether elements that are not stored are zero.
    pub fills_with_zero: bool,
    keys: ChunkKeyEncoding,
}

/// Naming scheme of chunk files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ChunkKeyEncoding {
    /// Whether names begin with `c`.
    begins_with_c: bool,
    separator: char,
}

/// Maximum number of dimensions of an array, as in NumPy.
const MOST_DIMENSIONS: usize = 64;

/// Returns the number of bytes of an array, or `None` on overflow.
pub(super) fn bytes_of(shape: &[usize], dtype: DType) -> Option<usize> {
    let count = |n: usize, d: &usize| n.checked_mul(*d);
    // A size of zero must not hide an overflow of the others.
    shape
        .iter()
        .filter(|d| **d > 0)
        .try_fold(dtype.size(), count)?;
    let bytes = shape.iter().try_fold(dtype.size(), count)?;
    // Rust allocates at most `isize::MAX` bytes.
    isize::try_from(bytes).is_ok().then_some(bytes)
}

impl Layout {
    /// Creates the layout of an array to write.
    pub fn new(shape: &[usize], chunk: &[usize], dtype: DType, zarr: Zarr) -> Layout {
        Layout {
            shape: shape.to_vec(),
            // Chunk sizes must be positive.
            chunk: chunk.iter().map(|n| (*n).max(1)).collect(),
            dtype,
            codec: Codec::PLAIN,
            fills_with_zero: true,
            keys: match zarr {
                Zarr::V2 => ChunkKeyEncoding {
                    begins_with_c: false,
                    separator: '.',
                },
                Zarr::V3 => ChunkKeyEncoding {
                    begins_with_c: true,
                    separator: '/',
                },
            },
        }
    }

    /// Parses the bytes of an array's metadata file.
    pub fn parse(zarr: Zarr, bytes: &[u8]) -> Result<Layout, String> {
        let layout = match zarr {
            Zarr::V2 => Layout::parse_v2(bytes),
            Zarr::V3 => Layout::parse_v3(bytes),
        };
        let layout = layout.map_err(|e| format!("is not valid array metadata: {e}"))?;
        let Layout { shape, chunk, .. } = &layout;
        if shape.len() > MOST_DIMENSIONS || shape.len() != chunk.len() {
            let (n, m) = (shape.len(), chunk.len());
            return Err(format!(
                "the array has {n} dimensions, but its chunks have {m}"
            ));
        }
        // Later code divides by chunk sizes and multiplies sizes without checks.
        check_shape(shape)?;
        let countable = |shape| bytes_of(shape, layout.dtype).is_some();
        if chunk.contains(&0) || !countable(shape) || !countable(chunk) {
            return Err(format!("shape {shape:?} in chunks {chunk:?} is invalid"));
        }
        Ok(layout)
    }

    fn parse_v2(bytes: &[u8]) -> Result<Layout, String> {
        let metadata: ArrayV2 = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
        expect("zarr_format", metadata.zarr_format, 2)?;
        let name = metadata.dtype.as_str().map(str::to_owned);
        let name = name.unwrap_or_else(|| metadata.dtype.to_string());
        let (dtype, endian) =
            from_zarr2(&name).ok_or_else(|| format!("the dtype `{name}` is not supported"))?;
        let zstd = match metadata.compressor.map(|c| c.id) {
            None => false,
            Some(id) if id == "zstd" => true,
            Some(id) => return Err(format!("the compressor `{id}` is not supported")),
        };
        if metadata.order != "C" {
            let order = metadata.order;
            return Err(format!("the element order is {order:?}, expected \"C\""));
        }
        if metadata.filters.is_some_and(|f| !f.is_empty()) {
            return Err("filters are not supported".into());
        }
        Ok(Layout {
            shape: metadata.shape,
            chunk: metadata.chunks,
            dtype,
            codec: Codec::zarr2(zstd, endian, dtype),
            fills_with_zero: is_zero(&metadata.fill_value),
            keys: ChunkKeyEncoding {
                begins_with_c: false,
                separator: separator(metadata.dimension_separator, '.')?,
            },
        })
    }

    fn parse_v3(bytes: &[u8]) -> Result<Layout, String> {
        let metadata: ArrayV3 = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
        expect("zarr_format", metadata.zarr_format, 3)?;
        expect("node_type", metadata.node_type.as_str(), "array")?;
        if let Some(field) = metadata.unsupported_field() {
            return Err(format!("the field `{field}` is not supported"));
        }
        let name = metadata.data_type.name();
        let dtype =
            from_zarr3(name).ok_or_else(|| format!("the dtype `{name}` is not supported"))?;
        let grid = metadata.chunk_grid.name();
        if grid != "regular" {
            return Err(format!("the chunk grid `{grid}` is not supported"));
        }
        if let Some(transformer) = metadata.storage_transformers.first() {
            let name = transformer.name();
            return Err(format!("the storage transformer `{name}` is not supported"));
        }
        let Regular { chunk_shape: chunk } = metadata.chunk_grid.settings()?;
        if chunk.contains(&0) {
            return Err("chunks have a size of 0".into());
        }
        let begins_with_c = match metadata.chunk_key_encoding.name() {
            "default" => true,
            "v2" => false,
            other => return Err(format!("the chunk key encoding `{other}` is not supported")),
        };
        let keys: KeyEncoding = metadata.chunk_key_encoding.settings()?;
        let fills_with_zero = is_zero(&metadata.fill_value);
        Ok(Layout {
            shape: metadata.shape,
            codec: Codec::zarr3(&metadata.codecs, &chunk, dtype, fills_with_zero)?,
            chunk,
            dtype,
            fills_with_zero,
            keys: ChunkKeyEncoding {
                begins_with_c,
                separator: separator(keys.separator, if begins_with_c { '/' } else { '.' })?,
            },
        })
    }

    /// Returns the metadata file of an array with this compression, or `None` for dtypes that the
    /// format does not support.
    pub fn to_json(&self, zarr: Zarr, compression: Compression) -> Option<Vec<u8>> {
        let Layout { shape, chunk, .. } = self;
        let json = match zarr {
            Zarr::V2 => json!({
                "chunks": chunk,
                "compressor": match compression {
                    Compression::None => Value::Null,
                    Compression::Zstd { level } => json!({"id": "zstd", "level": level}),
                },
                "dimension_separator": ".",
                "dtype": zarr2_name(self.dtype)?,
                // A save writes all chunks, so no element needs a fill value.
                "fill_value": null,
                "filters": null,
                "order": "C",
                "shape": shape,
                "zarr_format": 2,
            }),
            Zarr::V3 => {
                let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
                let mut codecs = vec![bytes.clone()];
                if let Compression::Zstd { level } = compression {
                    let settings = json!({"level": level, "checksum": false});
                    codecs.push(json!({"name": "zstd", "configuration": settings}));
                }
                // As in Orbax, each file is a zarr shard, here with a single part.
                // Unlike version 2, the format requires a fill value.
                json!({
                    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
                    "chunk_key_encoding": {"name": "default"},
                    "codecs": [{"name": "sharding_indexed", "configuration": {
                        "chunk_shape": chunk,
                        "codecs": codecs,
                        "index_codecs": [bytes, {"name": "crc32c"}],
                    }}],
                    "data_type": zarr3_name(self.dtype)?,
                    "fill_value": match self.dtype {
                        DType::Bool => json!(false),
                        d if d.is_complex() => json!([0.0, 0.0]),
                        d if d.is_float() => json!(0.0),
                        _ => json!(0),
                    },
                    "node_type": "array",
                    "shape": shape,
                    "zarr_format": 3,
                })
            }
        };
        serde_json::to_vec(&json).ok()
    }

    /// Returns the file name of the chunk at a position in the chunk grid.
    pub fn key(&self, cell: &[usize]) -> String {
        let ChunkKeyEncoding {
            begins_with_c,
            separator,
        } = self.keys;
        let mut key = String::from(if begins_with_c { "c" } else { "" });
        for i in cell {
            if !key.is_empty() {
                key.push(separator);
            }
            key.push_str(&i.to_string());
        }
        // The only chunk of an array without axes is `0`, or `c` in version 3.
        if key.is_empty() {
            key.push('0');
        }
        key
    }

    /// Returns the number of bytes of a decoded chunk.
    pub fn chunk_bytes(&self) -> usize {
        bytes_of(&self.chunk, self.dtype).unwrap_or(usize::MAX)
    }

    /// Returns the grid positions of the chunks that overlap a region, in order.
    pub fn cells(&self, region: &[Range<usize>]) -> Cells {
        let ranges = region.iter().zip(&self.chunk);
        let ranges: Vec<Range<usize>> = ranges
            .map(|(r, c)| {
                // `r.end - 1` below is the last index, which an empty range does not have.
                if r.is_empty() {
                    0..0
                } else {
                    r.start / c..(r.end - 1) / c + 1
                }
            })
            .collect();
        Cells::new(ranges)
    }

    /// Returns the number of chunks that overlap a region.
    pub fn count(&self, region: &[Range<usize>]) -> usize {
        let along = |(r, c): (&Range<usize>, &usize)| r.end.div_ceil(*c) - r.start / c;
        let counts = region.iter().zip(&self.chunk).map(along);
        counts.fold(1, usize::saturating_mul)
    }

    /// Returns the region of a chunk, which may extend beyond the array.
    pub fn region(&self, cell: &[usize]) -> Vec<Range<usize>> {
        cell_region(cell, &self.chunk)
    }
}

/// Iterator over grid positions of chunks; the last axis varies fastest.
pub(super) struct Cells {
    ranges: Vec<Range<usize>>,
    next: Option<Vec<usize>>,
}

impl Cells {
    /// Returns the grid positions in a region of the grid.
    pub fn new(ranges: Vec<Range<usize>>) -> Cells {
        // No axes at all make one cell, that of a scalar; an empty range makes none.
        let first = ranges.iter().map(|r| r.start).collect();
        Cells {
            next: (!ranges.iter().any(|r| r.is_empty())).then_some(first),
            ranges,
        }
    }
}

impl Iterator for Cells {
    type Item = Vec<usize>;
    fn next(&mut self) -> Option<Vec<usize>> {
        let now = self.next.clone()?;
        self.next = None;
        // Count like an odometer: advance the last axis that has room and reset those after it.
        for d in (0..now.len()).rev() {
            if now[d] + 1 < self.ranges[d].end {
                let mut next = now.clone();
                next[d] += 1;
                for (i, range) in self.ranges.iter().enumerate().skip(d + 1) {
                    next[i] = range.start;
                }
                self.next = Some(next);
                break;
            }
        }
        Some(now)
    }
}

/// Checks that a field has the only supported value.
fn expect<T: PartialEq + Debug>(field: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("`{field}` is {found:?}, expected {expected:?}"))
    }
}

/// Returns the separator in the names of chunk files.
fn separator(given: Option<char>, default: char) -> Result<char, String> {
    match given.unwrap_or(default) {
        known @ ('.' | '/') => Ok(known),
        other => Err(format!("`{other}` is not a separator of chunk keys")),
    }
}

/// Returns whether a fill value is zero or missing.
fn is_zero(fill: &Value) -> bool {
    match fill {
        Value::Null | Value::Bool(false) => true,
        Value::Number(n) => n.as_f64() == Some(0.0),
        Value::Array(parts) => parts.iter().all(is_zero),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns metadata of version 3 with one field replaced.
    fn with(key: &str, value: Value) -> Vec<u8> {
        let mut json = json!({
            "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "int16",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
            "chunk_key_encoding": "default", "fill_value": 0, "codecs": ["bytes"],
            "attributes": {"a": 1}, "dimension_names": [null], "storage_transformers": [],
        });
        json[key] = value;
        serde_json::to_vec(&json).unwrap()
    }

    #[test]
    fn names_may_be_strings_or_objects() {
        let codecs = json!([{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"]);
        for (key, value, chunk_file) in [
            ("codecs", codecs, "c/1"),
            (
                "data_type",
                json!({"name": "int16", "configuration": {}}),
                "c/1",
            ),
            ("chunk_key_encoding", json!({"name": "v2"}), "1"),
            (
                "chunk_key_encoding",
                json!({"name": "default", "configuration": {"separator": "."}}),
                "c.1",
            ),
            ("future", json!({"must_understand": false, "x": [1]}), "c/1"),
        ] {
            let layout = Layout::parse(Zarr::V3, &with(key, value)).unwrap();
            assert_eq!((&layout.shape, &layout.chunk), (&vec![4], &vec![2]));
            assert_eq!(layout.dtype, DType::I16);
            assert_eq!(layout.key(&[1]), chunk_file);
        }
    }

    #[test]
    fn unsupported_metadata_is_named() {
        let unnamed = "expected a name, or an object with `name` and `configuration`";
        for (key, value, message) in [
            (
                "future",
                json!({"x": 1}),
                "the field `future` is not supported",
            ),
            (
                "future",
                json!(false),
                "the field `future` is not supported",
            ),
            ("zarr_format", json!(2), "`zarr_format` is 2, expected 3"),
            (
                "node_type",
                json!("group"),
                "`node_type` is \"group\", expected \"array\"",
            ),
            (
                "data_type",
                json!("string"),
                "the dtype `string` is not supported",
            ),
            (
                "chunk_grid",
                json!("rectangular"),
                "the chunk grid `rectangular` is not supported",
            ),
            (
                "chunk_grid",
                json!("regular"),
                "the settings of `regular` are invalid: missing",
            ),
            (
                "chunk_key_encoding",
                json!("x"),
                "the chunk key encoding `x` is not supported",
            ),
            (
                "chunk_key_encoding",
                json!({"name": "v2", "configuration": {"separator": "-"}}),
                "`-` is not a separator of chunk keys",
            ),
            (
                "storage_transformers",
                json!(["x"]),
                "the storage transformer `x` is not supported",
            ),
            ("codecs", json!([{"id": "zstd"}]), unnamed),
            ("codecs", json!([{"name": "zstd", "level": 1}]), unnamed),
        ] {
            let error = Layout::parse(Zarr::V3, &with(key, value)).unwrap_err();
            let start = format!("is not valid array metadata: {message}");
            assert!(error.starts_with(&start), "{error}");
        }
    }

    #[test]
    fn metadata_of_version_2_may_lack_what_has_a_default() {
        let json = json!({
            "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": ">i2", "fill_value": null,
            "order": "C", "compressor": {"id": "zstd", "level": 1, "checksum": true},
        });
        let parse = |json: &Value| Layout::parse(Zarr::V2, &serde_json::to_vec(json).unwrap());
        let layout = parse(&json).unwrap();
        assert_eq!((layout.dtype, layout.key(&[1])), (DType::I16, "1".into()));
        for (key, value, message) in [
            ("zarr_format", json!(3), "`zarr_format` is 3, expected 2"),
            (
                "dtype",
                json!([["a", "<i2"]]),
                "the dtype `[[\"a\",\"<i2\"]]` is not supported",
            ),
            (
                "order",
                json!("F"),
                "the element order is \"F\", expected \"C\"",
            ),
            (
                "filters",
                json!([{"id": "delta"}]),
                "filters are not supported",
            ),
            (
                "compressor",
                json!({"id": "blosc"}),
                "the compressor `blosc` is not supported",
            ),
            (
                "dimension_separator",
                json!("-"),
                "`-` is not a separator of chunk keys",
            ),
        ] {
            let mut json = json.clone();
            json[key] = value;
            let error = parse(&json).unwrap_err();
            assert_eq!(error, format!("is not valid array metadata: {message}"));
        }
    }
}
