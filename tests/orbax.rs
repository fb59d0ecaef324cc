//! Train states of Flax and Optax that Orbax saved are train states here, and those
//! of here have the parts that Orbax expects.

use ramie::checkpoint::commit::{Checkpointer, restore_item, save_item};
use ramie::checkpoint::manager::{CheckpointManager, CheckpointManagerOptions};
use ramie::checkpoint::pytree::{StandardRestore, StandardSave, metadata};
use ramie::checkpoint::{restore_checkpoint, safetensors, serialization};
use ramie::nn::training::TrainState;
use ramie::optim::{adam, sgd};
use ramie::{Array, DType, State};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn golden(name: &str) -> PathBuf {
    ramie_testing::golden::path("orbax").join(name)
}

fn params() -> State {
    State::from_iter([
        ("hid.kernel", Array::zeros(&[4, 3], DType::F32)),
        ("hid.bias", Array::zeros(&[3], DType::F32)),
        ("out.kernel", Array::zeros(&[3, 2], DType::F32)),
        ("out.bias", Array::zeros(&[2], DType::F32)),
    ])
}

#[test]
fn a_train_state_of_flax_goes_on_here() {
    let text = std::fs::read_to_string(golden("train_state.json")).unwrap();
    let expected: BTreeMap<String, (String, Vec<usize>, String)> =
        serde_json::from_str(&text).unwrap();
    for name in ["train_state_zarr2", "train_state_ocdbt"] {
        let target = TrainState::create(params(), adam(0.125));
        let mut state = restore_item(golden(name), StandardRestore::new(&target)).unwrap();
        let arrays = State::of(&state);
        assert_eq!(arrays.len(), expected.len());
        for (path, array) in arrays.iter() {
            let (_, shape, hex) = &expected[path];
            assert_eq!(array.shape(), shape, "{path}");
            let bytes = array.try_to_bytes().unwrap();
            let bytes: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
            // The step is 64 bits wide there.
            assert!(hex.starts_with(&bytes), "{path}: {bytes} {hex}");
        }
        let grads = state.params.clone();
        state.apply_gradients(grads);
        assert_eq!(state.step.item::<i32>(), 2);
    }
}

#[test]
fn parts_have_the_names_and_kinds_of_flax() {
    let parts = |path: &Path| -> Vec<String> {
        let parts = metadata(path).unwrap().parts;
        let show = |p: &ramie::checkpoint::pytree::PartMetadata| {
            format!("{} {}", p.path.as_python(), p.kind.name()).replace("scalar", "jax.Array")
        };
        let mut parts: Vec<String> = parts.iter().map(show).collect();
        parts.sort();
        parts
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("adam");
    let state = TrainState::create(params(), adam(0.125));
    save_item(&path, &StandardSave::new(&state)).unwrap();
    assert_eq!(parts(&path), parts(&golden("train_state_zarr2")));
    // Optimizers without a state have parts that hold nothing.
    let path = folder.path().join("sgd");
    let state = TrainState::create(params(), sgd(0.125));
    save_item(&path, &StandardSave::new(&state)).unwrap();
    let names = parts(&path);
    let empty: Vec<&str> = names
        .iter()
        .filter(|p| p.ends_with("None"))
        .map(String::as_str)
        .collect();
    assert_eq!(
        empty,
        ["('opt_state', '0') None", "('opt_state', '1') None"]
    );
}

/// Another optimizer than the saved one is named, whatever reads the checkpoint.
#[test]
fn another_optimizer_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let saved = TrainState::create(params(), adam(0.125));
    save_item(at("orbax"), &StandardSave::new(&saved)).unwrap();
    safetensors::save(at("file"), &saved).unwrap();
    serialization::save(at("checkpoint_1"), &saved).unwrap();
    let bytes = serialization::to_bytes(&saved).unwrap();
    let dict = serialization::to_state_dict(&saved);
    let options = CheckpointManagerOptions::new();
    let manager = CheckpointManager::new(at("run"), options).unwrap();
    manager.save(1, &StandardSave::new(&saved)).unwrap();
    manager.wait_until_finished().unwrap();

    let mut other = TrainState::create(params(), sgd(0.125).momentum(0.9));
    let target = other.clone();
    let errors = [
        restore_item(at("orbax"), StandardRestore::new(&target)).map(drop),
        Checkpointer::new()
            .restore(at("orbax"), StandardRestore::new(&target))
            .map(drop),
        manager.restore(1, StandardRestore::new(&target)).map(drop),
        manager
            .restore_latest(StandardRestore::new(&target))
            .map(drop),
        safetensors::load_into(at("file"), &mut other),
        serialization::load_into(at("checkpoint_1"), &mut other),
        serialization::from_bytes(&mut other, &bytes),
        serialization::from_state_dict(&mut other, &dict),
        restore_checkpoint(folder.path(), &mut other).map(drop),
    ];
    for (i, error) in errors.into_iter().enumerate() {
        let error = error.unwrap_err().to_string();
        let expected = "the optimizer differs from the saved one:\n    `opt_state.0`: the checkpoint has \
                        `count`, `mu`, `nu` (Adam), the tree has `trace` (momentum)";
        assert!(error.contains(expected), "{i}: {error}");
    }
}
