//! PyTorch files: values equal those that were saved, and what is said of files that are damaged or
//! refer to code.

mod lazy;

use ramie_checkpoint::pytorch::{PyTorchFile, load_abstract, load_into};
use ramie_checkpoint::serialization::StateDict;
use ramie_checkpoint::{Format, load_state};
use ramie_core::dtypes::Scalar;
use ramie_core::files::DAMAGED;
use ramie_core::{Array, DType, State};
use std::fs;
use std::io::{Cursor, Write};
use std::path::PathBuf;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

fn golden(name: &str) -> PathBuf {
    ramie_testing::golden::path("pytorch").join(name)
}

const FILES: [&str; 3] = ["archive.pt", "protocol4.pt", "legacy.pth"];

/// Opens a file with these bytes.
fn open(bytes: &[u8]) -> Result<PyTorchFile, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.pt");
    fs::write(&path, bytes).unwrap();
    PyTorchFile::open(&path).map_err(|error| {
        let text = error.to_string();
        let rest = text.strip_prefix(&format!("{}: ", path.display()));
        rest.expect("the path").to_owned()
    })
}

/// The message of the error of opening a file with these bytes, without its path.
#[track_caller]
fn said(bytes: &[u8]) -> String {
    open(bytes).map(|_| ()).unwrap_err()
}

#[test]
fn tensors_equal_those_that_were_saved() {
    for name in FILES {
        let file = PyTorchFile::open(golden(name)).unwrap();
        let names: Vec<&str> = file.tensors().iter().map(|t| &*t.name).collect();
        assert_eq!(names.len(), 25, "{name}: {names:?}");
        assert_eq!(names[21], "optimizer.state.0.step", "{name}");
        let array = |name: &str| file.array(&format!("state_dict.{name}")).unwrap();
        let floats = |name: &str| array(name).to_vec::<f32>();
        assert_eq!(array("f32").shape(), [2, 3]);
        assert_eq!(floats("f32"), [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]);
        assert_eq!(array("transposed").shape(), [3, 2]);
        assert_eq!(floats("transposed"), [0.5, 3.5, 1.5, 4.5, 2.5, 5.5]);
        assert_eq!(floats("row"), [3.5, 4.5, 5.5]);
        assert_eq!(floats("column"), [1.5, 4.5]);
        assert_eq!(floats("tied"), floats("f32"));
        assert_eq!(floats("same"), floats("f32"));
        assert_eq!(array("empty").shape(), [0, 4]);
        let count = array("bn.num_batches_tracked");
        assert_eq!((count.shape(), count.item::<i64>()), (&[][..], 7));
        assert_eq!(array("f64").to_vec::<f64>(), [0.1, -1e300]);
        assert_eq!(array("i64").to_vec::<i64>(), [i64::MIN, i64::MAX]);
        assert_eq!(array("i32").to_vec::<i32>(), [i32::MIN, 5]);
        assert_eq!(array("i16").to_vec::<i16>(), [i16::MIN, 5]);
        assert_eq!(array("i8").to_vec::<i8>(), [i8::MIN, 5]);
        assert_eq!(array("u8").to_vec::<u8>(), [255, 5]);
        assert_eq!(array("u16").to_vec::<u16>(), [1, u16::MAX]);
        assert_eq!(array("bool").to_vec::<bool>(), [true, false]);
        for (name, dtype, expected) in [
            ("f16", DType::F16, [0.25, -2.0]),
            ("bf16", DType::BF16, [1.5, -3.0]),
            ("f8", DType::F8E4M3Fn, [1.0, -2.0]),
        ] {
            let array = array(name);
            assert_eq!(array.dtype(), dtype);
            assert_eq!(array.astype(DType::F32).to_vec::<f32>(), expected, "{name}");
        }
        for (name, dtype) in [("c64", DType::C64), ("c128", DType::C128)] {
            let array = array(name);
            assert_eq!(array.dtype(), dtype);
            let part = |part: Array| part.astype(DType::F32).to_vec::<f32>();
            assert_eq!(part(array.real()), [1.0, 0.0]);
            assert_eq!(part(array.imag()), [2.0, -0.5]);
        }
    }
}

