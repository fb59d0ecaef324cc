//! Files of data: sound ones are read, damaged ones are named.

use crate::common;

use common::{CSV, EXAMPLE, JSON_LINES, cifar10, gzip, idx, matrix, npz, safetensors};
use ndarray::{Array, array};
use ramie_core::DType;
use ramie_data::readers::cifar::{self, Classes};
use ramie_data::readers::idx::Mnist;
use ramie_data::readers::jsonl::JsonLines;
use ramie_data::readers::safetensors::Safetensors;
use ramie_data::readers::text::{Characters, Lines};
use ramie_data::readers::tfrecord::{Example, TfRecords};
use ramie_data::readers::tokens::{TokenFile, TokenType, pack};
use ramie_data::readers::{csv, idx as idx_files, npy};
use ramie_data::{DataLoader, Error, HostArray, Result, Source, Stream};
use serde::Deserialize;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A file of these bytes; it is gone with the folder.
fn file(name: &str, bytes: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// The message of an error, which begins with the file's name.
#[track_caller]
fn said<T>(result: Result<T>, name: &str) -> String {
    let message = result.err().expect("a damaged file").to_string();
    let (before, rest) = message.split_once(name).expect("the name of the file");
    assert!(before.is_empty() || before.ends_with('/'), "{message}");
    rest.to_string()
}

/// A message with the remedy for a damaged file.
fn copy_again(message: &str) -> String {
    format!("{message}\n  help: {}", ramie_core::files::DAMAGED)
}

fn without(bytes: &[u8], count: usize) -> Vec<u8> {
    bytes[..bytes.len() - count].to_vec()
}

fn with(bytes: &[u8], at: usize, new: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + new.len()].copy_from_slice(new);
    bytes
}

#[test]
fn idx_files() {
    let x = idx_files::parse("x", &gzip(&idx())).unwrap();
    assert_eq!((x.dtype(), x.shape()), (DType::U8, &[2, 3, 2][..]));
    assert_eq!(x.to_ndarray::<u8>().unwrap()[[1, 2, 1]], 11);
    let big = [0, 0, 0x0d, 1, 0, 0, 0, 1, 0x3f, 0x80, 0, 0];
    assert_eq!(
        idx_files::parse("x", &big)
            .unwrap()
            .to_vec::<f32>()
            .unwrap(),
        [1.0]
    );
    let parse = |bytes: &[u8]| said(idx_files::parse("x.idx", bytes), "x.idx");
    assert_eq!(
        parse(b"PK"),
        copy_again(": has 2 of the 4 bytes of the magic number; the file is cut short")
    );
    assert!(parse(&[1, 2, 3, 4]).contains("[01, 02, 03, 04], expected the magic number of an IDX"));
    assert!(
        parse(&without(&idx(), 1)).contains("has 11 of the 12 bytes of the elements of [2, 3, 2]")
    );
    assert!(parse(&[idx(), vec![0]].concat()).contains("contains data after its elements"));
    let huge = with(&idx(), 4, &[255; 12]);
    assert!(parse(&huge).contains("cut short") || parse(&huge).contains("too large"));
    let more = with(&gzip(&idx()), 12, &[77]);
    assert!(parse(&more).starts_with(": "));
}

#[test]
fn mnist_folders() {
    let (folder, path) = file("train-images-idx3-ubyte.gz", gzip(&idx()));
    let labels = folder.path().join("train-labels-idx1-ubyte");
    fs::write(&labels, [0, 0, 8, 1, 0, 0, 0, 2, 5, 6]).unwrap();
    let mnist = Mnist::load(folder.path(), "train").unwrap();
    assert_eq!(
        (mnist.images.dim(), mnist.labels.to_vec()),
        ((2, 3, 2), vec![5, 6])
    );
    assert_eq!(DataLoader::new(mnist).batch_size(2).len(), 1);
    fs::write(&labels, [0, 0, 8, 1, 0, 0, 0, 1, 5]).unwrap();
    let name = "train-labels-idx1-ubyte";
    assert_eq!(
        said(Mnist::load(folder.path(), "train"), name),
        copy_again(": has 1 labels for 2 images")
    );
    fs::write(&labels, idx()).unwrap();
    let message = said(Mnist::load(folder.path(), "train"), name);
    assert_eq!(
        message,
        copy_again(": contains u8[2, 3, 2], expected labels: unsigned bytes of 1 dimensions")
    );
    fs::remove_file(path).unwrap();
    let message = said(
        Mnist::load(folder.path(), "train"),
        "train-images-idx3-ubyte.gz",
    );
    assert!(message.starts_with(": cannot be read: "), "{message}");
    assert!(message.contains("\n  help: check the path"), "{message}");
}

