//! Files that are sound, to be read, and to be damaged.

// Every test uses some of them.
#![allow(dead_code)]

use flate2::Compression;
use flate2::write::GzEncoder;
use ndarray::Array;
use ramie_data::HostArray;
use ramie_data::readers::npy;
use std::io::{Cursor, Write};

/// Images 2 by 3 by 2 as an IDX file.
pub fn idx() -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 2];
    bytes.extend(0..12);
    bytes
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
    gz.write_all(bytes).unwrap();
    gz.finish().unwrap()
}

/// Two images of CIFAR-10.
pub fn cifar10() -> Vec<u8> {
    let image = |label: u8| {
        [label]
            .into_iter()
            .chain((0..3072).map(move |i| (i / 1024 * 50) as u8 + label))
    };
    image(3).chain(image(9)).collect()
}

pub fn matrix() -> HostArray {
    Array::from_shape_fn((2, 3), |(i, j)| (10 * i + j) as f32)
        .into_dyn()
        .into()
}

pub fn npz() -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, method) in [
        ("x.npy", zip::CompressionMethod::Deflated),
        ("y.npy", zip::CompressionMethod::Stored),
    ] {
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        archive.start_file(name, options).unwrap();
        archive
            .write_all(&npy::to_bytes(&matrix()).unwrap())
            .unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// A WAV file with two channels and samples of a format and a number of bits.
pub fn wav(format: u16, bits: u16, samples: &[u8]) -> Vec<u8> {
    let frame = 2 * (bits / 8);
    let size = samples.len() as u32;
    let parts: [&[u8]; 13] = [
        b"RIFF",
        &(size + 46).to_le_bytes(),
        b"WAVEnote\x01\0\0\0!\0fmt \x10\0\0\0",
        &format.to_le_bytes(),
        &2u16.to_le_bytes(),
        &8000u32.to_le_bytes(),
        &(8000 * u32::from(frame)).to_le_bytes(),
        &frame.to_le_bytes(),
        &bits.to_le_bytes(),
        b"data",
        &size.to_le_bytes(),
        samples,
        &[0][..samples.len() % 2],
    ];
    parts.concat()
}

pub const CSV: &str = "a,b,kind\n1,2.5,\"x, y\"\n3,-4,z\n";

pub const JSON_LINES: &str =
    "{\"text\": \"one\", \"label\": 1}\n\n{\"text\": \"two\", \"label\": 2}\n";

/// Two arrays: `x`, f32 of 2 by 2, and `y`, u8 of 3.
pub fn safetensors() -> Vec<u8> {
    let mut header = concat!(
        r#"{"__metadata__":{"format":"np"},"x":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"#,
        r#""y":{"dtype":"U8","shape":[3],"data_offsets":[16,19]}}"#
    )
    .to_string();
    while !header.len().is_multiple_of(8) {
        header.push(' ');
    }
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.bytes());
    bytes.extend([1.0f32, 2.0, 3.0, 4.0].iter().flat_map(|x| x.to_le_bytes()));
    bytes.extend([7, 8, 9]);
    bytes
}

/// A `tf.train.Example` as `protobuf` 7.36 writes it in Python: `image` has the
/// bytes `[1, 2]` and `[3]`, `label` the number -7, and `size` the floats 0.5 and 2.
pub const EXAMPLE: &[u8] = b"\nC\
    \n\x12\n\x05image\x12\t\n\x07\n\x02\x01\x02\n\x01\x03\
    \n\x17\n\x05label\x12\x0e\x1a\x0c\n\n\xf9\xff\xff\xff\xff\xff\xff\xff\xff\x01\
    \n\x14\n\x04size\x12\x0c\x12\n\n\x08\0\0\0?\0\0\0@";

/// A file of three records, one of them empty.
pub fn tfrecord() -> Vec<u8> {
    ramie_data::readers::tfrecord::to_bytes([EXAMPLE, b"", b"text"])
}

/// A PNG and a JPEG file of 3 by 2 pixels.
#[cfg(feature = "images")]
pub fn images() -> Vec<Vec<u8>> {
    let image = image::RgbImage::from_fn(3, 2, |x, y| image::Rgb([10 * x as u8, 20 * y as u8, 30]));
    let encode = |format| {
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    };
    vec![
        encode(image::ImageFormat::Png),
        encode(image::ImageFormat::Jpeg),
    ]
}

/// A table of every kind of column that is read, in two batches: as a Parquet
/// file, and as an Arrow file.
#[cfg(feature = "parquet")]
pub fn parquet_and_arrow() -> Vec<Vec<u8>> {
    use arrow_array::builder::{FixedSizeListBuilder, Float32Builder, ListBuilder, UInt8Builder};
    use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray};
    use std::sync::Arc;

    let batch = |from: i64| {
        let mut pairs = FixedSizeListBuilder::new(Float32Builder::new(), 2);
        let mut lists = ListBuilder::new(UInt8Builder::new());
        for i in from..from + 3 {
            pairs.values().append_slice(&[i as f32, 0.5]);
            pairs.append(true);
            lists.values().append_slice(&[i as u8; 3]);
            lists.append(true);
        }
        let numbers: Vec<i64> = (from..from + 3).collect();
        let text = |i: &i64| match *i {
            5 => None,
            i => Some(format!("text {i}")),
        };
        let texts: Vec<Option<String>> = numbers.iter().map(text).collect();
        let odd: Vec<bool> = numbers.iter().map(|i| i % 2 == 1).collect();
        let known: Vec<String> = numbers.iter().map(|i| format!("name {i}")).collect();
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("id", Arc::new(Int64Array::from(numbers))),
            ("odd", Arc::new(BooleanArray::from(odd))),
            ("name", Arc::new(StringArray::from(known))),
            ("note", Arc::new(StringArray::from(texts))),
            ("pair", Arc::new(pairs.finish())),
            ("list", Arc::new(lists.finish())),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true)))
            .unwrap()
    };
    let batches = [batch(0), batch(3)];
    let mut parquet = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut parquet, batches[0].schema(), None).unwrap();
    for batch in &batches {
        writer.write(batch).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
    let mut arrow = Vec::new();
    let mut writer =
        arrow_ipc::writer::FileWriter::try_new(&mut arrow, &batches[0].schema()).unwrap();
    for batch in &batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    vec![parquet, arrow]
}

/// Words by spaces, as `tokenizers` writes such a tokenizer.
#[cfg(feature = "tokenizers")]
pub const TOKENIZER: &str = r#"{"version":"1.0","truncation":null,"padding":null,"added_tokens":[
{"id":0,"content":"[UNK]","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}],
"normalizer":{"type":"Lowercase"},"pre_tokenizer":{"type":"Whitespace"},"post_processor":null,"decoder":null,
"model":{"type":"WordLevel","vocab":{"[UNK]":0,"hello":1,"world":2},"unk_token":"[UNK]"}}"#;

/// A file of the recorded data with a small tokenizer, or with what the reference does with it.
pub fn golden_tokenizer(name: &str) -> std::path::PathBuf {
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden/data/gguf");
    data.join(name)
}

pub fn gguf_tokenizer() -> Vec<u8> {
    std::fs::read(golden_tokenizer("tokenizer.gguf")).unwrap()
}