#[test]
fn other_values_are_kept() {
    for name in FILES {
        let dict = load_abstract(golden(name)).unwrap();
        let StateDict::Dict(parts) = &dict else {
            panic!("a dictionary");
        };
        let names: Vec<&str> = parts.iter().map(|(name, _)| &**name).collect();
        let expected = [
            "epoch",
            "state_dict",
            "optimizer",
            "name",
            "rng",
            "size",
            "dtype",
            "device",
            "tags",
            "seed",
            "huge",
            "negative",
            "complex",
            "nothing",
            "numpy",
        ];
        assert_eq!(names, expected, "{name}");
        let get = |path: &str| dict.get(path).unwrap_or_else(|| panic!("{path}"));
        let number = |path: &str| match get(path) {
            StateDict::Number(number) => *number,
            other => panic!("{path}: {other:?}"),
        };
        let text = |path: &str| match get(path) {
            StateDict::Str(text) => text.clone(),
            other => panic!("{path}: {other:?}"),
        };
        assert_eq!(number("epoch"), Scalar::Int(3));
        assert_eq!(number("negative"), Scalar::Int(-70000));
        assert_eq!(number("seed"), Scalar::Uint(u64::MAX));
        assert_eq!(number("complex"), Scalar::Complex(1.0, -2.0));
        for (kind, value) in [
            ("f64", Scalar::Float(0.1)),
            ("best", Scalar::Float(-2.5)),
            ("f32", Scalar::Float(0.5)),
            ("f16", Scalar::Float(1.5)),
            ("i64", Scalar::Int(-3)),
            ("i8", Scalar::Int(-128)),
            ("u64", Scalar::Uint(u64::MAX)),
            ("u8", Scalar::Int(255)),
            ("bool", Scalar::Bool(true)),
            ("c128", Scalar::Complex(1.0, -2.0)),
        ] {
            assert_eq!(number(&format!("numpy.{kind}")), value, "{kind}");
        }
        let group = "optimizer.param_groups.0";
        assert_eq!(number(&format!("{group}.lr")), Scalar::Float(1e-3));
        assert_eq!(number(&format!("{group}.betas.1")), Scalar::Float(0.999));
        assert_eq!(number(&format!("{group}.amsgrad")), Scalar::Bool(false));
        assert_eq!(number(&format!("{group}.params.1")), Scalar::Int(1));
        assert!(matches!(get(&format!("{group}.foreach")), StateDict::None));
        assert_eq!(text("name"), "naïve");
        assert_eq!(
            (text("dtype"), text("device")),
            ("torch.float16".into(), "cuda".into())
        );
        assert_eq!(text("tags.0"), "a");
        assert_eq!(number("size.0"), Scalar::Int(2));
        assert!(matches!(get("rng"), StateDict::Bytes(bytes) if bytes == b"\x00\xff\x80"));
        assert!(matches!(get("huge"), StateDict::None));
        assert!(matches!(get("nothing"), StateDict::Dict(parts) if parts.is_empty()));
        assert!(matches!(get("state_dict.f32"), StateDict::Array(a) if a.shape() == [2, 3]));
    }
}