#[test]
fn cifar_files() {
    let data = cifar::parse("c", &cifar10(), Classes::Ten).unwrap();
    assert_eq!(
        (data.images.dim(), data.labels.to_vec()),
        ((2, 32, 32, 3), vec![3, 9])
    );
    // Planes have become colours.
    assert_eq!(
        data.images
            .slice_axis(ndarray::Axis(0), (1..2).into())
            .iter()
            .take(3)
            .copied()
            .collect::<Vec<_>>(),
        [9, 59, 109]
    );
    let hundred: Vec<u8> = [19, 99].into_iter().chain([0; 3072]).collect();
    let data = cifar::parse("c", &hundred, Classes::Hundred).unwrap();
    assert_eq!(
        (data.coarse.to_vec(), data.labels.to_vec()),
        (vec![19], vec![99])
    );
    let parse = |bytes: &[u8]| said(cifar::parse("c.bin", bytes, Classes::Ten), "c.bin");
    assert_eq!(
        parse(&with(&cifar10(), 3073, &[10])),
        copy_again(", record 1: the label is 10, expected less than 10")
    );
    assert!(
        parse(&without(&cifar10(), 5)).starts_with(": has 6141 bytes, expected records of 3073")
    );
    assert!(parse(&[]).starts_with(": has 0 bytes"));
    let (folder, path) = file("a.bin", cifar10());
    assert_eq!(
        cifar::load([&path, &path], Classes::Ten)
            .unwrap()
            .labels
            .to_vec(),
        [3, 9, 3, 9]
    );
    drop(folder);
}

#[test]
fn csv_tables() {
    let options = csv::Options::default();
    let table = csv::parse("t", CSV.as_bytes(), &options).unwrap();
    assert_eq!(
        table.matrix::<f64>(&["b", "a"]).unwrap(),
        array![[2.5, 1.0], [-4.0, 3.0]]
    );
    assert_eq!(table.texts("kind").unwrap(), ["x, y", "z"]);
    assert_eq!(table.get(1).unwrap(), ["3", "-4", "z"]);
    let message = said(table.column::<i32>("b"), "t");
    assert_eq!(
        message,
        ", row 2: column \"b\" is \"2.5\": invalid digit found in string\n  help: correct the field, or read \
         the column as another type or with `texts`"
    );
    assert_eq!(
        said(table.texts("c"), "t"),
        ": has no column \"c\"; its columns are a, b, kind\n  help: use one of these names"
    );
    let wide = csv::parse("t", b"x0,x1,x2,x3,x4,x5,x6,x7,x8,Price,rooms\n", &options);
    assert_eq!(
        said(wide.unwrap().texts("prize"), "t"),
        ": has no column \"prize\"; its columns are Price, x0, x1, x2, x3, x4, x5, x6 and 3 more\n  help: use \
         one of these names"
    );
    let parse = |bytes: &[u8]| said(csv::parse("t.csv", bytes, &options), "t.csv");
    assert_eq!(
        parse(b"a,b\n1,2\n3\n"),
        ", row 3: has 1 fields, expected 2 as in the first row\n  help: complete the row, or quote fields that \
         contain the delimiter"
    );
    let message = parse(b"a,b\n1,\xff\n");
    assert!(message.starts_with(", row 2: is not UTF-8"), "{message}");
    assert!(message.contains("\n  help: convert the file"), "{message}");
    let tabs = csv::Options {
        delimiter: b'\t',
        header: false,
    };
    let table = csv::parse("t", b"1\t2\n3\t4\n", &tabs).unwrap();
    assert_eq!(table.column::<i32>("1").unwrap(), array![2, 4]);

    let (_folder, path) = file("s.csv", CSV);
    let mut rows = csv::stream(&path, &options);
    assert_eq!(rows.next().unwrap().unwrap(), ["1", "2.5", "x, y"]);
    let position = rows.position();
    let mut again = csv::stream(&path, &options);
    again.restore(&position).unwrap();
    assert_eq!(again.next().unwrap().unwrap()[2], "z");
    assert!(again.next().is_none());
    fs::write(&path, "a,b\n1\n2,3\n").unwrap();
    let mut rows = csv::stream(&path, &options);
    let message = said(rows.next().unwrap(), "s.csv");
    assert!(
        message.starts_with(", row 2: has 1 fields, expected 2 as in the first row\n  help: "),
        "{message}"
    );
    let mut missing = csv::stream(&path.with_file_name("none.csv"), &options);
    let message = said(missing.next().unwrap(), "none.csv");
    assert!(message.starts_with(": cannot be read"), "{message}");
    assert!(message.contains("\n  help: check the path"), "{message}");
    assert!(missing.next().is_none());
}

