//! Models in several safetensors files with an index.

use half::{bf16, f16};
use ramie_checkpoint::safetensors::save_sharded_with_metadata;
use ramie_checkpoint::{load_into, load_metadata, load_state, save, save_sharded};
use ramie_core::files::DAMAGED;
use ramie_core::{Array, DType, State};
use std::path::Path;

const INDEX: &str = "model.safetensors.index.json";

fn state() -> State {
    State::from_iter([
        ("embed.weight", Array::from([[1.0f32, 2.0], [3.0, 4.0]])),
        ("b", Array::from([bf16::from_f32(1.5), bf16::ONE])),
        ("layers.0.huge", Array::ones(&[20], DType::F32)),
        ("layers.0.n", Array::from([1u8, 2, 3])),
        ("a", Array::from([f16::from_f32(0.5)])),
    ])
}

fn error(path: &Path) -> String {
    load_state(path).unwrap_err().to_string()
}

#[test]
fn shards_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(INDEX);
    save_sharded(&path, &state(), 20).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let expected = r#"{
  "metadata": {
    "total_size": 105
  },
  "weight_map": {
    "a": "model-00003-of-00003.safetensors",
    "b": "model-00002-of-00003.safetensors",
    "embed.weight": "model-00002-of-00003.safetensors",
    "layers.0.huge": "model-00001-of-00003.safetensors",
    "layers.0.n": "model-00003-of-00003.safetensors"
  }
}
"#;
    assert_eq!(text, expected);
    let first = load_state(folder.path().join("model-00002-of-00003.safetensors")).unwrap();
    assert_eq!(first.len(), 2);
    let back = load_state(&path).unwrap();
    let names: Vec<&str> = back.paths().collect();
    assert_eq!(
        names,
        ["a", "b", "embed.weight", "layers.0.huge", "layers.0.n"]
    );
    let mut tree = state().zeros_like();
    load_into(&path, &mut tree).unwrap();
    for (name, array) in state().iter() {
        for restored in [&back, &tree] {
            let restored = restored.get(name).unwrap();
            assert_eq!(restored.aval(), array.aval());
            assert_eq!(
                restored.try_to_bytes().unwrap(),
                array.try_to_bytes().unwrap()
            );
        }
    }
    let mut other = State::from_iter([("a", Array::from([0i32]))]);
    let text = load_into(&path, &mut other).unwrap_err().to_string();
    let start = format!("{}: the file does not match the tree\n", path.display());
    assert!(text.starts_with(&start), "{text}");
    assert!(
        text.contains("`a`: the tree has i32[1], the file has f16[1]"),
        "{text}"
    );
}

#[test]
fn notes_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(INDEX);
    let notes = [("format".to_owned(), "pt".to_owned())].into();
    save_sharded_with_metadata(&path, &state(), 1000, &notes).unwrap();
    let read = load_metadata(&path).unwrap();
    assert_eq!((&*read["format"], &*read["total_size"]), ("pt", "105"));
    let shard = folder.path().join("model-00001-of-00001.safetensors");
    assert_eq!(load_metadata(shard).unwrap(), notes);
}

#[test]
fn an_index_that_is_wrong_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(INDEX);
    let index = |text: &str| std::fs::write(&path, text).unwrap();
    assert!(error(&path).starts_with(&format!("{}: cannot be read: ", path.display())));
    index("[1");
    assert!(error(&path).starts_with(&format!(
        "{}: is not an index of safetensors files: ",
        path.display()
    )));
    index(r#"{"metadata": {}}"#);
    assert!(
        error(&path).contains("missing field `weight_map`"),
        "{}",
        error(&path)
    );
    for file in ["../x", "/etc/x", "", ".", "a/../b"] {
        index(&format!(r#"{{"weight_map": {{"w": "{file}"}}}}"#));
        let expected = format!(
            "{}: tensor `w`: is in `{file}`, which is not a file in the directory of the index\n  help: {DAMAGED}",
            path.display()
        );
        assert_eq!(error(&path), expected);
    }
    let shard = folder.path().join("s.safetensors");
    index(r#"{"weight_map": {"w": "s.safetensors", "v": "s.safetensors"}}"#);
    assert!(error(&path).starts_with(&format!("{}: cannot be read: ", shard.display())));
    save(
        &shard,
        &State::from_iter([("w", Array::from(1.0f32)), ("x", Array::from(1.0f32))]),
    )
    .unwrap();
    let expected = format!(
        "{}: tensor `v`: is not in the file, although {} lists it\n  help: {DAMAGED}",
        shard.display(),
        path.display()
    );
    assert_eq!(error(&path), expected);
    // An array that the index does not name is none of the model's.
    index(r#"{"weight_map": {"w": "s.safetensors"}}"#);
    assert_eq!(
        load_state(&path).unwrap().paths().collect::<Vec<_>>(),
        ["w"]
    );
    std::fs::write(&shard, b"damaged").unwrap();
    assert!(error(&path).starts_with(&format!(
        "{}: has only 7 bytes, which is too short",
        shard.display()
    )));
}

#[test]
#[should_panic(expected = "save_sharded: model.json is not the name of an index")]
fn an_index_has_a_name_of_its_own() {
    let _ = save_sharded("model.json", &state(), 10);
}
