//! Tests of decoding chunks, of which Orbax writes only some kinds.

use super::codec::Codec;
use super::zarr::{Endian, Extension};
use ramie_core::DType;
use serde_json::{Value, json};

/// Returns the codec of a chunk with these codecs in `zarr.json`.
fn codec(list: &Value, chunk: &[usize], dtype: DType) -> Result<Codec, String> {
    let list: Vec<Extension> = serde_json::from_value(list.clone()).unwrap();
    Codec::zarr3(&list, chunk, dtype, true)
}

/// Decodes a chunk of `u16` elements.
fn decode(list: &Value, chunk: &[usize], encoded: &[u8]) -> Result<Vec<u16>, String> {
    // Stale bytes must not be taken for elements.
    let mut out = vec![0xee; 2 * chunk.iter().product::<usize>()];
    codec(list, chunk, DType::U16)?.decode(encoded, chunk, &mut out)?;
    let pairs = out.chunks_exact(2);
    Ok(pairs.map(|b| u16::from_le_bytes([b[0], b[1]])).collect())
}

fn little(numbers: &[u16]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

fn big(numbers: &[u16]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_be_bytes()).collect()
}

/// Appends a checksum.
fn summed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
    bytes
}

fn zipped(bytes: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(bytes, 1).unwrap()
}

/// Returns the codecs of `u16` chunks whose parts have shape `[2, 2]`.
fn sharding(inner: Value, location: &str) -> Value {
    json!([{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [2, 2],
        "codecs": inner,
        "index_codecs": ["bytes", {"name": "crc32c"}],
        "index_location": location,
    }}])
}

/// Returns the stored index of parts with these offsets and lengths.
fn index(entries: &[(u64, u64)]) -> Vec<u8> {
    let numbers = entries.iter().flat_map(|(start, length)| [start, length]);
    summed(numbers.flat_map(|n| n.to_le_bytes()).collect())
}

const MISSING: (u64, u64) = (u64::MAX, u64::MAX);

#[test]
fn big_endian_numbers_are_reversed() {
    let list = json!([{"name": "bytes", "configuration": {"endian": "big"}}]);
    assert_eq!(decode(&list, &[3], &big(&[1, 2, 770])), Ok(vec![1, 2, 770]));
    // Each half of a complex number, and nothing of a byte.
    for (dtype, expected) in [
        (DType::C64, [3, 2, 1, 0, 7, 6, 5, 4]),
        (DType::F64, [7, 6, 5, 4, 3, 2, 1, 0]),
        (DType::I8, [0, 1, 2, 3, 4, 5, 6, 7]),
    ] {
        let chunk = [8 / dtype.size()];
        let encoded = [0, 1, 2, 3, 4, 5, 6, 7];
        let mut out = [0; 8];
        let codec = codec(&list, &chunk, dtype).unwrap();
        codec.decode(&encoded, &chunk, &mut out).unwrap();
        assert_eq!(out, expected, "{dtype}");
        assert_eq!(codec.is_plain(), dtype == DType::I8);
        let codec = Codec::zarr2(true, Endian::Big, dtype);
        codec.decode(&zipped(&encoded), &chunk, &mut out).unwrap();
        assert_eq!(out, expected, "{dtype}");
    }
}

#[test]
fn chains_are_undone_from_the_end() {
    let numbers = [5, 6, 7, 0x0807];
    let plain = little(&numbers);
    let twice = json!(["bytes", "crc32c", "zstd", "crc32c", "zstd"]);
    let all = zipped(&summed(zipped(&summed(plain.clone()))));
    for (list, encoded) in [
        (json!(["bytes"]), plain.clone()),
        (json!(["bytes", "zstd"]), zipped(&plain)),
        (json!(["bytes", "crc32c"]), summed(plain.clone())),
        (json!(["bytes", "zstd", "crc32c"]), summed(zipped(&plain))),
        (
            json!(["bytes", "crc32c", "zstd"]),
            zipped(&summed(plain.clone())),
        ),
        (twice, all),
    ] {
        assert_eq!(
            decode(&list, &[2, 2], &encoded),
            Ok(numbers.to_vec()),
            "{list}"
        );
        // A byte more or less, or another byte.
        let longer = [&encoded[..], &[0]].concat();
        for damaged in [&longer, &encoded[..encoded.len() - 1], &[]] {
            let error = decode(&list, &[2, 2], damaged).unwrap_err();
            let known = [
                "has ",
                "cannot be decompressed: ",
                "is damaged: its checksum",
            ];
            assert!(
                known.iter().any(|k| error.starts_with(k)),
                "{list}: {error}"
            );
        }
        if list.as_array().unwrap().contains(&json!("crc32c")) {
            for i in 0..encoded.len() {
                let mut damaged = encoded.clone();
                damaged[i] ^= 1;
                // A frame may have bits without a meaning.
                let decoded = decode(&list, &[2, 2], &damaged);
                assert!(
                    decoded.is_err() || decoded == Ok(numbers.to_vec()),
                    "{list}: {i}"
                );
            }
        }
    }
    let list = json!(["bytes"]);
    let error = decode(&list, &[2], &[0; 5]).unwrap_err();
    assert_eq!(error, "has 5 bytes, but the chunk has 4");
    assert_eq!(decode(&list, &[], &[1, 2]), Ok(vec![0x0201]));
    assert_eq!(decode(&list, &[0], &[]), Ok(vec![]));
    let error = decode(&json!(["bytes", "zstd"]), &[2], &zipped(&[0; 3])).unwrap_err();
    assert_eq!(error, "has 3 bytes, but the chunk has 4");
}

