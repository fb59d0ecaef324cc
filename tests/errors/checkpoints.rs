//! Errors of checkpoints.

use crate::document::{Case, case, error};
use ramie::checkpoint::commit::{Checkpointer, CheckpointerOptions, restore_item, save_item};
use ramie::checkpoint::items::*;
use ramie::checkpoint::manager::policies::*;
use ramie::checkpoint::manager::*;
use ramie::checkpoint::pytorch::PyTorchFile;
use ramie::checkpoint::pytree::{StandardRestore, StandardSave};
use ramie::checkpoint::safetensors;
use ramie::checkpoint::serialization::{from_bytes, to_bytes};
use ramie::nn::training::TrainState;
use ramie::optim::{adam, sgd};
use ramie::{Array, DType, State};

/// Returns an empty run directory. Its name is fixed, because messages contain it.
fn run() -> &'static str {
    let _ = std::fs::remove_dir_all("target/run");
    "target/run"
}

/// The start of a file of `torch.save(model)`, up to the name of the model's class.
const WHOLE_MODEL: &[u8] = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\
    \x80\x02}U\rlittle_endian\x88s.\x80\x02c__main__\nNet\n";

#[track_caller]
fn manager(options: CheckpointManagerOptions) -> CheckpointManager {
    CheckpointManager::new(run(), options).expect("the directory can be created")
}

fn options() -> CheckpointManagerOptions {
    CheckpointManagerOptions::new()
}

