//! Tests that any operation of a save may fail, or be the last before the program is killed:
//! earlier checkpoints are intact, and there is never a partial one.

use super::{CheckpointManager, CheckpointManagerOptions, StepOptions};
use crate::Result;
use crate::commit::fault::{self, Fault};
use crate::commit::{Atomicity, CheckpointerOptions, is_committed};
use crate::items::{Composite, JsonRestore, JsonSave};
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

fn options(atomicity: Atomicity) -> CheckpointManagerOptions {
    // Use one thread, so that the operations of a save have a fixed order.
    CheckpointManagerOptions::new()
        .max_to_keep(2)
        .checkpointer(CheckpointerOptions::new().threads(1).atomicity(atomicity))
        .best_fn(|metrics| metrics.get("n").unwrap_or(f64::NAN))
}

fn open(root: &Path, atomicity: Atomicity) -> CheckpointManager {
    CheckpointManager::new(root, options(atomicity)).unwrap()
}

fn save(manager: &CheckpointManager, step: u64) -> Result<()> {
    let text = "much".repeat(265_000); // large enough to be flushed immediately
    let items = Composite::new()
        .item("number", JsonSave::new(&step))
        .item("text", JsonSave::new(&text));
    let options = StepOptions::new().metrics([("n", step as f64)]);
    manager.save_with(step, &items, options)?;
    manager.wait_until_finished()
}

/// Checks that existing steps are complete and known to the manager.
fn check(root: &Path, atomicity: Atomicity) -> Vec<u64> {
    let manager = open(root, atomicity);
    let steps = manager.all_steps();
    for step in &steps {
        manager.verify(*step).unwrap();
        let item = Composite::new().item("number", JsonRestore::<u64>::new());
        assert_eq!(manager.restore(*step, item).unwrap(), (*step,));
        assert_eq!(
            manager.metrics(*step).unwrap().unwrap().get("n"),
            Some(*step as f64)
        );
    }
    // No other directory counts as a checkpoint.
    for entry in std::fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        let known = steps.iter().any(|step| path.ends_with(step.to_string()));
        assert_eq!(is_committed(&path).unwrap(), known, "{}", path.display());
    }
    steps
}

/// Creates a run with the steps 0 and 1.
fn run(atomicity: Atomicity) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let manager = open(folder.path(), atomicity);
    save(&manager, 0).unwrap();
    save(&manager, 1).unwrap();
    folder
}

/// Copies a run.
fn copy(run: &TempDir) -> TempDir {
    fn copy_into(from: &Path, to: &Path) {
        for entry in std::fs::read_dir(from).unwrap() {
            let from = entry.unwrap().path();
            let to = to.join(from.file_name().unwrap());
            if from.is_dir() {
                std::fs::create_dir(&to).unwrap();
                copy_into(&from, &to);
            } else {
                std::fs::copy(&from, &to).unwrap();
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    copy_into(run.path(), folder.path());
    folder
}

/// Returns the operations of saving step 2 after 0 and 1.
fn steps_of_a_save(run: &TempDir, atomicity: Atomicity) -> Vec<String> {
    let folder = copy(run);
    let manager = open(folder.path(), atomicity);
    fault::plan(folder.path(), None);
    save(&manager, 2).unwrap();
    fault::steps(folder.path())
}

fn each_step_fails(atomicity: Atomicity) {
    let run = run(atomicity);
    let all = steps_of_a_save(&run, atomicity);
    assert!(all.len() > 20, "{all:#?}");
    let mut failures = 0;
    for (i, step) in all.iter().enumerate() {
        let fault = [Fault::DiskFull, Fault::Denied][i % 2];
        {
            let folder = copy(&run);
            let root = folder.path();
            let manager = open(root, atomicity);
            fault::plan(root, Some((i, fault)));
            let saved = save(&manager, 2);
            assert!(fault::steps(root).len() > i);
            if let Err(error) = &saved {
                failures += 1;
                let text = error.to_string();
                let reason = match fault {
                    Fault::DiskFull => "no storage space",
                    _ => "permission denied",
                };
                assert!(text.contains(reason), "{step}: {text}");
                assert!(text.contains(root.to_str().unwrap()), "{step}: {text}");
                // The error is returned only once.
                manager.wait_until_finished().unwrap();
            }
            let there = check(root, atomicity);
            assert!(there.contains(&1), "{step}: {there:?}");
            assert_eq!(manager.all_steps(), there, "{step} {saved:?}");
            // The next save works as if nothing had happened.
            save(&manager, 3).unwrap();
            let there = check(root, atomicity);
            assert_eq!(there.last(), Some(&3), "{step}");
            assert_eq!(manager.all_steps(), there, "{step}");
        }
    }
    assert!(2 * failures > all.len(), "{failures} of {}", all.len());
}

#[test]
fn a_step_that_fails_loses_nothing() {
    each_step_fails(Atomicity::AtomicRename);
}

#[test]
fn a_step_that_fails_loses_nothing_without_renames() {
    each_step_fails(Atomicity::CommitFile);
}

const KILLED: &str = "RAMIE_TEST_KILLED_AT";

fn each_step_is_the_last(test: &str, atomicity: Atomicity) {
    if let Ok(at) = std::env::var(KILLED) {
        let (at, root) = at.split_once(' ').unwrap();
        let root = Path::new(root);
        fault::plan(root, Some((at.parse().unwrap(), Fault::Killed)));
        let _ = save(&open(root, atomicity), 2);
        unreachable!("the program ends before");
    }
    // The manager that is killed first creates its directory.
    let run = run(atomicity);
    let steps = steps_of_a_save(&run, atomicity).len() + 1;
    for at in 0..steps {
        let folder = copy(&run);
        let killed = Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--test-threads=1"])
            .env(KILLED, format!("{at} {}", folder.path().display()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::process::ExitStatusExt::signal(&killed),
            Some(6),
            "step {at}"
        );
        let there = check(folder.path(), atomicity);
        assert!(there.contains(&1), "step {at}: {there:?}");
        let manager = open(folder.path(), atomicity);
        save(&manager, 3).unwrap();
        assert_eq!(check(folder.path(), atomicity).last(), Some(&3));
        drop(manager);
        let cleaned = options(atomicity).cleanup_tmp_directories(true);
        drop(CheckpointManager::new(folder.path(), cleaned).unwrap());
        let left = std::fs::read_dir(folder.path()).unwrap().flatten();
        let names: Vec<String> = left
            .map(|e| e.file_name().into_string().unwrap())
            .filter(|name| name.contains("tmp"))
            .collect();
        assert!(names.is_empty(), "step {at}: {names:?}");
    }
}

#[test]
fn a_program_that_is_killed_loses_nothing() {
    let name = "manager::fault_tests::a_program_that_is_killed_loses_nothing";
    each_step_is_the_last(name, Atomicity::AtomicRename);
}

#[test]
fn a_program_that_is_killed_loses_nothing_without_renames() {
    let name = "manager::fault_tests::a_program_that_is_killed_loses_nothing_without_renames";
    each_step_is_the_last(name, Atomicity::CommitFile);
}
