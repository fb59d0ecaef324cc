//! The files `.zarray` and `zarr.json`: shape, dtype and chunks of a stored array.

use super::codec::Codec;
use super::dtype::{from_zarr2, from_zarr3, zarr2_name, zarr3_name};
use ramie_core::DType;
use serde_json::{Value, json};
use std::ops::Range;
use zarrs::array::{ArrayMetadataV2, ArrayMetadataV3};

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
    keys: Keys,
}

/// Naming scheme of chunk files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Keys {
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
            codec: Codec::Plain,
            fills_with_zero: true,
            keys: match zarr {
                Zarr::V2 => Keys {
                    begins_with_c: false,
                    separator: '.',
                },
                Zarr::V3 => Keys {
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
        let countable = |shape| bytes_of(shape, layout.dtype).is_some();
        if chunk.contains(&0) || !countable(shape) || !countable(chunk) {
            return Err(format!("shape {shape:?} in chunks {chunk:?} is invalid"));
        }
        Ok(layout)
    }

    fn parse_v2(bytes: &[u8]) -> Result<Layout, String> {
        let text = |e: serde_json::Error| e.to_string();
        let metadata: ArrayMetadataV2 = serde_json::from_slice(bytes).map_err(text)?;
        let name = metadata.dtype.to_string();
        let (dtype, big) =
            from_zarr2(&name).ok_or_else(|| format!("the dtype `{name}` is not supported"))?;
        let zstd = match metadata.compressor.as_ref().map(|c| c.id().to_owned()) {
            None => false,
            Some(id) if id == "zstd" => true,
            Some(id) => return Err(format!("the compressor `{id}` is not supported")),
        };
        let order = serde_json::to_value(metadata.order).map_err(text)?;
        if order != "C" {
            return Err(format!("the element order is {order}, expected C"));
        }
        if metadata.filters.is_some_and(|f| !f.is_empty()) {
            return Err("filters are not supported".into());
        }
        let separator = serde_json::to_value(metadata.dimension_separator).map_err(text)?;
        let chunk: Vec<u64> = metadata.chunks.iter().map(|n| n.get()).collect();
        let fill = serde_json::to_value(&metadata.fill_value).map_err(text)?;
        Ok(Layout {
            shape: sizes(&metadata.shape)?,
            chunk: sizes(&chunk)?,
            dtype,
            codec: Codec::zarr2(zstd, big, dtype),
            fills_with_zero: is_zero(&fill),
            keys: Keys {
                begins_with_c: false,
                separator: if separator == "/" { '/' } else { '.' },
            },
        })
    }

    fn parse_v3(bytes: &[u8]) -> Result<Layout, String> {
        let text = |e: serde_json::Error| e.to_string();
        let metadata: ArrayMetadataV3 = serde_json::from_slice(bytes).map_err(text)?;
        let name = metadata.data_type.name();
        let dtype =
            from_zarr3(name).ok_or_else(|| format!("the dtype `{name}` is not supported"))?;
        let grid = metadata.chunk_grid.name();
        if grid != "regular" || !metadata.storage_transformers.is_empty() {
            return Err(format!("the chunk grid `{grid}` is not supported"));
        }
        let grid = serde_json::to_value(&metadata.chunk_grid).map_err(text)?;
        let chunk = &grid["configuration"]["chunk_shape"];
        let chunk: Vec<u64> = serde_json::from_value(chunk.clone()).map_err(text)?;
        let chunk = sizes(&chunk)?;
        let begins_with_c = match metadata.chunk_key_encoding.name() {
            "default" => true,
            "v2" => false,
            other => return Err(format!("the chunk key encoding `{other}` is not supported")),
        };
        let keys = serde_json::to_value(&metadata.chunk_key_encoding).map_err(text)?;
        let separator = match keys["configuration"]["separator"].as_str() {
            Some(".") => '.',
            Some("/") => '/',
            None if begins_with_c => '/',
            None => '.',
            Some(other) => return Err(format!("`{other}` is not a separator of chunk keys")),
        };
        if chunk.contains(&0) {
            return Err("chunks have a size of 0".into());
        }
        let fill = serde_json::to_value(&metadata.fill_value).map_err(text)?;
        Ok(Layout {
            shape: sizes(&metadata.shape)?,
            codec: Codec::zarr3(&metadata.codecs, &chunk, dtype)?,
            chunk,
            dtype,
            fills_with_zero: is_zero(&fill),
            keys: Keys {
                begins_with_c,
                separator,
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
        let Keys {
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
            .map(|(r, c)| match r.is_empty() {
                true => 0..0,
                false => r.start / c..(r.end - 1) / c + 1,
            })
            .collect();
        let first = ranges.iter().map(|r| r.start).collect();
        Cells {
            next: (!ranges.iter().any(|r| r.is_empty())).then_some(first),
            ranges,
        }
    }

    /// Returns the number of chunks that overlap a region.
    pub fn count(&self, region: &[Range<usize>]) -> usize {
        let along = |(r, c): (&Range<usize>, &usize)| r.end.div_ceil(*c) - r.start / c;
        let counts = region.iter().zip(&self.chunk).map(along);
        counts.fold(1, usize::saturating_mul)
    }

    /// Returns the region of a chunk, which may extend beyond the array.
    pub fn region(&self, cell: &[usize]) -> Vec<Range<usize>> {
        let sizes = cell.iter().zip(&self.chunk);
        sizes.map(|(i, c)| i * c..(i + 1) * c).collect()
    }
}

/// Iterator over grid positions of chunks; the last axis varies fastest.
pub(super) struct Cells {
    ranges: Vec<Range<usize>>,
    next: Option<Vec<usize>>,
}

impl Iterator for Cells {
    type Item = Vec<usize>;
    fn next(&mut self) -> Option<Vec<usize>> {
        let now = self.next.clone()?;
        self.next = None;
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

/// Converts sizes to `usize`.
fn sizes(shape: &[u64]) -> Result<Vec<usize>, String> {
    let size = |n: &u64| usize::try_from(*n).map_err(|_| format!("the size {n} is too large"));
    shape.iter().map(size).collect()
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