#[test]
fn frames_larger_than_their_chunk_are_refused() {
    let bomb = zipped(&vec![0; 1 << 24]);
    for (list, encoded) in [
        (json!(["bytes", "zstd"]), bomb.clone()),
        (json!(["bytes", "zstd", "crc32c"]), summed(bomb.clone())),
        (json!(["bytes", "crc32c", "zstd"]), bomb.clone()),
        (json!(["bytes", "zstd", "zstd"]), zipped(&vec![0; 1 << 24])),
    ] {
        let error = decode(&list, &[4], &encoded).unwrap_err();
        assert!(
            error.starts_with("cannot be decompressed: "),
            "{list}: {error}"
        );
    }
}

#[test]
fn parts_are_put_in_their_places() {
    // Rows of a chunk of shape [4, 4], in parts of shape [2, 2].
    let rows: [u16; 16] = [1, 2, 5, 6, 3, 4, 7, 8, 0, 0, 13, 14, 0, 0, 15, 16];
    let big_endian = json!({"name": "endian", "configuration": {"endian": "big"}});
    let plain = |numbers: [u16; 4]| little(&numbers);
    let swapped = |numbers: [u16; 4]| summed(zipped(&big(&numbers)));
    let compressed = |numbers: [u16; 4]| zipped(&little(&numbers));
    let kinds: [(Value, &dyn Fn([u16; 4]) -> Vec<u8>); 3] = [
        (json!(["bytes"]), &plain),
        (json!(["bytes", "zstd"]), &compressed),
        (json!([big_endian, "zstd", "crc32c"]), &swapped),
    ];
    for (inner, encode) in kinds {
        // The file has the parts in another order, with unused bytes between them.
        let last = encode([13, 14, 15, 16]);
        let first = encode([1, 2, 3, 4]);
        let second = encode([5, 6, 7, 8]);
        let stored = [&last[..], &[9, 9, 9], &first, &second].concat();
        let [l, f, s] = [&last, &first, &second].map(|part| part.len() as u64);
        let after = 4 * 16 + 4;
        for (location, base) in [("end", 0), ("start", after)] {
            let entries = [(base + l + 3, f), (base + l + 3 + f, s), MISSING, (base, l)];
            let file = match location {
                "end" => [stored.clone(), index(&entries)].concat(),
                _ => [index(&entries), stored.clone()].concat(),
            };
            let list = sharding(inner.clone(), location);
            assert_eq!(decode(&list, &[4, 4], &file), Ok(rows.to_vec()), "{list}");
        }
    }
}

#[test]
fn an_index_may_be_big_endian_without_a_checksum() {
    let list = json!([{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [2],
        "codecs": ["bytes"],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "big"}}],
    }}]);
    let entries = [2u64, 4, 0, 4].map(u64::to_be_bytes).concat();
    let file = [little(&[1, 2, 3]), entries].concat();
    assert_eq!(decode(&list, &[4], &file), Ok(vec![2, 3, 1, 2]));
}