#[test]
fn files_are_read_like_other_formats() {
    for name in FILES {
        let path = golden(name);
        assert_eq!(Format::detect(&path).unwrap(), Format::PyTorch);
        // Under any name.
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("pytorch_model.bin");
        fs::copy(&path, &copy).unwrap();
        assert_eq!(Format::detect(&copy).unwrap(), Format::PyTorch);
        assert_eq!(Format::detect(folder.path()).unwrap(), Format::PyTorch);

        let state = load_state(&copy).unwrap();
        assert_eq!(state["epoch"].item::<i32>(), 3);
        let weights = state.subtree("state_dict");
        assert_eq!(weights.len(), 21);
        assert_eq!(weights["bn.num_batches_tracked"].item::<i64>(), 7);
        let tensors = PyTorchFile::open(&path).unwrap();
        let tensors = tensors.tensors().iter().map(|t| &*t.name);
        let mut tree: State = tensors
            .map(|name| (name, state[name].zeros_like()))
            .collect();
        load_into(&path, &mut tree).unwrap();
        let wanted = "state_dict.transposed";
        assert_eq!(tree[wanted].to_vec::<f32>(), state[wanted].to_vec::<f32>());
        let mut part = weights.zeros_like();
        let text = load_into(&path, &mut part).unwrap_err().to_string();
        assert!(text.contains("missing from the file: `f32`"), "{text}");

        let text = Format::PyTorch
            .save(&copy, &weights)
            .unwrap_err()
            .to_string();
        assert!(
            text.contains("Ramie reads PyTorch files, but does not write them"),
            "{text}"
        );
        let text = PyTorchFile::open(&path)
            .unwrap()
            .array("f32")
            .unwrap_err()
            .to_string();
        assert!(
            text.contains("tensor `f32`: is not in the file\n  help: "),
            "{text}"
        );
    }
}

/// A file in the legacy form: the object, the keys of storages, and the storages.
pub(super) fn legacy(object: &[u8], keys: &[u8], storages: &[u8]) -> Vec<u8> {
    let head = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\
                 \x80\x02}U\rlittle_endian\x88s.";
    [
        head,
        &b"\x80\x02"[..],
        object,
        b".\x80\x02",
        keys,
        b".",
        storages,
    ]
    .concat()
}

/// The name of a class or function.
pub(super) fn name(module: &str, name: &str) -> Vec<u8> {
    format!("c{module}\n{name}\n").into_bytes()
}

/// A tensor of a storage `0` with a number of elements.
fn tensor(class: &str, count: u8, start: u8, shape: &[u8], strides: &[u8]) -> Vec<u8> {
    let tuple = |numbers: &[u8]| {
        let items = numbers.iter().flat_map(|n| [b'K', *n]);
        [b"(".to_vec(), items.collect(), b"t".to_vec()].concat()
    };
    [
        name("torch._utils", "_rebuild_tensor_v2"),
        b"((U\x07storage".to_vec(),
        name("torch", class),
        [b"U\x010U\x03cpuK", &[count][..], b"NtQK", &[start]].concat(),
        tuple(shape),
        tuple(strides),
        b"\x89}tR".to_vec(),
    ]
    .concat()
}

/// A file with a tensor of shorts, and a storage of the numbers from 0 to 5.
fn shorts(count: u8, start: u8, shape: &[u8], strides: &[u8]) -> Vec<u8> {
    let storage = [6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0];
    let tensor = tensor("ShortStorage", count, start, shape, strides);
    let object = [b"}U\x01w", tensor.as_slice(), b"s"].concat();
    legacy(&object, b"]U\x010a", &storage)
}

#[test]
fn views_of_a_storage_are_checked() {
    let read = |bytes: &[u8]| open(bytes).unwrap().array("w").unwrap().to_vec::<i16>();
    assert_eq!(read(&shorts(6, 1, &[2, 2], &[1, 2])), [1, 3, 2, 4]);
    // Elements that several indices share, but no more than the storage has.
    assert_eq!(read(&shorts(6, 2, &[2, 3], &[1, 1])), [2, 3, 4, 3, 4, 5]);
    let wrong = |bytes: &[u8], expected: &str| {
        let text = said(bytes);
        assert!(text.starts_with(expected), "{text}");
    };
    wrong(
        &shorts(6, 1, &[2, 3], &[3, 1]),
        "tensor `w`: has the shape [2, 3], strides [3, 1] and offset 1, but its storage has only 6 \
         elements; the file is damaged",
    );
    wrong(
        &shorts(6, 0, &[4, 2], &[0, 1]),
        "tensor `w`: has 8 elements in a storage of 6 because it repeats elements, which is not \
         supported\n  help: in Python, save `tensor.contiguous()`",
    );
    wrong(
        &shorts(6, 0, &[2, 3], &[1]),
        "is damaged: the pickle calls a function with wrong arguments, before byte ",
    );
    wrong(
        &shorts(7, 0, &[2, 3], &[3, 1]),
        "is damaged or truncated: the storage `0` has 14 bytes, but only 12 follow\n  help: this \
         file is damaged, truncated or of another format; copy, download or convert it again",
    );
    wrong(
        &shorts(5, 0, &[2, 2], &[2, 1]),
        "is damaged: the storage `0` has 6 elements, expected 10 bytes of i16",
    );
}

