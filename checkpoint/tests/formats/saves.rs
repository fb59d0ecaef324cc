//! When a checkpoint counts as saved.

use crate::commit::copy;
use ramie_checkpoint::commit::{Atomicity, ItemReader, ItemWriter, Process, is_committed};
use ramie_checkpoint::commit::{Checkpointer, CheckpointerOptions, SaveOptions, restore_item};
use ramie_checkpoint::items::{Composite, JsonRestore, JsonSave, SaveArgs, Snapshot};
use ramie_checkpoint::manager::{CheckpointManager, CheckpointManagerOptions};
use ramie_checkpoint::pytree::{StandardRestore, StandardSave};
use ramie_checkpoint::{Error, Result};
use ramie_core::{Array, State};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// Returns a checkpointer that returns after the commit.
fn blocking(atomicity: Atomicity) -> Checkpointer {
    let options = CheckpointerOptions::new().asynchronous(false);
    Checkpointer::with_options(options.atomicity(atomicity))
}

/// An item that copies the unfinished checkpoint while it is written.
#[derive(Clone)]
struct Copies {
    checkpoint: PathBuf,
    to: PathBuf,
}

impl SaveArgs for Copies {
    fn handler(&self) -> &str {
        "tests.Copies"
    }

    fn snapshot(&self, _: Process) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(self.clone()))
    }
}

impl Snapshot for Copies {
    fn write(&mut self, writer: &ItemWriter) -> Result<()> {
        assert!(!is_committed(&self.checkpoint)?);
        writer.write("file", b"text")?;
        copy(&self.checkpoint, &self.to.join("written"));
        Ok(())
    }

    fn finalize(&mut self, _: &ItemWriter) -> Result<()> {
        assert!(!is_committed(&self.checkpoint)?);
        copy(&self.checkpoint, &self.to.join("finalized"));
        Ok(())
    }
}

#[test]
fn a_checkpoint_written_in_place_does_not_count_before_its_marker() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("7");
    let checkpointer = blocking(Atomicity::CommitFile);
    let state = State::from_iter([("x", Array::from(1.5f32))]);
    let items = Composite::new()
        .item("state", StandardSave::new(&state))
        .item(
            "copies",
            Copies {
                checkpoint: path.clone(),
                to: folder.path().into(),
            },
        );
    checkpointer.save(&path, &items).unwrap();
    assert!(is_committed(&path).unwrap());
    ItemReader::open(&path).unwrap().verify_all().unwrap();
    let restored = Composite::new().item("state", StandardRestore::state());
    let (restored,) = restore_item(&path, restored).unwrap();
    assert_eq!(restored["x"].item::<f32>(), 1.5);
    // What a program leaves that is killed during the save.
    for name in ["written", "finalized"] {
        let path = folder.path().join(name);
        assert!(path.join("state/_METADATA").is_file(), "{name}");
        assert!(!is_committed(&path).unwrap(), "{name}");
        let error = ItemReader::open(&path).err().unwrap();
        assert!(matches!(error, Error::Damaged { .. }), "{name}: {error}");
        let text = error.to_string();
        assert!(text.contains("the save is not complete"), "{name}: {text}");
        // The next save of this name replaces it.
        checkpointer.save(&path, &JsonSave::new(name)).unwrap();
        let value = restore_item(&path, JsonRestore::<String>::new()).unwrap();
        assert_eq!(value, name);
        assert!(!path.join("state").exists(), "{name}");
    }
}

#[test]
fn a_checkpoint_that_is_replaced_in_place_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let checkpointer = blocking(Atomicity::CommitFile);
    for value in [1, 2] {
        let options = SaveOptions::new().force(true);
        checkpointer
            .save_with(&path, &JsonSave::new(&value), options)
            .unwrap();
        ItemReader::open(&path).unwrap().verify_all().unwrap();
        let restored = restore_item(&path, JsonRestore::<i32>::new()).unwrap();
        assert_eq!(restored, value);
    }
}

#[test]
fn a_callback_that_panics_does_not_undo_the_save() {
    for asynchronous in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let checkpointer = CheckpointerOptions::new()
            .asynchronous(asynchronous)
            .post_finalization_callback(|| panic!("a mistake in the callback"));
        let options = CheckpointManagerOptions::new().checkpointer(checkpointer);
        let manager = CheckpointManager::new(folder.path(), options).unwrap();
        let saved = catch_unwind(AssertUnwindSafe(|| {
            manager.save(3, &JsonSave::new("value"))?;
            manager.wait_until_finished()
        }));
        assert!(!manager.is_saving_in_progress());
        let text = saved.expect("an error").unwrap_err().to_string();
        let expected = "the checkpoint is committed, but its `post_finalization_callback` panicked";
        assert!(text.contains(expected), "{text}");
        assert_eq!(manager.all_steps(), [3]);
        assert!(manager.last_report().is_some());
        let value = manager.restore(3, JsonRestore::<String>::new()).unwrap();
        assert_eq!(value, "value");
    }
}