#[test]
fn npy_files() {
    // Written by NumPy 2.4.6: np.save of arange(6, dtype='>i2').reshape(2, 3, order='F').
    let header =
        b"\x93NUMPY\x01\x00v\x00{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }";
    let mut bytes = header.to_vec();
    bytes.resize(127, b' ');
    bytes.push(b'\n');
    bytes.extend((0..6u8).flat_map(|i| [0, i]));
    let x = npy::parse("x", &bytes).unwrap();
    assert_eq!(
        x.to_ndarray::<i16>().unwrap(),
        array![[0, 2, 4], [1, 3, 5]].into_dyn()
    );
    for shape in [&[][..], &[5], &[2, 0], &[2, 3, 4]] {
        let x: HostArray = Array::from_shape_fn(shape, |_| 1.5f64).into();
        let bytes = npy::to_bytes(&x).unwrap();
        assert_eq!((bytes.len() - x.bytes().len()) % 64, 0);
        assert_eq!(npy::parse("x", &bytes).unwrap(), x);
    }
    let one: HostArray = array![true, false].into_dyn().into();
    let bytes = npy::to_bytes(&one).unwrap();
    let parse = |bytes: &[u8]| said(npy::parse("x.npy", bytes), "x.npy");
    assert_eq!(
        parse(&with(&bytes, bytes.len() - 1, &[2])),
        copy_again(": boolean 1 is 2, expected 0 or 1")
    );
    assert!(parse(&without(&bytes, 1)).contains("has 1 of the 2 bytes of the elements of [2]"));
    assert!(parse(&[&bytes[..], b"x"].concat()).contains("contains data after its elements"));
    assert!(parse(b"\x93NUMPY\x09\x00").contains("has version 9, expected 1, 2 or 3"));
    assert!(parse(b"not NumPy").contains("does not begin with the magic number of NumPy arrays"));
    let other = |from: &str, to: &str| {
        let text: Vec<u8> = bytes.clone();
        let at = text
            .windows(from.len())
            .position(|w| w == from.as_bytes())
            .unwrap();
        parse(&with(&text, at, to.as_bytes()))
    };
    assert!(
        other("|b1", "|O8")
            .contains("no device supports the dtype \"|O8\"\n  help: convert the array in NumPy")
    );
    assert!(other("(2,)", "(x,)").contains("the shape has the invalid size \"x\""));
    assert!(other("descr", "DESCR").contains("it has no \"descr\""));
    assert!(other("'|b1'", "[(1,)").contains("the dtype is a record"));
    assert!(other("False", "Maybe").contains("fortran_order is neither True nor False"));
}

#[test]
fn npz_archives() {
    let arrays = npy::parse_npz("a", &npz()).unwrap();
    let bytes = npy::npz_to_bytes(&arrays).unwrap();
    assert_eq!(npy::parse_npz("a", &bytes).unwrap(), arrays);
    assert_eq!(npy::npz_to_bytes(&arrays).unwrap(), bytes);
    assert_eq!(arrays.keys().collect::<Vec<_>>(), ["x", "y"]);
    assert_eq!(arrays["x"], matrix());
    assert!(
        said(npy::parse_npz("a.npz", b"PK"), "a.npz").starts_with(": is not an archive of arrays")
    );
    let bytes = npz();
    let at = bytes.windows(6).rposition(|w| w == b"\x93NUMPY").unwrap();
    let message = said(npy::parse_npz("a.npz", &with(&bytes, at, b"x")), "a.npz");
    assert!(message.starts_with(", y.npy: "), "{message}");
}

