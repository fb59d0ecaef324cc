//! Files with an array that has no elements, but an axis that is too large for an array.

use super::pytorch::{legacy, name};
use ramie_checkpoint::commit::{restore_item, save_item};
use ramie_checkpoint::pytree::{self, DictRestore, PyTreeRestore, PyTreeSave};
use ramie_checkpoint::{Result, gguf, pytorch, safetensors, serialization};
use ramie_core::{Array, DType, State};
use std::path::Path;

const HUGE: u64 = 1 << 57;

/// Checks that a function returns an error that names the file.
#[track_caller]
fn refused<T>(path: &Path, read: impl Fn(&Path) -> Result<T>) {
    let error = read(path).err().expect("an error").to_string();
    assert!(error.starts_with(path.to_str().unwrap()), "{error}");
    let expected = format!("shape [0, {HUGE}] multiply to more elements than a process");
    assert!(error.contains(&expected), "{error}");
    assert!(error.contains("\n  help: "), "{error}");
}

/// Writes a file with these bytes and checks that its types are refused.
#[track_caller]
fn refused_file<T>(name: &str, bytes: &[u8], read: impl Fn(&Path) -> Result<T>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    refused(&path, read);
}

#[test]
fn a_safetensors_file_is_refused() {
    let entry = format!(r#"{{"dtype":"F32","shape":[0,{HUGE}],"data_offsets":[0,0]}}"#);
    let header = format!(r#"{{"w":{entry}}}"#);
    let length = (header.len() as u64).to_le_bytes();
    let bytes = [&length[..], header.as_bytes()].concat();
    refused_file("model.safetensors", &bytes, |p| {
        safetensors::load_abstract(p)
    });
    refused_file("model.safetensors", &bytes, |p| safetensors::load_state(p));
    let tree = State::from_iter([("w", Array::from(0.0f32))]);
    refused_file("model.safetensors", &bytes, |p| {
        safetensors::load_into(p, &mut tree.clone())
    });
}

#[test]
fn a_gguf_file_is_refused() {
    let mut bytes = b"GGUF\x03\0\0\0".to_vec();
    // One tensor and no metadata; a name, two axes with the fastest first, f32 and its offset.
    for number in [1, 0, 1] {
        bytes.extend(u64::to_le_bytes(number));
    }
    bytes.extend(b"w\x02\0\0\0");
    bytes.extend([HUGE, 0].map(u64::to_le_bytes).concat());
    bytes.extend([0; 4 + 8]);
    bytes.resize(bytes.len().next_multiple_of(32), 0);
    refused_file("model.gguf", &bytes, |p| gguf::load_abstract(p));
    refused_file("model.gguf", &bytes, |p| gguf::load_state(p));
}

#[test]
fn a_pytorch_file_is_refused() {
    let object = [
        b"}U\x01w".to_vec(),
        name("torch._utils", "_rebuild_tensor_v2"),
        b"((U\x07storage".to_vec(),
        name("torch", "ShortStorage"),
        b"U\x010U\x03cpuK\x01NtQK\x00(K\x00\x8a\x08".to_vec(),
        HUGE.to_le_bytes().to_vec(),
        b"t(K\x01K\x01t\x89}tRs".to_vec(),
    ];
    let storage = [1, 0, 0, 0, 0, 0, 0, 0, 7, 0];
    let bytes = legacy(&object.concat(), b"]U\x010a", &storage);
    refused_file("model.pt", &bytes, |p| pytorch::load_abstract(p));
    refused_file("model.pt", &bytes, |p| pytorch::load_state(p));
}

#[test]
fn a_msgpack_file_is_refused() {
    // An array: its shape, its dtype and no bytes.
    let array = [
        &b"\x93\x92\x00\xcf"[..],
        &HUGE.to_be_bytes(),
        b"\xa7float32\xc4\x00",
    ];
    let array = array.concat();
    let bytes = [&b"\x81\xa1w\xc7"[..], &[array.len() as u8, 1][..], &array].concat();
    refused_file("model.msgpack", &bytes, |p| serialization::load_abstract(p));
    refused_file("model.msgpack", &bytes, |p| serialization::load_state(p));
}

#[test]
fn a_tree_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tree");
    let state = State::from_iter([("w", Array::zeros(&[0, 3], DType::F32))]);
    let save = PyTreeSave::new(&state).use_ocdbt(false);
    save_item(&path, &save).unwrap();
    for name in ["_RAMIE_MANIFEST", "commit_success.txt"] {
        std::fs::remove_file(path.join(name)).unwrap();
    }
    let array = path.join("w/.zarray");
    let sound = std::fs::read_to_string(&array).unwrap();
    let damaged = sound.replace("\"shape\":[0,3]", &format!("\"shape\":[0,{HUGE}]"));
    assert_ne!(damaged, sound);
    std::fs::write(&array, damaged).unwrap();
    refused(&path, |p| restore_item(p, PyTreeRestore::state()));
    refused(&path, |p| restore_item(p, DictRestore));
    refused(&path, |p| pytree::metadata(p));
}
