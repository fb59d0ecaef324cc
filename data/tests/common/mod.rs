//! Files that are sound, to be read, and to be damaged.

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