pub fn cases() -> Vec<Case> {
    vec![
        case("CheckpointManagerOptions: save_interval_steps is 0", || {
            options().save_interval_steps(0)
        }),
        case("CheckpointManagerOptions: max_to_keep is 0", || {
            options().max_to_keep(0)
        }),
        case("CheckpointManagerOptions: keep_period is 0", || {
            options().keep_period(0)
        }),
        case("EveryNSteps: the interval is 0", || EveryNSteps::new(0)),
        case("AnyPreservationPolicy: no policies", || {
            AnyPreservationPolicy::new(Vec::new())
        }),
        case("FixedIntervalPolicy: the interval is 0", || {
            FixedIntervalPolicy::new(0)
        }),
        case(
            "CheckpointManagerOptions: preservation_policy and max_to_keep are both set",
            || manager(options().max_to_keep(3).preservation_policy(PreserveAll)),
        ),
        case(
            "CheckpointManagerOptions: todelete_subdir and todelete_full_path are both set",
            || {
                options()
                    .todelete_subdir("old")
                    .todelete_full_path("/archive")
            },
        ),
        case("CheckpointerOptions: threads is 0", || {
            CheckpointerOptions::new().threads(0)
        }),
        case(
            "CheckpointManagerOptions: step_prefix contains a path separator",
            || options().step_prefix("runs/step"),
        ),
        case(
            "CheckpointManagerOptions: step_format_fixed_length exceeds 20",
            || options().step_format_fixed_length(30),
        ),
        case("Composite: two items have the same name", || {
            Composite::new()
                .item("state", JsonSave::new(&1))
                .item("state", JsonSave::new(&2))
        }),
        case("Composite: not a valid item name", || {
            Composite::new().item("../state", JsonSave::new(&1))
        }),
        case(
            "CheckpointManager::save: the item name metrics is reserved",
            || {
                let manager = manager(options().best_fn(|metrics| metrics.get("loss").unwrap()));
                let items = Composite::new().item("metrics", JsonSave::new(&1));
                let metrics = StepOptions::new().metrics([("loss", 0.5)]);
                manager.save_with(0, &items, metrics)
            },
        ),
        case("PreservationPolicy: wrong number of answers", || {
            struct None;
            impl PreservationPolicy for None {
                fn should_preserve(&self, _: &[CheckpointInfo]) -> Vec<bool> {
                    Vec::new()
                }
            }
            manager(options().preservation_policy(None)).save(0, &JsonSave::new(&1))
        }),
        error("CheckpointManager::save: the step already exists", || {
            let manager = manager(options());
            manager.save(7, &JsonSave::new(&1))?;
            manager.save_with(7, &JsonSave::new(&2), StepOptions::new().force(true))
        }),
        error(
            "CheckpointManager::restore: the step does not exist",
            || {
                let manager = manager(options().max_to_keep(2));
                for step in 0..3 {
                    manager.save(step, &JsonSave::new(&step))?;
                }
                manager.wait_until_finished()?;
                manager.restore(0, JsonRestore::<u64>::new())
            },
        ),
        error(
            "CheckpointManager::restore_latest: there is no step to restore",
            || manager(options()).restore_latest(JsonRestore::<u64>::new()),
        ),
        error("CheckpointManager::delete: the step does not exist", || {
            let manager = manager(options());
            manager.save(7, &JsonSave::new(&1))?;
            manager.delete(7)?;
            manager.delete(7)
        }),
        error(
            "CheckpointManager::restore: the step has no such item",
            || {
                let manager = manager(options());
                let items = Composite::new()
                    .item("state", JsonSave::new(&1))
                    .item("data", JsonSave::new(&2));
                manager.save(0, &items)?;
                let items = Composite::new().item("params", JsonRestore::<u64>::new());
                manager.restore(0, items)
            },
        ),
        error(
            "CheckpointManager::restore: the step has no default item",
            || {
                let manager = manager(options());
                let items = Composite::new().item("state", JsonSave::new(&1));
                manager.save(0, &items)?;
                manager.restore(0, JsonRestore::<u64>::new())
            },
        ),
        error("JsonRestore: not JSON of the requested type", || {
            let manager = manager(options());
            manager.save(0, &JsonSave::new("three"))?;
            manager.restore(0, JsonRestore::<u64>::new())
        }),
        error("save_item: the path already exists", || {
            let path = format!("{}/settings", run());
            save_item(&path, &JsonSave::new(&1))?;
            save_item(&path, &JsonSave::new(&2))
        }),
        error("save_item: the path exists and is not a checkpoint", || {
            let path = format!("{}/settings", run());
            std::fs::create_dir_all(&path).expect("a directory");
            std::fs::write(format!("{path}/notes.txt"), "by hand").expect("a file");
            save_item(&path, &JsonSave::new(&1))
        }),
        error("restore_item: wrong checksum", || {
            let path = format!("{}/settings", run());
            save_item(&path, &JsonSave::new(&1))?;
            std::fs::write(format!("{path}/metadata"), "2").expect("a file");
            restore_item(&path, JsonRestore::<u64>::new())
        }),
        error("restore_item: a file is missing", || {
            let path = format!("{}/settings", run());
            save_item(&path, &JsonSave::new(&1))?;
            std::fs::remove_file(format!("{path}/metadata")).expect("a file");
            restore_item(&path, JsonRestore::<u64>::new())
        }),
        error("Checkpointer::save: the path already exists", || {
            let path = format!("{}/weights", run());
            let weights = State::from_iter([("w", Array::zeros(&[2], DType::F32))]);
            let checkpointer = Checkpointer::new();
            checkpointer.save(&path, &StandardSave::new(&weights))?;
            checkpointer.wait_until_finished()?;
            checkpointer.save(&path, &StandardSave::new(&weights))
        }),
        error(
            "StandardRestore: a dtype cannot be converted without loss",
            || {
                let path = format!("{}/weights", run());
                let saved = State::from_iter([("w", Array::from([0.5f32, 1.5]))]);
                save_item(&path, &StandardSave::new(&saved))?;
                let target = State::from_iter([("w", Array::zeros(&[2], DType::I32))]);
                restore_item(&path, StandardRestore::new(&target))
            },
        ),
        error("StandardRestore: a number does not fit its type", || {
            let path = format!("{}/state", run());
            save_item(&path, &StandardSave::new(&(Array::from(1.0f32), 300)))?;
            restore_item(&path, StandardRestore::new(&(Array::from(0.0f32), 0u8)))
        }),
        error("StandardRestore: numbers and strings are missing", || {
            let path = format!("{}/state", run());
            save_item(&path, &StandardSave::new(&(Array::from(1.0f32), 300)))?;
            let target = (Array::from(0.0f32), String::new(), 0.5);
            restore_item(&path, StandardRestore::new(&target))
        }),
        error("serialization::from_bytes: a number is missing", || {
            let bytes = to_bytes(&(Array::from(1.0f32),))?;
            from_bytes(&mut (Array::from(0.0f32), 7), &bytes)
        }),
        error(
            "StandardRestore: the optimizer differs from the saved one",
            || {
                let path = format!("{}/state", run());
                let params = State::from_iter([("w", Array::zeros(&[2], DType::F32))]);
                let saved = TrainState::create(params.clone(), adam(1e-3));
                save_item(&path, &StandardSave::new(&saved))?;
                let target = TrainState::create(params, sgd(0.1).momentum(0.9));
                restore_item(&path, StandardRestore::new(&target)).map(|state| state.step)
            },
        ),
        error("restore_item: the path is a file", || {
            let path = format!("{}/weights.safetensors", run());
            let weights = State::from_iter([("w", Array::zeros(&[2], DType::F32))]);
            std::fs::create_dir_all(run()).expect("a directory");
            safetensors::save(&path, &weights)?;
            restore_item(&path, StandardRestore::new(&weights))
        }),
        error("safetensors::load_state: the path is a directory", || {
            let path = format!("{}/weights", run());
            let weights = State::from_iter([("w", Array::zeros(&[2], DType::F32))]);
            save_item(&path, &StandardSave::new(&weights))?;
            safetensors::load_state(&path)
        }),
        error("PyTorchFile::open: the file contains a whole model", || {
            let path = format!("{}/model.pt", run());
            std::fs::create_dir_all(run()).expect("a directory");
            std::fs::write(&path, WHOLE_MODEL).expect("a file");
            PyTorchFile::open(&path)
        }),
        error("restore_item: the directory does not exist", || {
            restore_item(format!("{}/weights", run()), StandardRestore::state())
        }),
        error(
            "CheckpointManager::new: the directory does not exist",
            || {
                let missing = format!("{}/nowhere", run());
                CheckpointManager::new(missing, options().create(false))
            },
        ),
    ]
}
