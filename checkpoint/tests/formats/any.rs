//! Items that are restored without naming their types.

use ramie_checkpoint::commit::{ItemReader, ItemWriter, Process};
use ramie_checkpoint::items::{
    AnyItem, AnyRestore, Composite, IteratorSave, JaxRandomKeySave, JsonSave, RestoreArgs,
    SaveArgs, Snapshot,
};
use ramie_checkpoint::manager::{
    CheckpointManager, CheckpointManagerOptions, Metrics, StepOptions,
};
use ramie_checkpoint::pytree::{ArraySave, PyTreeSave, StandardSave};
use ramie_checkpoint::serialization::StateDict;
use ramie_core::dtypes::Scalar;
use ramie_core::random::{self, KeyImpl};
use ramie_core::{Array, DType, State};
use serde_json::json;
use std::path::Path;

fn open(root: &Path) -> CheckpointManager {
    CheckpointManager::new(root, CheckpointManagerOptions::new()).unwrap()
}

fn weights() -> State {
    State::from_iter([("dense.kernel", Array::ones(&[2, 3], DType::F32))])
}

#[test]
fn a_step_of_every_kind_is_restored_without_types() {
    let folder = tempfile::tempdir().unwrap();
    let options = CheckpointManagerOptions::new().best_fn(|metrics| metrics.get("loss").unwrap());
    let manager = CheckpointManager::new(folder.path(), options).unwrap();
    let key = random::key_with(7, KeyImpl::Rbg);
    let (weights, array) = (weights(), Array::from([1.0f32, 2.0]));
    let dict = StateDict::Dict(vec![
        ("step".into(), StateDict::Number(Scalar::Int(7))),
        ("note".into(), StateDict::Str("a text".into())),
    ]);
    let (settings, position) = (json!({"layers": 3}), json!({"position": 5}));
    let items = Composite::new()
        .item("weights", StandardSave::new(&weights))
        .item("dict", PyTreeSave::dict(&dict))
        .item("array", ArraySave::new(&array))
        .item("key", JaxRandomKeySave::new(&key))
        .item("settings", JsonSave::new(&settings))
        .item("data", IteratorSave::new(&position))
        .item("inner", Composite::new().item("epoch", JsonSave::new(&2)));
    let metrics = StepOptions::new().metrics(Metrics::from([("loss", f64::NAN)]));
    manager.save_with(4, &items, metrics).unwrap();

    let items = manager.restore_all(4).unwrap();
    let names: Vec<&str> = items.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "array", "data", "dict", "inner", "key", "metrics", "settings", "weights"
        ]
    );
    let tree = items["weights"].tree().unwrap();
    assert_eq!(tree.arrays()["dense.kernel"].to_vec::<f32>(), [1.0; 6]);
    let dict = items["dict"].tree().unwrap();
    assert!(matches!(
        dict.get("step"),
        Some(StateDict::Number(Scalar::Int(7)))
    ));
    assert!(matches!(dict.get("note"), Some(StateDict::Str(text)) if text == "a text"));
    assert_eq!(items["array"].array().unwrap().to_vec::<f32>(), [1.0, 2.0]);
    let restored = items["key"].key().unwrap();
    assert_eq!(random::key_impl(restored), KeyImpl::Rbg);
    assert_eq!(items["settings"].json(), Some(&settings));
    assert_eq!(items["data"].json(), Some(&position));
    assert_eq!(items["metrics"].json(), Some(&json!({"loss": "NaN"})));
    let inner = items["inner"].get("epoch").and_then(AnyItem::json);
    assert_eq!(inner, Some(&json!(2)));

    let metadata = manager.item_metadata(4).unwrap();
    assert_eq!(metadata.len(), 8);
    assert!(metadata["settings"].is_none() && metadata["key"].is_none());
    let tree = metadata["weights"].as_ref().unwrap();
    let kernel = tree.get("dense.kernel").unwrap().array.as_ref().unwrap();
    assert_eq!(
        (kernel.shape.as_slice(), kernel.dtype),
        (&[2, 3][..], DType::F32)
    );
}

