//! Damaged files by chance, for the readers of Flax's msgpack, safetensors, GGUF and PyTorch.
//!
//! `RAMIE_FUZZ_INPUTS=1000000 cargo test -p ramie-checkpoint --test fuzz -- --nocapture`
//! is a long run.

use ramie_checkpoint::gguf::GgufFile;
use ramie_checkpoint::pytorch::{self, PyTorchFile};
use ramie_checkpoint::safetensors::{self, load_metadata, load_state};
use ramie_checkpoint::serialization::{from_bytes, msgpack_restore};
use ramie_core::{Array, DType, State};
use ramie_testing::fuzz::{at_path, fuzz, is_read};
use ramie_testing::golden::bytes;

/// A small file of arrays, with notes.
fn tensors() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("state");
    let state = State::from_iter([
        ("a.b", Array::zeros(&[2, 3], DType::F32)),
        ("c", Array::from([true, false])),
    ]);
    let notes = [("k".to_string(), "v".to_string())].into();
    safetensors::save_with_metadata(&path, &state, &notes).expect("written");
    std::fs::read(path).expect("read")
}

/// An index of one file, which is beside it.
fn index() -> Vec<u8> {
    let index = r#"{"metadata":{"total_size":26},"weight_map":{"a.b":"s.safetensors","c":"s.safetensors"}}"#;
    index.into()
}

#[test]
fn damaged_files_are_refused() {
    let flax = ["flax_chunks", "flax_model", "flax_state", "flax_dtypes"];
    let flax = flax.map(|name| bytes(&format!("{name}.msgpack")));
    fuzz("msgpack", &flax, |bytes| {
        is_read(msgpack_restore(bytes).map(|dict| is_read(dict.to_state())))
    });
    // Compared with a tree before arrays are made.
    let params = |bytes: &[u8]| msgpack_restore(bytes).and_then(|dict| dict.to_state());
    let mut tree = params(&flax[1]).expect("parameters");
    fuzz("msgpack_into", &flax[1..2], |bytes| {
        is_read(from_bytes(&mut tree, bytes))
    });
    let mut tree = State::from_iter([
        ("a.b", Array::zeros(&[2, 3], DType::F32)),
        ("c", Array::from([true, false])),
    ]);
    at_path("safetensors", &[tensors()], |path| {
        is_read(load_metadata(path));
        is_read(safetensors::load_into(path, &mut tree));
        is_read(load_state(path))
    });
    let gguf = ["types", "tokenizer"].map(|name| bytes(&format!("gguf/{name}.gguf")));
    at_path("gguf", &gguf, |path| {
        is_read(GgufFile::open(path).map(|file| {
            for (_, value) in file.metadata() {
                let _ = (value.to_string(), value.as_integers());
            }
            for tensor in file.tensors() {
                is_read(file.array(&tensor.name));
            }
        }))
    });
    for name in ["archive.pt", "legacy.pth"] {
        at_path(
            &format!("pytorch_{name}"),
            &[bytes(&format!("pytorch/{name}"))],
            |path| {
                is_read(PyTorchFile::open(path).map(|file| {
                    let _ = file.types();
                    for tensor in file.tensors() {
                        is_read(file.array(&tensor.name));
                    }
                    is_read(pytorch::load(path));
                }))
            },
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("s.safetensors"), tensors()).expect("written");
    let path = folder.path().join("model.safetensors.index.json");
    fuzz("index", &[index()], |bytes| {
        let _ = std::fs::remove_file(&path);
        std::fs::write(&path, bytes).expect("written");
        is_read(load_metadata(&path));
        is_read(load_state(&path))
    });
}
