//! GGUF files of the package `gguf`: values equal those that it reads, and what is said of files
//! that are damaged.

use ramie_checkpoint::gguf::{GgufFile, Value, Values, load_abstract, load_into};
use ramie_checkpoint::{Format, load_state, safetensors};
use ramie_core::{Array, DType, State};
use std::fs;
use std::path::PathBuf;

fn golden(name: &str) -> PathBuf {
    ramie_testing::golden::path("gguf").join(name)
}

/// The message of the error of opening a file with these bytes, without its path.
#[track_caller]
fn said(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    fs::write(&path, bytes).unwrap();
    let text = GgufFile::open(&path).unwrap_err().to_string();
    let rest = text.strip_prefix(&format!("{}: ", path.display()));
    rest.expect("the path").to_owned()
}

#[test]
fn tensors_equal_those_of_the_reference() {
    let file = GgufFile::open(golden("types.gguf")).unwrap();
    let expected = safetensors::load_state(golden("types.safetensors")).unwrap();
    let mut compared = 0;
    for (name, expected) in expected.iter() {
        let array = file.array(name).unwrap();
        assert_eq!(array.shape(), expected.shape(), "{name}");
        let (got, expected) = match expected.dtype() {
            DType::F32 => (array.astype(DType::F32), expected.clone()),
            _ => (array, expected.clone()),
        };
        let bytes = |array: &Array| array.try_to_bytes().unwrap();
        assert_eq!(got.dtype(), expected.dtype(), "{name}");
        assert_eq!(bytes(&got), bytes(&expected), "{name}");
        compared += 1;
    }
    assert_eq!((compared, file.tensors().len()), (17, 18));
    let dtype = |name: &str| file.array(name).unwrap().dtype();
    let kept = ["f16", "bf16", "f64", "i8", "q4_k"].map(dtype);
    let expected = [DType::F16, DType::BF16, DType::F64, DType::I8, DType::F32];
    assert_eq!(kept, expected);
}

#[test]
fn metadata_has_every_type() {
    let file = GgufFile::open(golden("types.gguf")).unwrap();
    assert_eq!(file.version(), 3);
    let shown: Vec<String> = file
        .metadata()
        .iter()
        .map(|(key, value)| format!("{key}: {} = {value}", value.type_name()))
        .collect();
    let expected = [
        r#"general.architecture: string = "test""#,
        "test.uint8: u8 = 255",
        "test.int8: i8 = -128",
        "test.uint16: u16 = 65535",
        "test.int16: i16 = -32768",
        "test.uint32: u32 = 4294967295",
        "test.int32: i32 = -2147483648",
        "test.uint64: u64 = 18446744073709551615",
        "test.int64: i64 = -9223372036854775808",
        "test.float32: f32 = 1e-5",
        "test.float64: f64 = 0.1",
        "test.bool: bool = true",
        r#"test.string: string = "naïve \"text\"\n""#,
        "test.array.uint8: u8[2] = [1, 255]",
        "test.array.int8: i8[2] = [-1, 1]",
        "test.array.uint16: u16[1] = [65535]",
        "test.array.int16: i16[1] = [-32768]",
        "test.array.uint32: u32[1] = [4294967295]",
        "test.array.int32: i32[2] = [-5, 6]",
        "test.array.uint64: u64[1] = [18446744073709551615]",
        "test.array.int64: i64[1] = [-9223372036854775808]",
        "test.array.float32: f32[2] = [0.5, -2.0]",
        "test.array.float64: f64[1] = [0.1]",
        "test.array.bool: bool[2] = [true, false]",
        r#"test.array.string: string[3] = ["a", "", "ß"]"#,
        "test.array.nested: array[2] = [[1, 2], [3]]",
    ];
    assert_eq!(shown, expected);
    let get = |key: &str| file.get(key).unwrap();
    assert_eq!(get("test.float32").as_f64(), Some(1e-5));
    assert_eq!(get("test.uint64").as_u64(), Some(u64::MAX));
    assert_eq!(
        (get("test.int8").as_u64(), get("test.bool").as_u64()),
        (None, None)
    );
    assert_eq!(get("test.array.int32").as_integers(), Some(vec![-5, 6]));
    assert_eq!(get("test.array.uint64").as_integers(), None);
    assert_eq!(get("test.array.string").as_strings().unwrap()[2], "ß");
    let Value::Array(Values::Array(nested)) = get("test.array.nested") else {
        panic!("nested arrays");
    };
    assert_eq!(nested[1], Values::I32(vec![3]));
    assert!(file.get("test").is_none());
}