#[test]
fn json_lines() {
    #[derive(Debug, Deserialize, PartialEq)]
    struct Example {
        text: String,
        label: i32,
    }
    let (_folder, path) = file("e.jsonl", JSON_LINES);
    let examples: JsonLines<Example> = JsonLines::open(&path).unwrap();
    assert_eq!(examples.len(), 2);
    let two = examples.get(1).unwrap();
    assert_eq!((two.text.as_str(), two.label), ("two", 2));
    fs::write(&path, "{}\n{\"text\": \"\"").unwrap();
    let examples: JsonLines<Example> = JsonLines::open(&path).unwrap();
    let message = said(examples.get(0), "e.jsonl");
    assert!(
        message.starts_with(", row 1: cannot be parsed: missing field"),
        "{message}"
    );
    assert!(
        message.contains("\n  help: correct the line, or pass a type that accepts it"),
        "{message}"
    );
    assert!(said(examples.get(1), "e.jsonl").starts_with(", row 2: cannot be parsed: EOF"));
}

#[test]
fn lines_of_text() {
    let (_folder, path) = file("t.txt", "one\r\ntwo\n\n\u{e9}nd");
    let lines = Lines::open(&path).unwrap();
    let all: Vec<String> = lines.iter().collect::<Result<_>>().unwrap();
    assert_eq!(all, ["one", "two", "", "\u{e9}nd"]);
    assert_eq!(lines.without_blank().unwrap().len(), 3);
    // Longer than is read at once.
    let long = "x".repeat(70_000);
    fs::write(&path, format!("{long}\n{long}y")).unwrap();
    assert_eq!(Lines::open(&path).unwrap().get(1).unwrap().len(), 70_001);
    fs::write(&path, b"ok\n\xff\n").unwrap();
    assert!(said(Lines::open(&path).unwrap().get(1), "t.txt").starts_with(", row 2: is not UTF-8"));
    fs::remove_file(&path).unwrap();
    assert!(said(Lines::open(&path), "t.txt").starts_with(": cannot be read: "));
    let characters = Characters::of("ab");
    let e = characters.encode("abc").unwrap_err().to_string();
    assert!(e.starts_with("character 2 of the text is 'c'"), "{e}");
    assert!(e.contains("\n  help: create the tokenizer from "), "{e}");
    let e = characters.decode(&[0, -1]).unwrap_err().to_string();
    assert_eq!(
        e,
        "token 1 is -1, expected less than 2\n  help: pass tokens of this tokenizer, or of a model with its \
         vocabulary"
    );
}

#[test]
fn token_files() {
    let tokens: Vec<u8> = (0..10u16).flat_map(|t| (1000 * t).to_le_bytes()).collect();
    let (_folder, path) = file("t.bin", &tokens);
    let open = |kind| TokenFile::open(&path, kind).unwrap();
    let windows = open(TokenType::U16).windows(4);
    assert_eq!(
        (windows.len(), windows.get(1).unwrap()),
        (2, vec![4000, 5000, 6000, 7000])
    );
    let next = open(TokenType::U16).next_token_windows(3);
    assert_eq!(next.len(), 3);
    assert_eq!(
        next.get(2).unwrap(),
        (vec![6000, 7000, 8000], vec![7000, 8000, 9000])
    );
    let loader = DataLoader::new(next).batch_size(2).workers(2).drop_last();
    let (x, y) = loader.iter().next().unwrap().unwrap();
    assert_eq!((x.dim(), y[[1, 0]]), ((2, 3), 4000));
    assert_eq!(open(TokenType::U8).read(2, 2).unwrap(), [232, 3]);
    assert!(open(TokenType::U8).windows(21).is_empty());
    let message = said(open(TokenType::U32).read(4, 2), "t.bin");
    assert_eq!(
        message,
        ": cannot read 2 tokens from index 4 on: it has 5\n  help: read within `len`"
    );
    fs::write(&path, [0, 0, 0, 0, 255, 255, 255, 255]).unwrap();
    let message = said(open(TokenType::U32).read(0, 2), "t.bin");
    assert_eq!(
        message,
        ", record 1: the token is 4294967295, expected less than 2^31\n  help: pass the token type of this \
         file, or copy it again if it is damaged or cut short"
    );
    fs::write(&path, [0; 5]).unwrap();
    let message = said(TokenFile::open(&path, TokenType::U16), "t.bin");
    assert!(
        message.starts_with(": has 5 bytes, expected tokens of 2"),
        "{message}"
    );
}

