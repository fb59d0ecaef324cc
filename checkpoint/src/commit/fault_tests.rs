//! Tests that any operation of a replacement may fail.

use super::fault::{self, Fault};
use super::{Atomicity, ItemReader, ItemWriter, Process, is_committed};
use super::{Checkpointer, CheckpointerOptions, SaveArgs, SaveOptions, Snapshot};
use crate::Result;
use std::path::Path;

/// An item with a text, and with the file that older versions of Orbax write last.
#[derive(Clone)]
struct Text(&'static str);

impl SaveArgs for Text {
    fn handler(&self) -> &str {
        "tests.Text"
    }

    fn snapshot(&self, _: Process) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(self.clone()))
    }
}

impl Snapshot for Text {
    fn write(&mut self, writer: &ItemWriter) -> Result<()> {
        writer.write("_METADATA", b"{}")?;
        writer.write("text", self.0.as_bytes())
    }
}

/// Saves a text, replacing an existing one.
fn save(path: &Path, text: &'static str, atomicity: Atomicity) -> Result<()> {
    // Use one thread, so that the operations of a save have a fixed order.
    let options = CheckpointerOptions::new().asynchronous(false).threads(1);
    let checkpointer = Checkpointer::with_options(options.atomicity(atomicity));
    checkpointer.save_with(path, &Text(text), SaveOptions::new().force(true))
}

/// Reads a text, with all files verified.
fn read(path: &Path) -> String {
    let reader = ItemReader::open(path).unwrap();
    reader.verify_all().unwrap();
    String::from_utf8(reader.read("text").unwrap()).unwrap()
}

/// Returns the operations of replacing a text.
fn steps_of_a_replacement(atomicity: Atomicity) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    save(&path, "old", atomicity).unwrap();
    fault::plan(folder.path(), None);
    save(&path, "new", atomicity).unwrap();
    assert_eq!(read(&path), "new");
    fault::steps(folder.path())
}

#[test]
fn a_replacement_in_place_that_fails_leaves_no_partial_checkpoint() {
    let atomicity = Atomicity::CommitFile;
    let all = steps_of_a_replacement(atomicity);
    for (i, step) in all.iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        save(&path, "old", atomicity).unwrap();
        fault::plan(folder.path(), Some((i, Fault::Denied)));
        let saved = save(&path, "new", atomicity);
        fault::steps(folder.path());
        assert!(saved.is_err(), "{step}");
        if is_committed(&path).unwrap() {
            assert_eq!(read(&path), "old", "{step}");
        }
        save(&path, "next", atomicity).unwrap();
        assert_eq!(read(&path), "next", "{step}");
    }
}

#[test]
fn a_replacement_counts_if_the_old_checkpoint_cannot_be_removed() {
    let atomicity = Atomicity::AtomicRename;
    let all = steps_of_a_replacement(atomicity);
    let (first, last) = (&all[0], &all[all.len() - 1]);
    assert!(first.starts_with("remove "), "{all:#?}");
    assert!(last.starts_with("remove "), "{all:#?}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    save(&path, "first", atomicity).unwrap();
    fault::plan(folder.path(), Some((all.len() - 1, Fault::Denied)));
    save(&path, "second", atomicity).unwrap();
    fault::steps(folder.path());
    assert_eq!(read(&path), "second");
    let leftover = folder.path().join("state.orbax-checkpoint-tmp");
    assert!(leftover.is_dir());
    // The leftover does not prevent the next save, even if it still cannot be removed.
    fault::plan(folder.path(), Some((0, Fault::Denied)));
    save(&path, "third", atomicity).unwrap();
    fault::steps(folder.path());
    assert_eq!(read(&path), "third");
    assert!(!leftover.exists());
    let names = std::fs::read_dir(folder.path()).unwrap().flatten();
    let names: Vec<_> = names.map(|entry| entry.file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let all_temporary = names.iter().filter(|name| *name != "state");
    for name in all_temporary {
        let path = folder.path().join(name);
        assert!(!is_committed(&path).unwrap(), "{name:?}");
    }
}
