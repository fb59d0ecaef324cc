//! Conversion between the bytes of a chunk's file and its elements.
//!
//! The most common formats of Orbax and Ramie, plain elements and Zstandard, are decoded here
//! directly into the destination. Other formats use the codecs of the `zarrs` crate. Decoding
//! never allocates more memory than the chunk needs, regardless of what the file claims.

use ramie_core::DType;
use std::borrow::Cow;
use std::num::NonZeroU64;
use std::sync::Arc;
use zarrs::array::codec::api::{
    ArrayToBytesCodecTraits, BytesToBytesCodecTraits, CodecError, CodecMetadataOptions,
    CodecOptions, CodecTraits, PartialDecoderCapability, PartialEncoderCapability,
    RecommendedConcurrency,
};
use zarrs::array::codec::{BytesCodec, Crc32cCodec, ShardingCodec, ShardingIndexLocation};
use zarrs::array::{
    ArrayBytesRaw, BytesRepresentation, CodecChain, DataType, FillValue, data_type,
};
use zarrs::metadata::Configuration;
use zarrs::metadata::v3::MetadataV3;
use zarrs::plugin::{ExtensionName, ZarrVersion};

/// Encoding of a chunk's elements.
#[derive(Clone, Debug)]
pub(super) enum Codec {
    /// Plain little-endian elements.
    Plain,
    /// Plain little-endian elements in a Zstandard frame.
    Zstd,
    /// Any other encoding.
    Chain(Chain),
}

/// A chain of `zarrs` codecs.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    codecs: Arc<CodecChain>,
    parts: Option<Parts>,
    data_type: DataType,
    fill: FillValue,
}

/// Several parts in each chunk's file.
#[derive(Clone, Debug)]
struct Parts {
    /// Sharding codec, the only one of the chain.
    codec: Arc<ShardingCodec>,
    /// Number of parts along each axis.
    counts: Vec<NonZeroU64>,
    /// Total number of parts.
    all: u64,
}

/// Returns a data type and fill value for `zarrs`: any number type of the same size, since the
/// values do not matter here.
fn data_type_of(dtype: DType) -> (DataType, FillValue) {
    let data_type = match (dtype, dtype.size()) {
        (DType::C64, _) => data_type::complex64(),
        (DType::C128, _) => data_type::complex128(),
        (_, 1) => data_type::uint8(),
        (_, 2) => data_type::uint16(),
        (_, 4) => data_type::uint32(),
        _ => data_type::uint64(),
    };
    (data_type, FillValue::from(vec![0; dtype.size()]))
}

impl Codec {
    /// Returns the codec of a `.zarray`, given whether it uses Zstandard and its byte order.
    pub fn zarr2(zstd: bool, big_endian: bool, dtype: DType) -> Codec {
        if !big_endian {
            return if zstd { Codec::Zstd } else { Codec::Plain };
        }
        let after: Vec<Arc<dyn BytesToBytesCodecTraits>> = match zstd {
            true => vec![Arc::new(Bounded)],
            false => Vec::new(),
        };
        let chain = CodecChain::new(Vec::new(), Arc::new(BytesCodec::big()), after);
        Codec::Chain(Chain::new(chain, None, dtype))
    }

    /// Returns the codec of a `zarr.json` for chunks of this shape.
    pub fn zarr3(list: &[MetadataV3], chunk: &[usize], dtype: DType) -> Result<Codec, String> {
        let steps = list.iter().map(|m| Step::of(m, true));
        let steps: Vec<Step> = steps.collect::<Result<_, _>>()?;
        match steps.as_slice() {
            [Step::Bytes { big: false }] => return Ok(Codec::Plain),
            [Step::Bytes { big: false }, Step::Zstd] => return Ok(Codec::Zstd),
            [Step::Sharding(sharding)] => {
                let parts = sharding.parts(chunk)?;
                let chain = CodecChain::new(Vec::new(), parts.codec.clone(), Vec::new());
                return Ok(Codec::Chain(Chain::new(chain, Some(parts), dtype)));
            }
            _ => {}
        }
        Ok(Codec::Chain(Chain::new(chain(&steps)?, None, dtype)))
    }

    /// Returns the minimum size of a file that stores a chunk of `bytes` bytes.
    pub fn least(&self, bytes: usize) -> u64 {
        match self {
            Codec::Plain => bytes as u64,
            // A Zstandard block has at least four bytes and decodes to at most 128 KiB.
            _ => bytes as u64 >> 15,
        }
    }