#[test]
fn whole_files_are_read_like_other_formats() {
    let path = golden("llama.gguf");
    assert_eq!(Format::detect(&path).unwrap(), Format::Gguf);
    let state = load_state(&path).unwrap();
    assert_eq!(state["blk.0.attn_k.weight"].shape(), [12, 24]);
    let types = load_abstract(&path).unwrap();
    assert!(types.paths().eq(state.paths()));
    // Into wider numbers, and not into narrower ones.
    let mut wide = state.zeros_like().astype(DType::F64);
    load_into(&path, &mut wide).unwrap();
    let sum = |state: &State| {
        state["output.weight"]
            .astype(DType::F64)
            .sum()
            .item::<f64>()
    };
    assert_eq!(sum(&wide), sum(&state));
    let mut narrow = state.zeros_like().astype(DType::F16);
    let text = load_into(&path, &mut narrow).unwrap_err().to_string();
    assert!(text.contains("the file does not match the tree"), "{text}");
    assert_eq!(sum(&narrow), 0.0);

    // A directory with one file, under another name.
    let folder = tempfile::tempdir().unwrap();
    fs::copy(&path, folder.path().join("model.gguf")).unwrap();
    assert_eq!(load_state(folder.path()).unwrap().len(), state.len());
    fs::rename(
        folder.path().join("model.gguf"),
        folder.path().join("model"),
    )
    .unwrap();
    assert_eq!(
        Format::detect(folder.path().join("model")).unwrap(),
        Format::Gguf
    );
    let text = Format::Gguf.save(&path, &state).unwrap_err().to_string();
    assert!(
        text.contains("Ramie reads GGUF files, but does not write them"),
        "{text}"
    );
}

#[test]
fn tensors_that_cannot_be_read_are_named() {
    let path = golden("types.gguf");
    let file = GgufFile::open(&path).unwrap();
    let text = |name: &str| file.array(name).unwrap_err().to_string();
    let start = |name: &str| format!("{}: tensor `{name}`: ", path.display());
    assert_eq!(
        text("q2_k"),
        start("q2_k")
            + "has type Q2_K, which is not supported\n  help: use a file of another quantization, \
               such as Q4_K_M or Q8_0"
    );
    assert!(text("none").starts_with(&(start("none") + "is not in the file\n  help: ")));
    // The whole file is refused before any of its tensors is read.
    assert_eq!(load_state(&path).unwrap_err().to_string(), text("q2_k"));
}

