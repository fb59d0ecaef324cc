//! Tests that several processes stay together after an error of one of them.

use super::{CheckpointManager, CheckpointManagerOptions};
use crate::Error;
use crate::commit::CheckpointerOptions;
use crate::items::JsonSave;
use ramie_core::distributed;
use ramie_core::lock::lock;
use ramie_testing::processes::{Program, joining, number, say};
use std::path::Path;
use std::time::Duration;

const WAIT: Duration = Duration::from_secs(20);

/// Runs one of the processes; without its variables it does nothing.
#[test]
fn child() {
    let Ok(root) = std::env::var("RAMIE_TEST_FOLDER") else {
        return;
    };
    distributed::initialize_with(&joining(WAIT)).expect("all join");
    save_and_delete(Path::new(&root), number("RAMIE_TEST_PROCESS"));
    distributed::shutdown().expect("all leave");
}

fn save_and_delete(root: &Path, process: usize) {
    let options = CheckpointManagerOptions::new()
        .enable_background_delete(true)
        .checkpointer(CheckpointerOptions::new().timeout(WAIT));
    let manager = CheckpointManager::new(root, options).unwrap();
    let save = |step: u64| manager.save(step, &JsonSave::new(&step));
    // Only the primary process deletes steps.
    let fail = || {
        if process == 0 {
            let error = Error::format(root, "a deletion failed");
            lock(&manager.deleter).fail(error);
        }
    };
    assert!(save(0).unwrap());
    manager.wait_until_finished().unwrap();
    fail();
    let first = save(1).unwrap_err();
    assert!(save(2).unwrap());
    manager.wait_until_finished().unwrap();
    fail();
    let second = manager.delete(2).unwrap_err();
    manager.delete(2).unwrap();
    assert!(save(3).unwrap());
    manager.wait_until_finished().unwrap();
    for error in [first, second] {
        let text = error.to_string();
        assert!(text.contains("a deletion failed"), "{text}");
        assert_eq!(text.contains("process 0: "), process != 0, "{text}");
    }
    say(format!("{:?}", manager.all_steps()));
}

#[test]
fn an_error_of_a_background_deletion_reaches_all_processes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let mut program = Program::at_own_address();
    program.test = "manager::process_tests::child";
    for process in 0..2 {
        program.start("", 2, process, &[("RAMIE_TEST_FOLDER", path)]);
    }
    assert_eq!(program.says(), ["[0, 3]", "[0, 3]"]);
}