    /// Decodes a chunk of this shape. On error, returns a description of the damage.
    pub fn decode(&self, encoded: &[u8], chunk: &[usize], out: &mut [u8]) -> Result<(), String> {
        match self {
            Codec::Plain => {
                if encoded.len() != out.len() {
                    let (n, m) = (encoded.len(), out.len());
                    return Err(format!("has {n} bytes, but the chunk has {m}"));
                }
                out.copy_from_slice(encoded);
                Ok(())
            }
            Codec::Zstd => {
                let n = zstd::bulk::Decompressor::new()
                    .and_then(|mut zstd| zstd.decompress_to_buffer(encoded, out))
                    .map_err(|e| format!("cannot be decompressed: {e}"))?;
                match n == out.len() {
                    true => Ok(()),
                    false => Err(format!("has {n} bytes, but the chunk has {}", out.len())),
                }
            }
            Codec::Chain(chain) => chain.decode(encoded, chunk, out),
        }
    }
}

impl Chain {
    fn new(codecs: CodecChain, parts: Option<Parts>, dtype: DType) -> Chain {
        let (data_type, fill) = data_type_of(dtype);
        Chain {
            codecs: Arc::new(codecs),
            parts,
            data_type,
            fill,
        }
    }

    fn decode(&self, encoded: &[u8], chunk: &[usize], out: &mut [u8]) -> Result<(), String> {
        let options = CodecOptions::default().with_concurrent_target(1);
        if let Some(parts) = &self.parts {
            parts.check_index(encoded, &options)?;
        }
        let decoded = self
            .codecs
            .decode(
                Cow::Borrowed(encoded),
                &nonzero(chunk)?,
                &self.data_type,
                &self.fill,
                &options,
            )
            .map_err(|e| format!("cannot be decoded: {e}"))?;
        let decoded = decoded
            .into_fixed()
            .map_err(|e| format!("cannot be decoded: {e}"))?;
        if decoded.len() != out.len() {
            let (n, m) = (decoded.len(), out.len());
            return Err(format!("has {n} bytes, but the chunk has {m}"));
        }
        out.copy_from_slice(&decoded);
        Ok(())
    }
}

impl Parts {
    /// Checks that the index of a file refers only to bytes inside the file.
    fn check_index(&self, encoded: &[u8], options: &CodecOptions) -> Result<(), String> {
        let all = encoded.len() as u64;
        if self.all.checked_mul(16).is_none_or(|index| index > all) {
            return Err(format!(
                "has {all} bytes, too few for the index of its {} parts",
                self.all
            ));
        }
        let index = self
            .codec
            .decode_index(encoded, &self.counts, options)
            .map_err(|e| format!("has a damaged index: {e}"))?;
        for pair in index.chunks_exact(2) {
            let (start, length) = (pair[0], pair[1]);
            if (start, length) == (u64::MAX, u64::MAX) {
                continue;
            }
            if start.checked_add(length).is_none_or(|end| end > all) {
                return Err(format!(
                    "has {all} bytes, but a part of {length} bytes at byte {start}"
                ));
            }
        }
        Ok(())
    }
}

/// Converts a shape without zeros to the type that `zarrs` uses.
fn nonzero(shape: &[usize]) -> Result<Vec<NonZeroU64>, String> {
    let size = |n: &usize| NonZeroU64::new(*n as u64).ok_or("chunks have a size of 0");
    Ok(shape.iter().map(size).collect::<Result<_, _>>()?)
}

/// A parsed codec of `zarr.json`.
enum Step {
    Bytes { big: bool },
    Zstd,
    Crc32c,
    Sharding(Sharding),
}

struct Sharding {
    part: Vec<usize>,
    inner: Vec<Step>,
    index: Vec<Step>,
    location: ShardingIndexLocation,
}

impl Step {
    fn of(metadata: &MetadataV3, outermost: bool) -> Result<Step, String> {
        let settings = serde_json::to_value(metadata).unwrap_or_default();
        let settings = &settings["configuration"];
        match metadata.name() {
            "bytes" | "endian" => match settings["endian"].as_str() {
                Some("big") => Ok(Step::Bytes { big: true }),
                Some("little") | None => Ok(Step::Bytes { big: false }),
                Some(other) => Err(format!("`{other}` is not a byte order")),
            },
            "zstd" => Ok(Step::Zstd),
            "crc32c" => Ok(Step::Crc32c),
            "sharding_indexed" if outermost => {
                let list = |key: &str| -> Result<Vec<Step>, String> {
                    let list = settings[key].clone();
                    let list: Vec<MetadataV3> = serde_json::from_value(list)
                        .map_err(|e| format!("`{key}` of sharding_indexed: {e}"))?;
                    list.iter().map(|m| Step::of(m, false)).collect()
                };
                let part = serde_json::from_value(settings["chunk_shape"].clone());
                Ok(Step::Sharding(Sharding {
                    part: part.map_err(|e| format!("`chunk_shape` of sharding_indexed: {e}"))?,
                    inner: list("codecs")?,
                    index: list("index_codecs")?,
                    location: match settings["index_location"].as_str() {
                        Some("start") => ShardingIndexLocation::Start,
                        Some("end") | None => ShardingIndexLocation::End,
                        Some(other) => return Err(format!("`{other}` is not an index location")),
                    },
                }))
            }
            other => Err(format!(
                "the codec `{other}` is not supported\n  help: read the array with Python's zarr \
                 and save it without this codec"
            )),
        }
    }
}