#[test]
fn damaged_parts_are_refused() {
    let list = sharding(json!(["bytes"]), "end");
    let stored = little(&[1, 2, 3, 4]);
    let file = |entries: &[(u64, u64)]| [stored.clone(), index(entries)].concat();
    let error = |file: &[u8]| decode(&list, &[2, 4], file).unwrap_err();
    let good = file(&[(0, 8), MISSING]);
    assert_eq!(
        decode(&list, &[2, 4], &good),
        Ok(vec![1, 2, 0, 0, 3, 4, 0, 0])
    );
    for (start, length) in [
        (0, 45),
        (44, 1),
        (u64::MAX, 0),
        (0, u64::MAX),
        (u64::MAX - 1, 2),
        (1 << 40, 8),
    ] {
        let expected = format!("has 44 bytes, but a part of {length} bytes at byte {start}");
        assert_eq!(error(&file(&[(0, 8), (start, length)])), expected);
    }
    for (entry, n) in [((0, 7), 7), ((0, 9), 9), ((3, 0), 0)] {
        let expected =
            format!("has a damaged part [0, 1], which has {n} bytes, but the part has 8");
        assert_eq!(error(&file(&[(0, 8), entry])), expected);
    }
    // The index: each of its bytes, one byte more or less, and none.
    for i in 8..good.len() {
        let mut damaged = good.clone();
        damaged[i] ^= 0x40;
        assert_eq!(
            error(&damaged),
            "has a damaged index, which is damaged: its checksum differs"
        );
    }
    let longer = [&good[..], &[0]].concat();
    assert!(error(&longer).starts_with("has a damaged index"));
    assert!(error(&good[..good.len() - 1]).starts_with("has a damaged index"));
    for n in [0, 35] {
        let expected = format!("has {n} bytes, too few for the index of its 2 parts");
        assert_eq!(error(&good[good.len() - n..]), expected);
    }
    // The number of parts is not bounded by the file, but memory is.
    let chunk = [1 << 20, 1 << 20];
    let codec = codec(&list, &chunk, DType::U16).unwrap();
    let error = codec.decode(&good, &chunk, &mut []).unwrap_err();
    assert_eq!(
        error,
        "has 44 bytes, too few for the index of its 274877906944 parts"
    );
}

#[test]
fn missing_parts_need_a_fill_value_of_zero() {
    let list = sharding(json!(["bytes"]), "end");
    let list: Vec<Extension> = serde_json::from_value(list).unwrap();
    let codec = Codec::zarr3(&list, &[2, 2], DType::U16, false).unwrap();
    let error = codec.decode(&index(&[MISSING]), &[2, 2], &mut [0; 8]);
    assert_eq!(
        error,
        Err("lacks a part, and the fill value is not 0".into())
    );
}

#[test]
fn unsupported_codecs_are_named() {
    let shard = |settings: Value| json!([{"name": "sharding_indexed", "configuration": settings}]);
    for (list, message) in [
        (json!([]), "the first codec is not `bytes`"),
        (json!(["zstd"]), "the first codec is not `bytes`"),
        (json!(["zstd", "bytes"]), "`bytes` is not the first codec"),
        (json!(["bytes", "bytes"]), "`bytes` is not the first codec"),
        (
            json!(["bytes", "gzip"]),
            "the codec `gzip` is not supported",
        ),
        (
            json!([{"name": "transpose"}, "bytes"]),
            "the codec `transpose` is not supported",
        ),
        (
            json!(vec!["bytes"; 9]),
            "9 codecs are not supported, at most 8",
        ),
        (
            json!([{"name": "bytes", "configuration": {"endian": "middle"}}]),
            "the settings of `bytes` are invalid: unknown variant `middle`",
        ),
        (
            json!(["sharding_indexed"]),
            "the settings of `sharding_indexed` are invalid: missing field `chunk_shape`",
        ),
        (
            shard(json!({"chunk_shape": [2], "codecs": ["bytes"], "index_codecs": ["bytes"]})),
            "parts have shape [2], but chunks have 2 dimensions",
        ),
        (
            shard(json!({"chunk_shape": [2, 3], "codecs": ["bytes"], "index_codecs": ["bytes"]})),
            "chunks of shape [4, 4] are not divisible into parts of shape [2, 3]",
        ),
        (
            shard(json!({"chunk_shape": [2, 0], "codecs": ["bytes"], "index_codecs": ["bytes"]})),
            "chunks of shape [4, 4] are not divisible into parts of shape [2, 0]",
        ),
        (
            shard(json!({
                "chunk_shape": [2, 2], "codecs": ["bytes"], "index_codecs": ["bytes", "zstd"],
            })),
            "a compressed index of sharding_indexed is not supported",
        ),
        (
            sharding(json!(["bytes", "blosc"]), "end"),
            "the codec `blosc` is not supported",
        ),
        (
            sharding(json!(["bytes"]), "middle"),
            "the settings of `sharding_indexed` are invalid",
        ),
        (
            sharding(sharding(json!(["bytes"]), "end"), "end"),
            "the codec `sharding_indexed` is not supported",
        ),
    ] {
        let error = codec(&list, &[4, 4], DType::U16).unwrap_err();
        assert!(error.starts_with(message), "{list}: {error}");
    }
}
