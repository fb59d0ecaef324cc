//! State of an iteration over data.

use super::json::from_json;
use crate::commit::{ItemReader, ItemWriter, Process, RestoreArgs, SaveArgs, Snapshot};
use crate::{Error, Result};
use ramie_core::files::Message;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::marker::PhantomData;

/// Returns Grain's name of a process's file.
fn file(index: usize, count: usize) -> String {
    format!("process_{index}-of-{count}.json")
}

/// Parses the numbers in the name of such a file.
fn numbers(name: &str) -> Option<(usize, usize)> {
    let numbers = name.strip_prefix("process_")?.strip_suffix(".json")?;
    let (index, count) = numbers.split_once("-of-")?;
    Some((index.parse().ok()?, count.parse().ok()?))
}

/// Returns whether the item is the state of an iteration.
pub(super) fn is_state(reader: &ItemReader) -> Result<bool> {
    Ok(reader.names()?.iter().any(|name| numbers(name).is_some()))
}

/// Arguments of saving the state of an iteration over data, such as the `state()` of a loader.
/// Each process saves its own state.
///
/// The file is JSON and has Grain's name, `process_0-of-1.json`.
///
/// ```
/// use ramie_checkpoint::commit::{restore_item, save_item};
/// use ramie_checkpoint::items::{IteratorRestore, IteratorSave};
/// # fn main() -> ramie_checkpoint::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("data");
/// let position = 1234; // … of `loader.state()`
/// save_item(&path, &IteratorSave::new(&position))?;
/// assert_eq!(restore_item(&path, IteratorRestore::<u32>::new())?, 1234);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "CheckpointSave")]
#[derive(Clone, Debug)]
pub struct IteratorSave<'a, T: ?Sized>(&'a T);

impl<'a, T: Serialize + ?Sized> IteratorSave<'a, T> {
    /// Creates arguments that save this state.
    pub fn new(state: &'a T) -> IteratorSave<'a, T> {
        IteratorSave(state)
    }
}

impl<T: Serialize + ?Sized> SaveArgs for IteratorSave<'_, T> {
    fn handler(&self) -> &str {
        "grain._src.python.checkpoint.handler.CheckpointHandler"
    }

    fn snapshot(&self, process: Process) -> Result<Box<dyn Snapshot>> {
        let text = serde_json::to_vec_pretty(self.0)
            .map_err(|e| Error::Write(std::io::Error::other(format!("as JSON: {e}"))))?;
        let name = file(process.index(), process.count());
        Ok(Box::new(State { name, text }))
    }
}

/// State of this process.
struct State {
    name: String,
    text: Vec<u8>,
}

impl Snapshot for State {
    fn write(&mut self, writer: &ItemWriter) -> Result<()> {
        writer.write(&self.name, &self.text)
    }
}

/// Arguments of restoring an iteration state that [`IteratorSave`] saved.
///
/// Restoring with another number of processes requires that all saved states are equal. This is
/// the case for Ramie's loaders, whose states count elements of the whole dataset.
#[doc(alias = "CheckpointRestore")]
#[derive(Clone, Debug)]
pub struct IteratorRestore<T>(PhantomData<fn() -> T>);

impl<T: DeserializeOwned> IteratorRestore<T> {
    /// Creates arguments that restore a state of type `T`.
    pub fn new() -> IteratorRestore<T> {
        IteratorRestore(PhantomData)
    }
}

impl<T: DeserializeOwned> Default for IteratorRestore<T> {
    fn default() -> Self {
        IteratorRestore::new()
    }
}

impl<T: DeserializeOwned> RestoreArgs for IteratorRestore<T> {
    type Item = T;

    fn restore(self, reader: &ItemReader) -> Result<T> {
        let process = reader.process();
        let mine = file(process.index(), process.count());
        if reader.contains(&mine) {
            return from_json(reader, &mine);
        }
        let names = reader.names()?;
        let files: Vec<&String> = names.iter().filter(|n| numbers(n).is_some()).collect();
        let Some((first, others)) = files.split_first() else {
            return Err(Error::format(
                reader.folder(),
                Message::new(format!("contains no iteration state: `{mine}` is missing"))
                    .help("restore the item that `IteratorSave` saved"),
            ));
        };
        let state: Value = from_json(reader, first)?;
        for other in others {
            if from_json::<Value>(reader, other)? != state {
                return Err(Error::format(
                    reader.folder(),
                    Message::new(format!(
                        "contains the states of {} processes at different positions, but there are \
                {} processes now",
                        files.len(),
                        process.count()
                    ))
                    .help("restore with the number of processes that saved it"),
                ));
            }
        }
        from_json(reader, first)
    }

    fn reads_checked(&self) -> bool {
        true
    }
}