#[test]
fn packed_rows_hold_every_sequence_once() {
    let sequences: Vec<Vec<i32>> = (0..200)
        .map(|i| vec![i + 1; (i * 7 % 23) as usize])
        .collect();
    let rows = pack(sequences.clone(), 32).unwrap();
    let mut found = vec![0; 201];
    for row in rows.iter() {
        let row = row.unwrap();
        assert_eq!(
            (row.tokens.len(), row.segment_ids.len(), row.positions.len()),
            (32, 32, 32)
        );
        for i in 0..32 {
            found[row.tokens[i] as usize] += 1;
            assert_eq!(row.tokens[i] == 0, row.segment_ids[i] == 0);
            let same = i > 0 && row.segment_ids[i] == row.segment_ids[i - 1];
            assert!(
                row.segment_ids[i] == 0
                    || row.positions[i] == if same { row.positions[i - 1] + 1 } else { 0 }
            );
        }
    }
    for (i, sequence) in sequences.iter().enumerate() {
        assert_eq!(found[i + 1], sequence.len());
    }
    let total: usize = sequences.iter().map(Vec::len).sum();
    assert!(
        rows.len() <= total.div_ceil(32) + 3,
        "{} rows for {total} tokens",
        rows.len()
    );
    let (tokens, segments, positions) = rows.get_batch(&[0, 1], 0).unwrap();
    assert_eq!(
        (tokens.dim(), segments.dim(), positions.dim()),
        ((2, 32), (2, 32), (2, 32))
    );
    let e = pack(vec![vec![1], vec![1; 9]], 8).unwrap_err().to_string();
    assert!(
        e.starts_with("element 1: has 9 tokens, but rows have 8\n  help: "),
        "{e}"
    );
}

#[test]
fn safetensors_files() {
    let (_folder, path) = file("w.safetensors", safetensors());
    let open = Safetensors::open(&path).unwrap();
    assert_eq!(open.names().collect::<Vec<_>>(), ["x", "y"]);
    assert_eq!(
        open.get("x").unwrap().to_vec::<f32>().unwrap(),
        [1.0, 2.0, 3.0, 4.0]
    );
    let rows = open.rows("x").unwrap();
    assert_eq!(
        (rows.len(), rows.get(1).unwrap().to_vec::<f32>().unwrap()),
        (2, vec![3.0, 4.0])
    );
    assert_eq!(rows.get_batch(&[1, 0], 0).unwrap().shape(), [2, 2]);
    assert_eq!(
        said(open.get("z"), "w.safetensors"),
        ": has no array \"z\"; its arrays are x, y\n  help: use one of these names"
    );
    let after = |bytes: Vec<u8>| {
        fs::write(&path, bytes).unwrap();
        said(Safetensors::open(&path), "w.safetensors")
    };
    let text = |from: &str, to: &str| {
        let bytes = safetensors();
        let at = bytes
            .windows(from.len())
            .position(|w| w == from.as_bytes())
            .unwrap();
        after(with(&bytes, at, to.as_bytes()))
    };
    assert_eq!(
        after(vec![1, 2]),
        copy_again(": has only 2 bytes, which is too short")
    );
    assert!(after(with(&safetensors(), 0, &[255; 7])).contains("has a header of"));
    assert!(text("{\"", "[\"").contains("has a header that cannot be read"));
    assert!(text("F32", "F33").contains("array \"x\": has dtype F33"));
    assert!(
        text("[16,19]", "[16,99]")
            .contains("array \"y\": bytes 16 to 99 do not match the size of U8[3]")
    );
    assert!(
        text("[2,2]", "[2,3]")
            .contains("array \"x\": bytes 0 to 16 do not match the size of F32[2, 3]")
    );
    assert!(after(without(&safetensors(), 1)).contains("but 19 according to its header"));
    // `y` within `x`, and a gap before `y`.
    assert!(text("[16,19]", "[08,11]").contains("cannot be read"));
    assert!(text("[16,19]", "[8,11] ").contains("array \"y\": starts at byte 8, expected 16"));
    assert!(text("[16,19]", "[17,20]").contains("array \"y\": starts at byte 17, expected 16"));
}