impl Sharding {
    /// Returns the parts of a chunk.
    fn parts(&self, chunk: &[usize]) -> Result<Parts, String> {
        let (part, n) = (&self.part, chunk.len());
        if part.len() != n {
            return Err(format!(
                "parts have shape {part:?}, but chunks have {n} dimensions"
            ));
        }
        let (mut counts, mut all) = (Vec::with_capacity(n), 1u64);
        for (outer, inner) in chunk.iter().zip(part) {
            if *inner == 0 || outer % inner != 0 {
                return Err(format!(
                    "chunks of shape {chunk:?} are not divisible into parts of \
                                    shape {part:?}"
                ));
            }
            let along = outer / inner;
            let more = all.checked_mul(along as u64);
            all = more.ok_or("the number of parts overflows")?;
            counts.push(along);
        }
        // The size of the index must follow from the number of parts.
        let plain = |step: &Step| matches!(step, Step::Bytes { .. } | Step::Crc32c);
        if !self.index.iter().all(plain) {
            return Err("a compressed index of sharding_indexed is not supported".into());
        }
        let codec = ShardingCodec::new(
            nonzero(part)?,
            Arc::new(chain(&self.inner)?),
            Arc::new(chain(&self.index)?),
            self.location,
        );
        Ok(Parts {
            codec: Arc::new(codec),
            counts: nonzero(&counts)?,
            all,
        })
    }
}

/// Creates the codec chain of steps that begin with the byte order.
fn chain(steps: &[Step]) -> Result<CodecChain, String> {
    let Some((Step::Bytes { big }, rest)) = steps.split_first() else {
        return Err("the first codec is not `bytes`".into());
    };
    let first = if *big {
        BytesCodec::big()
    } else {
        BytesCodec::little()
    };
    let mut after: Vec<Arc<dyn BytesToBytesCodecTraits>> = Vec::new();
    for step in rest {
        after.push(match step {
            Step::Zstd => Arc::new(Bounded),
            Step::Crc32c => Arc::new(Crc32cCodec::new()),
            _ => return Err("`bytes` occurs twice".into()),
        });
    }
    Ok(CodecChain::new(Vec::new(), Arc::new(first), after))
}

/// Zstandard codec that never decodes more bytes than expected; the one of `zarrs` trusts the size
/// in the frame.
#[derive(Debug)]
struct Bounded;

impl ExtensionName for Bounded {
    fn name(&self, _: ZarrVersion) -> Option<Cow<'static, str>> {
        Some("zstd".into())
    }
}

impl CodecTraits for Bounded {
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
    fn configuration(&self, _: ZarrVersion, _: &CodecMetadataOptions) -> Option<Configuration> {
        Some(Configuration::default())
    }
    fn partial_decoder_capability(&self) -> PartialDecoderCapability {
        PartialDecoderCapability {
            partial_read: false,
            partial_decode: false,
        }
    }
    fn partial_encoder_capability(&self) -> PartialEncoderCapability {
        PartialEncoderCapability {
            partial_encode: false,
        }
    }
}

impl BytesToBytesCodecTraits for Bounded {
    fn into_dyn(self: Arc<Self>) -> Arc<dyn BytesToBytesCodecTraits> {
        self
    }
    fn recommended_concurrency(
        &self,
        _: &BytesRepresentation,
    ) -> Result<RecommendedConcurrency, CodecError> {
        Ok(RecommendedConcurrency::new_maximum(1))
    }
    fn encoded_representation(&self, decoded: &BytesRepresentation) -> BytesRepresentation {
        match decoded.size().and_then(|n| usize::try_from(n).ok()) {
            Some(n) => BytesRepresentation::BoundedSize(zstd::zstd_safe::compress_bound(n) as u64),
            None => BytesRepresentation::UnboundedSize,
        }
    }
    fn encode<'a>(
        &self,
        decoded: ArrayBytesRaw<'a>,
        _: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        Ok(zstd::bulk::compress(&decoded, 0)?.into())
    }
    fn decode<'a>(
        &self,
        encoded: ArrayBytesRaw<'a>,
        decoded: &BytesRepresentation,
        _: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        let most = decoded.size().and_then(|n| usize::try_from(n).ok());
        let most = most.ok_or_else(|| CodecError::Other("has no known size".into()))?;
        Ok(zstd::bulk::decompress(&encoded, most)?.into())
    }
}
