//! Orbax reads runs that Ramie's manager writes, and goes on with them.
//!
//! Runs where `RAMIE_ORBAX_PYTHON` names a Python that has Orbax 0.12.8, and says that it
//! is skipped elsewhere.

use crate::python;

use python::Python;
use ramie_checkpoint::items::{Composite, JaxRandomKeySave, JsonRestore, JsonSave};
use ramie_checkpoint::manager::{CheckpointManager, CheckpointManagerOptions, StepOptions};
use ramie_core::random;
use serde_json::{Value, json};

fn options() -> CheckpointManagerOptions {
    CheckpointManagerOptions::new()
        .step_prefix("step")
        .step_format_fixed_length(5)
        .best_fn(|metrics| metrics.get("loss").unwrap_or(f64::NAN))
        .max_to_keep(3)
}

#[test]
fn orbax_goes_on_with_a_run() {
    let Some(python) = Python::with("Orbax 0.12.8") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("run");
    let object = |value: Value| value.as_object().unwrap().clone();
    let metadata = object(json!({"language": "en"}));
    let manager = CheckpointManager::with_metadata(&root, options(), metadata).unwrap();
    for (step, loss) in [(0, 0.5), (3, f64::NAN), (6, 2.5)] {
        let (settings, key) = (json!({"width": step}), random::key(step as u32));
        let items = Composite::new()
            .item("settings", JsonSave::new(&settings))
            .item("key", JaxRandomKeySave::new(&key));
        let with = StepOptions::new()
            .metrics([("loss", loss)])
            .custom_metadata(object(json!({"rate": 0.25})));
        manager.save_with(step, &items, with).unwrap();
    }
    manager.close().unwrap();
    // What a killed save leaves is none of Orbax's steps either.
    std::fs::create_dir(root.join("step_00009.orbax-checkpoint-tmp")).unwrap();
    python.run("tests/interop/manager.py", &[root.to_str().unwrap()], b"");
    // It has saved step 12, and removed the worst.
    let manager = CheckpointManager::new(&root, options()).unwrap();
    assert_eq!(manager.all_steps(), [0, 6, 12]);
    assert_eq!(manager.best_step().unwrap(), Some(12));
    let item = Composite::new().item("settings", JsonRestore::<Value>::new());
    assert_eq!(manager.restore(12, item).unwrap().0, json!({"width": 12}));
}