#[test]
fn names_of_code_are_refused() {
    for (module, function) in [
        ("os", "system"),
        ("builtins", "eval"),
        ("__main__", "Net"),
        ("torch._utils", "_rebuild_sparse_tensor"),
        ("torch", "QInt8Storage"),
        ("torch", "load"),
        ("numpy.core.multiarray", "_reconstruct"),
    ] {
        let expected = format!(
            "refers to `{module}.{function}`, which is neither a tensor nor a plain value; Ramie \
             executes no code of a file\n  help: in Python, save only tensors and plain values, for \
             example `torch.save(model.state_dict(), path)`"
        );
        let object = [name(module, function), b"U\x04true\x85R".to_vec()].concat();
        assert_eq!(said(&legacy(&object, b"]", b"")), expected);
        // With its module and name as strings.
        let text = |text: &str| [&[0x8c, text.len() as u8], text.as_bytes()].concat();
        let object = [text(module), text(function), b"\x93".to_vec()].concat();
        assert_eq!(said(&legacy(&object, b"]", b"")), expected);
    }
    let module = b"(U\x06moduleNU\x06net.pyU\x00tQ";
    assert!(said(&legacy(module, b"]", b"")).starts_with("contains the source code of a module\n"));
}

/// Replaces all occurrences of some bytes.
fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    let mut found = 0;
    for at in 0..bytes.len() - from.len() {
        if bytes[at..].starts_with(from) {
            bytes[at..at + to.len()].copy_from_slice(to);
            found += 1;
        }
    }
    assert!(found > 0);
    bytes
}

#[test]
fn damaged_pickles_are_explained() {
    let start = |object: &[u8], expected: &str| {
        let text = said(&legacy(object, b"]", b""));
        assert!(text.starts_with(expected), "{text}");
    };
    start(
        b"i",
        "has the opcode 0x69 at byte 44 of the pickle, which `torch.save` does not write\n",
    );
    start(
        b"",
        "is damaged: the pickle uses a value that it has not built, before byte ",
    );
    start(
        b"K\x01h\x07",
        "is damaged: the pickle uses a value that it has not built, ",
    );
    start(
        b"K\x01t",
        "is damaged: the pickle uses a mark that it has not set, ",
    );
    start(
        b"K\x01(K\x02\x85\x86",
        "is damaged: the pickle uses a value that it has not built, ",
    );
    start(
        b"K\x01K\x02a",
        "is damaged: the pickle appends to a value that is not a list, ",
    );
    start(
        b"](K\x01K\x02u",
        "is damaged: the pickle adds entries to a value that is not a dictionary",
    );
    start(
        b"}(K\x01u",
        "is damaged: the pickle adds entries to a value that is not a dictionary",
    );
    start(
        b"K\x01)R",
        "is damaged: the pickle calls a value that is not a function, ",
    );
    start(
        b"}U\x01aK\x01sU\x01aK\x02s",
        "has two entries `a` in the dictionary ``\n",
    );
    start(
        b"}U\x011K\x01sK\x01K\x02s",
        "has two entries `1` in the dictionary ``\n",
    );
    start(
        b"X\x02\x00\x00\x00\xff\xff",
        "is damaged: the string at byte ",
    );
    start(
        b"X\xff\xff\xff\x7f",
        "is damaged or truncated: a value at byte ",
    );
    start(
        b"\x8d\xff\xff\xff\xff\xff\xff\xff\xff",
        "is damaged or truncated: a value at byte ",
    );
    start(b"c\n\n", "refers to `.`, which is neither ");
    start(b"cos system\nx\n", "is damaged: there is no name at byte ");
    start(b"K\x01Q", "is damaged: a persistent id is not a tuple\n");
    start(
        b"U\x07storage\x85Q",
        "is damaged: a persistent id is not that of a storage\n",
    );
    start(
        b"\x80\x06N",
        "has protocol 6 of pickle, expected at most 5\n",
    );
    // A list that contains itself, and lists inside of each other.
    let nested = "has more than 64 nested containers, or one that contains itself\n";
    start(b"]q\x01h\x01a", nested);
    let lists = [vec![b']'; 100_000], vec![b'a'; 99_999]].concat();
    start(&lists, nested);
    // Each list contains the one before twice.
    let mut doubled = b"]q\x00".to_vec();
    for i in 0..60 {
        doubled.extend([b']', b'h', i, b'a', b'h', i, b'a', b'q', i + 1]);
    }
    start(
        &doubled,
        "has values that refer to each other so often that they take too much memory\n",
    );
}

