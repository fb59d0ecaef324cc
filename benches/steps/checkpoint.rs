//! `checkpoint`: a state of 1 GB, saved in the background by a `CheckpointManager` and restored.
//! The line includes the time for which the caller is blocked. `save_megabytes_N` and
//! `save_arrays_N` have other sizes.

use crate::measure::Plan;
use crate::report::{Line, Times};
use ramie::checkpoint::manager::{CheckpointManager, CheckpointManagerOptions};
use ramie::checkpoint::pytree::{StandardRestore, StandardSave};
use ramie::core::Result;
use ramie::{DType, State, random, tree};
use std::time::Instant;

/// Saves and restores a number of arrays once per sample, after one round that is not counted.
pub fn measure(name: &str, plan: &Plan, arrays: usize, elements: usize) -> Result<()> {
    // Random numbers, which compress as poorly as weights.
    let values = random::normal(&random::key(0), &[elements], DType::F32);
    let array = |i: usize| (format!("layer_{i}"), &values + i as f32);
    let state: State = (0..arrays).map(array).collect();
    let target = tree::shape_dtype_structs(&state);
    for array in state.arrays() {
        array.block_until_ready();
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = CheckpointManagerOptions::new().max_to_keep(1);
    let manager = CheckpointManager::new(folder.path(), options).expect("a manager");
    let (mut blocking, mut saves, mut restores) = (Vec::new(), Vec::new(), Vec::new());
    for step in 0..=plan.samples.max(1) as u64 {
        let start = Instant::now();
        let saved = manager.save(step, &StandardSave::new(&state));
        let blocked = start.elapsed();
        assert!(saved.expect("a save"), "step {step} is saved");
        manager.wait_until_finished().expect("a checkpoint");
        let save = start.elapsed();
        let start = Instant::now();
        let restored = manager.restore(step, StandardRestore::new(&target));
        let restored = restored.expect("the state");
        for array in restored.arrays() {
            array.block_until_ready();
        }
        if step > 0 {
            blocking.push(blocked.as_secs_f64());
            saves.push(save.as_secs_f64());
            restores.push(start.elapsed().as_secs_f64());
        }
    }
    let both = saves.iter().zip(&restores).map(|(s, r)| s + r).collect();
    let bytes: usize = state.arrays().iter().map(|a| a.nbytes()).sum();
    let (blocking, saves) = (Times::new(blocking), Times::new(saves));
    let restores = Times::new(restores);
    Line::of(name)
        .value("bytes", bytes)
        .times(&Times::new(both))
        .seconds("blocking_median_s", blocking.median())
        .seconds("blocking_best_s", blocking.best())
        .seconds("save_median_s", saves.median())
        .seconds("save_best_s", saves.best())
        .seconds("restore_median_s", restores.median())
        .seconds("restore_best_s", restores.best())
        .print();
    Ok(())
}
