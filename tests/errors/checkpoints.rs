//! Mistakes with checkpoints.

use crate::document::{Case, case, error};
use ramie::checkpoint::commit::{SaverOptions, restore_item, save_item};
use ramie::checkpoint::items::*;
use ramie::checkpoint::manager::policies::*;
use ramie::checkpoint::manager::*;
use ramie::checkpoint::pytree::{StandardCheckpointer, StandardRestore, StandardSave};
use ramie::checkpoint::safetensors;
use ramie::nn::training::TrainState;
use ramie::optim::{adam, sgd};
use ramie::{Array, DType, State};

/// A run of its own for each case, below the folder in which tests may write: with a
/// name that does not change, since messages hold it.
fn run() -> &'static str {
    let _ = std::fs::remove_dir_all("target/run");
    "target/run"
}

#[track_caller]
fn manager(options: CheckpointManagerOptions) -> CheckpointManager {
    CheckpointManager::new(run(), options).expect("a folder can be made")
}

fn options() -> CheckpointManagerOptions {
    CheckpointManagerOptions::new()
}

pub fn cases() -> Vec<Case> {
    vec![
        case("A manager that saves every 0 steps", || {
            options().save_interval_steps(0)
        }),
        case("A manager that keeps no step", || options().max_to_keep(0)),
        case("Steps to keep every 0 steps", || options().keep_period(0)),
        case("A policy of every 0 steps", || EveryNSteps::new(0)),
        case("A policy of no policies", || {
            AnyPreservationPolicy::new(Vec::new())
        }),
        case("Saving at multiples of 0", || FixedIntervalPolicy::new(0)),
        case("A policy and a rule beside it", || {
            manager(options().max_to_keep(3).preservation_policy(PreserveAll))
        }),
        case("Two places for what is deleted", || {
            options()
                .todelete_subdir("old")
                .todelete_full_path("/archive")
        }),
        case("No threads that delete", || {
            options().num_deletion_threads(0)
        }),
        case("No threads that write", || SaverOptions::new().threads(0)),
        case("A prefix of steps that names a folder", || {
            options().step_prefix("runs/step")
        }),
        case("Steps of 30 digits", || {
            options().step_format_fixed_length(30)
        }),
        case("Two items of one name", || {
            Composite::new()
                .item("state", JsonSave::new(&1))
                .item("state", JsonSave::new(&2))
        }),
        case("An item whose name leads out of the step", || {
            Composite::new().item("../state", JsonSave::new(&1))
        }),
        case("An item in the place of the metrics", || {
            let manager = manager(options().best_fn(|metrics| metrics.get("loss").unwrap()));
            let items = Composite::new().item("metrics", JsonSave::new(&1));
            let metrics = StepOptions::new().metrics([("loss", 0.5)]);
            manager.save_with(0, &items, metrics)
        }),
        case("A policy that forgets a step", || {
            struct None;
            impl PreservationPolicy for None {
                fn should_preserve(&self, _: &[CheckpointInfo]) -> Vec<bool> {
                    Vec::new()
                }
            }
            manager(options().preservation_policy(None)).save(0, &JsonSave::new(&1))
        }),
        error("A step that is there already", || {
            let manager = manager(options());
            manager.save(7, &JsonSave::new(&1))?;
            manager.save_with(7, &JsonSave::new(&2), StepOptions::new().force(true))
        }),
        error("A step that is not there", || {
            let manager = manager(options().max_to_keep(2));
            for step in 0..3 {
                manager.save(step, &JsonSave::new(&step))?;
            }
            manager.wait_until_finished()?;
            manager.restore(0, JsonRestore::<u64>::new())
        }),
        error("A run without steps", || {
            manager(options()).restore_latest(JsonRestore::<u64>::new())
        }),
        error("A step that is deleted twice", || {
            let manager = manager(options());
            manager.save(7, &JsonSave::new(&1))?;
            manager.delete(7)?;
            manager.delete(7)
        }),
        error("An item that the step does not have", || {
            let manager = manager(options());
            let items = Composite::new()
                .item("state", JsonSave::new(&1))
                .item("data", JsonSave::new(&2));
            manager.save(0, &items)?;
            let items = Composite::new().item("params", JsonRestore::<u64>::new());
            manager.restore(0, items)
        }),
        error("One item of a step that has several", || {
            let manager = manager(options());
            let items = Composite::new().item("state", JsonSave::new(&1));
            manager.save(0, &items)?;
            manager.restore(0, JsonRestore::<u64>::new())
        }),
        error("A value of another type", || {
            let manager = manager(options());
            manager.save(0, &JsonSave::new("three"))?;
            manager.restore(0, JsonRestore::<u64>::new())
        }),
        error("A path that is taken", || {
            let path = format!("{}/settings", run());
            save_item(&path, &JsonSave::new(&1))?;
            save_item(&path, &JsonSave::new(&2))
        }),
        error("A path that holds something else", || {
            let path = format!("{}/settings", run());
            std::fs::create_dir_all(&path).expect("a folder");
            std::fs::write(format!("{path}/notes.txt"), "by hand").expect("a file");
            save_item(&path, &JsonSave::new(&1))
        }),
        error("A file that was changed", || {
            let path = format!("{}/settings", run());
            save_item(&path, &JsonSave::new(&1))?;
            std::fs::write(format!("{path}/metadata"), "2").expect("a file");
            restore_item(&path, JsonRestore::<u64>::new())
        }),
        error("A file that is missing", || {
            let path = format!("{}/settings", run());
            save_item(&path, &JsonSave::new(&1))?;
            std::fs::remove_file(format!("{path}/metadata")).expect("a file");
            restore_item(&path, JsonRestore::<u64>::new())
        }),
        error("A path that is taken, saved in the background", || {
            let path = format!("{}/weights", run());
            let weights = State::from_iter([("w", Array::zeros(&[2], DType::F32))]);
            let checkpointer = StandardCheckpointer::new();
            checkpointer.save(&path, &weights)?;
            checkpointer.wait_until_finished()?;
            checkpointer.save(&path, &weights)
        }),
        error("A restore that would lose values", || {
            let path = format!("{}/weights", run());
            let saved = State::from_iter([("w", Array::from([0.5f32, 1.5]))]);
            save_item(&path, &StandardSave::new(&saved))?;
            let target = State::from_iter([("w", Array::zeros(&[2], DType::I32))]);
            restore_item(&path, StandardRestore::new(&target))
        }),
        error("Another optimizer than the saved one", || {
            let path = format!("{}/state", run());
            let params = State::from_iter([("w", Array::zeros(&[2], DType::F32))]);
            let saved = TrainState::create(params.clone(), adam(1e-3));
            save_item(&path, &StandardSave::new(&saved))?;
            let target = TrainState::create(params, sgd(0.1).momentum(0.9));
            restore_item(&path, StandardRestore::new(&target)).map(|state| state.step)
        }),
        error("A file in the place of a checkpoint's folder", || {
            let path = format!("{}/weights.safetensors", run());
            let weights = State::from_iter([("w", Array::zeros(&[2], DType::F32))]);
            std::fs::create_dir_all(run()).expect("a folder");
            safetensors::save(&path, &weights)?;
            StandardCheckpointer::new().restore(&path, &weights)
        }),
        error("A checkpoint's folder in the place of a file", || {
            let path = format!("{}/weights", run());
            let weights = State::from_iter([("w", Array::zeros(&[2], DType::F32))]);
            save_item(&path, &StandardSave::new(&weights))?;
            safetensors::load_state(&path)
        }),
        error("A checkpoint that is not there", || {
            restore_item(format!("{}/weights", run()), StandardRestore::state())
        }),
        error("A folder that is not made", || {
            let missing = format!("{}/nowhere", run());
            CheckpointManager::new(missing, options().create(false))
        }),
    ]
}