#[test]
fn scalars_of_numpy_are_checked() {
    let scalar = |dtype: &str, order: &str, bytes: &[u8]| {
        let text = |text: &[u8]| [&[b'U', text.len() as u8][..], text].concat();
        let pickle = [
            name("numpy.core.multiarray", "scalar"),
            name("numpy", "dtype"),
            text(dtype.as_bytes()),
            b"\x89\x88\x87R(K\x03".to_vec(),
            text(order.as_bytes()),
            b"NNNtb".to_vec(),
            [&[b'C', bytes.len() as u8][..], bytes].concat(),
            b"\x86R".to_vec(),
        ];
        open(&legacy(&pickle.concat(), b"]", b"")).map(|file| file.types())
    };
    let sound = scalar("i2", "<", &[1, 2]).unwrap();
    assert!(matches!(sound, StateDict::Number(Scalar::Int(0x201))));
    let start = |result: Result<StateDict, String>, expected: &str| {
        let text = result.map(|_| ()).unwrap_err();
        assert!(text.starts_with(expected), "{text}");
    };
    start(
        scalar("i2", ">", &[1, 2]),
        "has a NumPy value in big-endian byte order\n",
    );
    let wrong = "is damaged: the pickle calls a function with wrong arguments, before byte ";
    start(scalar("i2", "<", &[1, 2, 3]), wrong);
    start(scalar("O8", "|", &[0; 8]), wrong);
}