#[test]
fn unnamed_items_have_orbax_name() {
    let folder = tempfile::tempdir().unwrap();
    let manager = open(folder.path());
    manager.save(0, &StandardSave::new(&weights())).unwrap();
    let items = manager.restore_all(0).unwrap();
    assert_eq!(items.len(), 1);
    assert!(
        items["default"]
            .tree()
            .unwrap()
            .get("dense.kernel")
            .is_some()
    );
    assert!(manager.restore(0, AnyRestore).unwrap().tree().is_some());
    assert!(manager.restore_all(9).is_err());
}

/// An item of a kind that only its own types know.
struct Custom;

impl SaveArgs for Custom {
    fn handler(&self) -> &str {
        "my.Handler"
    }
    fn snapshot(&self, _: Process) -> ramie_checkpoint::Result<Box<dyn Snapshot>> {
        Ok(Box::new(Custom))
    }
}

impl Snapshot for Custom {
    fn write(&mut self, writer: &ItemWriter) -> ramie_checkpoint::Result<()> {
        writer.write("own", b"bytes")
    }
}

#[test]
fn an_unknown_kind_is_an_error_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let manager = open(folder.path());
    let items = Composite::new().item("mine", Custom);
    manager.save(0, &items).unwrap();
    let error = manager.restore_all(0).unwrap_err().to_string();
    assert!(error.contains("an item of a known kind"), "{error}");
    assert!(error.contains("help: `AnyRestore` reads"), "{error}");
    assert!(manager.item_metadata(0).unwrap()["mine"].is_none());
    let reader = ItemReader::open(folder.path().join("0/mine")).unwrap();
    assert!(AnyRestore.restore(&reader).is_err());
}

/// Returns the number of files below a directory.
fn files(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap();
    let count = |path: &Path| if path.is_dir() { files(path) } else { 1 };
    entries.map(|entry| count(&entry.unwrap().path())).sum()
}

#[test]
fn many_small_arrays_are_saved_in_few_files() {
    let folder = tempfile::tempdir().unwrap();
    let manager = open(folder.path());
    let array = |i: usize| {
        (
            format!("layer_{i}.kernel"),
            Array::ones(&[8], DType::F32) * i as f32,
        )
    };
    let many: State = (0..250).map(array).collect();
    manager.save(0, &StandardSave::new(&many)).unwrap();
    let few: State = (0..4).map(array).collect();
    manager.save(1, &StandardSave::new(&few)).unwrap();
    let large =
        State::from_iter((0..16).map(|i| (format!("{i}"), Array::zeros(&[1 << 20], DType::F32))));
    manager.save(2, &PyTreeSave::new(&large)).unwrap();
    manager
        .save(3, &PyTreeSave::new(&many).use_ocdbt(false))
        .unwrap();
    manager.wait_until_finished().unwrap();
    let use_ocdbt = |step| {
        let metadata = manager.item_metadata(step).unwrap();
        metadata["default"].as_ref().unwrap().use_ocdbt
    };
    assert_eq!([0, 1, 2, 3].map(use_ocdbt), [true, false, false, false]);
    assert!(files(&manager.step_path(0)) < 20);
    assert!(files(&manager.step_path(3)) > 500);
    let restored = manager.restore_all(0).unwrap();
    let arrays = restored["default"].tree().unwrap().arrays();
    assert_eq!(arrays["layer_249.kernel"].to_vec::<f32>(), [249.0; 8]);
}

#[test]
fn a_run_of_orbax_is_restored_without_types() {
    let run = ramie_testing::golden::path("orbax_run");
    let options = CheckpointManagerOptions::new()
        .read_only(true)
        .step_prefix("step");
    let manager = CheckpointManager::new(run, options).unwrap();
    let step = manager.latest_step().unwrap();
    let items = manager.restore_all(step).unwrap();
    assert_eq!(
        items.keys().map(String::as_str).collect::<Vec<_>>(),
        manager.item_names(step).unwrap()
    );
    assert_eq!(items["loader"].json(), Some(&json!([20, "epoch"])));
    let key = items["key"].key().unwrap();
    assert_eq!(random::key_data(key).to_vec::<u32>(), [0, 3]);
    assert_eq!(items["metrics"].json(), Some(&json!({"loss": 0.25})));
    assert!(items["settings"].json().unwrap().get("width").is_some());
}