#[test]
fn records_of_tensorflow() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.tfrecord");
    let bytes = common::tfrecord();
    std::fs::write(&path, &bytes).unwrap();
    let records = TfRecords::open(&path).unwrap();
    assert_eq!(records.len(), 3);
    assert_eq!(records.get(1).unwrap(), b"");
    assert_eq!(records.get(2).unwrap(), b"text");
    // Computed bit by bit, with the polynomial of RFC 3720.
    let sums = [66, 69, 82, 4]
        .into_iter()
        .chain(*b"text")
        .chain([126, 73, 69, 214]);
    assert!(bytes.ends_with(&[&[4, 0, 0, 0, 0, 0, 0, 0][..], &sums.collect::<Vec<u8>>()].concat()));
    let example = Example::parse(&records.get(0).unwrap()).unwrap();
    assert_eq!(
        example.names().collect::<Vec<_>>(),
        ["image", "label", "size"]
    );
    assert_eq!(example.bytes("image").unwrap(), [vec![1, 2], vec![3]]);
    assert_eq!(example.ints("label").unwrap(), [-7]);
    assert_eq!(example.floats("size").unwrap(), [0.5, 2.0]);
    let said = |e: Error| e.to_string();
    assert_eq!(
        said(example.ints("size").unwrap_err()),
        "\"size\" contains floats, expected integers\n  help: read it with the method for floats"
    );
    assert_eq!(
        said(example.floats("depth").unwrap_err()),
        "the example has no \"depth\"; its lists are image, label, size\n  help: use one of these names"
    );
    let e = said(Example::parse(&EXAMPLE[..20]).unwrap_err());
    assert_eq!(
        e,
        "the record is not a tf.train.Example: it ends within a field\n  help: decode records of another format \
         with a function of your own"
    );

    let open = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let name = format!("{}, ", path.display());
        let opened = TfRecords::open(&path).and_then(|r| r.get(2));
        let message = opened.unwrap_err().to_string();
        message
            .strip_prefix(&name)
            .expect("the file's name")
            .to_string()
    };
    let with = |at: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[at] ^= byte;
        bytes
    };
    let end = bytes.len();
    assert_eq!(
        open(&with(end - 6, 1)),
        copy_again("record 2: has the wrong checksum")
    );
    assert!(open(&with(0, 1)).starts_with("record 0: its length has the wrong checksum;"));
    assert!(
        open(&bytes[..end - 3]).starts_with("record 2: should have 4 bytes, but only 17 are left")
    );
    assert!(open(&bytes[..end - 10]).starts_with("record 2: has only 10 bytes"));
}

/// A pipe would keep a reader waiting, and a device never ends.
#[cfg(unix)]
#[test]
fn only_regular_files_are_read() {
    type Read = fn(&std::path::Path) -> Result<()>;
    let readers: Vec<(&str, Read)> = vec![
        ("cifar", |p| cifar::load([p], Classes::Ten).map(drop)),
        ("csv", |p| csv::load(p, &csv::Options::default()).map(drop)),
        ("idx", |p| idx_files::load(p).map(drop)),
        ("jsonl", |p| {
            JsonLines::<serde_json::Value>::open(p).map(drop)
        }),
        ("npy", |p| npy::load(p).map(drop)),
        ("npz", |p| npy::load_npz(p).map(drop)),
        ("safetensors", |p| Safetensors::open(p).map(drop)),
        ("lines", |p| Lines::open(p).map(drop)),
        ("text", |p| ramie_data::readers::text::load(p).map(drop)),
        ("tfrecord", |p| TfRecords::open(p).map(drop)),
        ("tokens", |p| TokenFile::open(p, TokenType::U32).map(drop)),
        #[cfg(feature = "parquet")]
        ("parquet", |p| {
            ramie_data::readers::parquet::load(p).map(drop)
        }),
        #[cfg(feature = "tokenizers")]
        ("tokenizers", |p| {
            ramie_data::readers::tokenizers::Tokenizer::load(p).map(drop)
        }),
    ];
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for (name, read) in readers {
        let zero = PathBuf::from("/dev/zero");
        for (path, what) in [
            (pipe.clone(), "it is a named pipe"),
            (zero, "it is a device"),
            (folder.path().to_owned(), "it is a directory"),
        ] {
            let (send, receive) = std::sync::mpsc::channel();
            std::thread::spawn(move || send.send(read(&path)));
            let limit = std::time::Duration::from_secs(60);
            let answer = receive.recv_timeout(limit);
            let error = answer
                .unwrap_or_else(|_| panic!("{name} hangs"))
                .unwrap_err();
            let error = error.to_string();
            let explained = error.contains(what) && error.contains("\n  help: ");
            assert!(explained, "{name}: {error}");
        }
    }
}