#[test]
fn files_of_an_index_are_read_like_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pytorch_model.bin.index.json");
    let shard = |i: usize| folder.path().join(format!("pytorch_model-{i}.bin"));
    fs::copy(golden("archive.pt"), shard(1)).unwrap();
    fs::copy(golden("legacy.pth"), shard(2)).unwrap();
    let index = r#"{"metadata": {"total_size": 60}, "weight_map": {
        "state_dict.f32": "pytorch_model-1.bin",
        "state_dict.row": "pytorch_model-2.bin",
        "optimizer.state.0.step": "pytorch_model-1.bin",
        "state_dict.transposed": "pytorch_model-2.bin"}}"#;
    fs::write(&path, index).unwrap();
    let names = [
        "optimizer.state.0.step",
        "state_dict.f32",
        "state_dict.row",
        "state_dict.transposed",
    ];
    let file = PyTorchFile::open(&path).unwrap();
    let tensors = file.tensors().iter().map(|t| &*t.name);
    assert_eq!(tensors.collect::<Vec<_>>(), names);
    assert_eq!(Format::of_name(&path), Some(Format::PyTorch));
    for path in [folder.path(), &path] {
        assert_eq!(Format::detect(path).unwrap(), Format::PyTorch);
        let state = load_state(path).unwrap();
        assert_eq!(state.paths().collect::<Vec<_>>(), names);
        let floats = |name: &str| state[name].to_vec::<f32>();
        assert_eq!(floats("state_dict.row"), [3.5, 4.5, 5.5]);
        assert_eq!(
            floats("state_dict.transposed"),
            [0.5, 3.5, 1.5, 4.5, 2.5, 5.5]
        );
    }
    let mut tree = load_state(&path).unwrap().zeros_like();
    load_into(&path, &mut tree).unwrap();
    assert_eq!(tree["optimizer.state.0.step"].item::<f32>(), 3.0);

    let error = |index: &str| {
        fs::write(&path, index).unwrap();
        load_state(&path).unwrap_err().to_string()
    };
    let text = error(r#"{"weight_map": {"w": "pytorch_model-1.bin"}}"#);
    let expected = format!(
        "{}: tensor `w`: is not in the file, although {} lists it\n  help: {DAMAGED}",
        shard(1).display(),
        path.display()
    );
    assert_eq!(text, expected);
    let text = error("{}");
    assert!(
        text.contains(": is not an index of PyTorch files: missing field `weight_map`"),
        "{text}"
    );
    // An index that lists itself.
    let text = error(r#"{"weight_map": {"w": "pytorch_model.bin.index.json"}}"#);
    assert!(text.contains("expected an archive or a pickle"), "{text}");
}

#[test]
fn damaged_files_are_explained() {
    let is = |bytes: &[u8], start: &str| {
        let text = said(bytes);
        assert!(text.starts_with(start), "{text}");
    };
    is(b"", "starts with ``, expected an archive or a pickle\n");
    is(
        b"hello",
        "starts with `hell`, expected an archive or a pickle\n",
    );
    is(
        b"\x80\x02K\x01.",
        "is a pickle without the magic number of PyTorch files\n",
    );
    let sound = fs::read(golden("legacy.pth")).unwrap();
    is(
        &replaced(&sound, b"M\xe9\x03.", b"M\xe8\x03."),
        "does not have version 1001 of the legacy form\n",
    );
    is(
        &replaced(&sound, b"endianq\x02\x88", b"endianq\x02\x89"),
        "is in big-endian byte order\n",
    );

    // Truncated anywhere, it is refused.
    for length in (0..sound.len()).step_by(13) {
        let text = said(&sound[..length]);
        let known = ["truncated", "expected an archive"]
            .iter()
            .any(|part| text.contains(part));
        assert!(known, "{length}: {text}");
    }
}

/// An archive with these entries in the folder `net`.
fn archive(entries: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in entries {
        zip.start_file(format!("net/{name}"), options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn damaged_archives_are_explained() {
    let pickle = [
        b"\x80\x02",
        &*tensor("ShortStorage", 2, 0, &[2], &[1]),
        b".",
    ]
    .concat();
    let stored = |entries: &[(&str, &[u8])]| archive(entries, CompressionMethod::Stored);
    let (pickle, storage) = (("data.pkl", &*pickle), ("data/0", &[1, 0, 2, 0][..]));
    let sound = stored(&[pickle, storage, ("byteorder", b"little")]);
    assert_eq!(
        open(&sound).unwrap().array("").unwrap().to_vec::<i16>(),
        [1, 2]
    );
    let is = |bytes: &[u8], start: &str| {
        let text = said(bytes);
        assert!(text.starts_with(start), "{text}");
    };
    is(
        &stored(&[storage]),
        "is an archive without the entry `data.pkl`, which PyTorch files have\n",
    );
    is(
        &stored(&[pickle]),
        "is damaged: it has no entry `net/data/0`\n",
    );
    is(
        &stored(&[pickle, ("data/0", b"123")]),
        "is damaged: the storage `0` has 3 bytes, expected 4\n",
    );
    is(
        &stored(&[pickle, storage, ("byteorder", b"big")]),
        "is in big-endian byte order\n",
    );
    is(
        &stored(&[pickle, storage, ("constants.pkl", b"")]),
        "is a TorchScript program\n",
    );
    is(
        &archive(&[pickle, ("data/0", &[0; 4])], CompressionMethod::Deflated),
        "has the compressed entry `net/data.pkl`; PyTorch does not compress entries\n",
    );
    for length in 4..sound.len() {
        is(&sound[..length], "is a damaged or truncated archive: ");
    }
}