#[test]
fn damaged_files_are_explained() {
    let sound = fs::read(golden("types.gguf")).unwrap();
    let with = |at: usize, bytes: &[u8]| {
        let mut damaged = sound.clone();
        damaged[at..at + bytes.len()].copy_from_slice(bytes);
        said(&damaged)
    };
    let find = |text: &str| {
        let mut windows = sound.windows(text.len());
        windows.position(|w| w == text.as_bytes()).unwrap()
    };
    let is = |text: String, start: &str| assert!(text.starts_with(start), "{text}");
    is(
        said(b"GG"),
        "is damaged or truncated: the magic number takes 4 bytes, but only 2 follow\n  help: this \
         file is damaged, truncated or of another format; copy, download or convert it again",
    );
    is(
        said(b"PK\x03\x04...."),
        "starts with `PK\\x03\\x04`, expected `GGUF`\n",
    );
    is(
        with(4, &1u32.to_le_bytes()),
        "has version 1 of the format, expected 2 or 3\n",
    );
    is(
        with(4, &3u32.to_be_bytes()),
        "is in big-endian byte order, which is not supported; ",
    );
    is(
        with(4, &9u32.to_le_bytes()),
        "has version 9 of the format, expected 2 or 3\n",
    );
    is(
        with(8, &u64::MAX.to_le_bytes()),
        "is damaged or truncated: it has 18446744073709551615 tensors according to a length field, ",
    );
    is(
        with(find("test.uint8") - 8, &(1u64 << 40).to_le_bytes()),
        "is damaged or truncated: it has 1099511627776 bytes of the key of a metadata entry ",
    );
    is(
        with(find("test.uint8") + 10, &77u32.to_le_bytes()),
        "has a value of type 77 in `test.uint8`, which is not a type of the format\n",
    );
    is(
        with(find("test.int8"), b"\xff"),
        "is damaged: the key of a metadata entry is not UTF-8: ",
    );
    is(
        with(find("test.int16"), b"test.uint8"),
        "contains the metadata `test.uint8` twice\n",
    );

    // The entry of a tensor: its name, the number of axes, the sizes, the type, the offset.
    let entry = |name: &str| {
        let mut text = (name.len() as u64).to_le_bytes().to_vec();
        text.extend(name.as_bytes());
        let mut windows = sound.windows(text.len());
        windows.position(|w| w == text).unwrap() + text.len()
    };
    let (q4_0, f16) = (entry("q4_0"), entry("f16"));
    let tensor = |text: String, start: &str| is(text, &format!("tensor `q4_0`: {start}"));
    tensor(
        with(q4_0, &9u32.to_le_bytes()),
        "has 9 axes, expected at most 8",
    );
    tensor(
        with(q4_0 + 4, &33u64.to_le_bytes()),
        "has rows of 33 elements, but Q4_0 stores blocks of 32; the file is damaged",
    );
    tensor(
        with(q4_0 + 12, &u64::MAX.to_le_bytes()),
        "has the sizes [128, 18446744073709551615], which are too large",
    );
    tensor(
        with(q4_0 + 12, &4_000_000u64.to_le_bytes()),
        "has 288000000 bytes at byte ",
    );
    tensor(
        with(q4_0 + 20, &4u32.to_le_bytes()),
        "has type 4, which is not a type of the format",
    );
    tensor(
        with(q4_0 + 24, &7u64.to_le_bytes()),
        "starts at byte 7, which is not a multiple of 32",
    );
    tensor(
        with(q4_0 + 24, &(u64::MAX - 31).to_le_bytes()),
        "has 216 bytes at byte ",
    );
    let start = &sound[f16 + 24..f16 + 32];
    tensor(
        with(q4_0 + 24, start),
        "overlaps the tensor `f16`; the file is damaged",
    );
    is(with(q4_0 - 4, b"q4_1"), "tensor `q4_1`: occurs twice");

    // No elements, but an axis that is too large for an array.
    let mut empty = sound.clone();
    let sizes = [(1u64 << 57).to_le_bytes(), 0u64.to_le_bytes()].concat();
    empty[f16 + 4..f16 + 20].copy_from_slice(&sizes);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    fs::write(&path, empty).unwrap();
    let error = GgufFile::open(&path).unwrap().array("f16").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("tensor `f16`: "), "{text}");
    assert!(text.contains("more than a process can address"), "{text}");

    // Truncated anywhere, it is refused, but for the padding after the last tensor.
    for length in (0..sound.len() - 32).step_by(7) {
        let text = said(&sound[..length]);
        let known = ["truncated", "expected `GGUF`"]
            .iter()
            .any(|part| text.contains(part));
        assert!(known, "{length}: {text}");
    }
}
