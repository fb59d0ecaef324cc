//! Trees that are nested too deeply.

use super::{devices_8, text};
use ramie_checkpoint::commit::restore_item;
use ramie_checkpoint::items::AnyRestore;
use ramie_checkpoint::pytree::*;
use serde_json::{Value, json};
use std::path::Path;

/// Writes a tree with an empty part at this depth.
fn write(folder: &Path, depth: usize) {
    let keys = vec![json!({"key": "a", "key_type": 2}); depth];
    let value = json!({"value_type": "None", "skip_deserialize": true});
    let mut entries = serde_json::Map::<String, Value>::new();
    let name = format!("({})", "'a', ".repeat(depth));
    let entry = json!({"key_metadata": keys, "value_metadata": value});
    entries.insert(name, entry);
    let tree = json!({"tree_metadata": entries, "use_zarr3": false});
    let bytes = serde_json::to_vec(&tree).unwrap();
    std::fs::write(folder.join("_METADATA"), bytes).unwrap();
}

#[test]
fn the_depth_of_untyped_trees_is_limited() {
    devices_8();
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), 256);
    let dict = restore_item(folder.path(), DictRestore).unwrap();
    assert!(dict.get(&vec!["a"; 256].join(".")).is_some());
    for depth in [257, 300_000] {
        write(folder.path(), depth);
        let path = folder.path().join("_METADATA");
        let expected = format!("{}: parts are nested more than 256 deep", path.display());
        for error in [
            text(restore_item(folder.path(), DictRestore)),
            text(restore_item(folder.path(), AnyRestore)),
        ] {
            assert!(error.starts_with(&expected), "{error}");
        }
    }
}
