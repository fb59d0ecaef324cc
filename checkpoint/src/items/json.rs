//! Values as JSON.

use super::{RestoreArgs, SaveArgs, Snapshot};
use crate::commit::{ItemReader, ItemWriter, Process};
use crate::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;

/// The file's name, if nothing else is said; Orbax's.
const FILE: &str = "metadata";
/// The class of Python that reads it.
const HANDLER: &str =
    "orbax.checkpoint._src.handlers.json_checkpoint_handler.JsonCheckpointHandler";

/// Saves a value as JSON, in the file `metadata`: `orbax.checkpoint.args.JsonSave`.
///
/// Anything that [`serde`] can write is a value: settings, counters, the position of a
/// data loader, or a `serde_json::Value`.
///
/// ```
/// use ramie_checkpoint::items::JsonSave;
/// let settings = std::collections::BTreeMap::from([("layers", 3), ("width", 64)]);
/// let args = JsonSave::new(&settings);
/// # let _ = args;
/// ```
#[derive(Clone, Debug)]
pub struct JsonSave<'a, T: ?Sized> {
    value: &'a T,
    file: &'a str,
}

impl<'a, T: Serialize + ?Sized> JsonSave<'a, T> {
    /// Saves this value.
    pub fn new(value: &'a T) -> JsonSave<'a, T> {
        JsonSave { value, file: FILE }
    }

    /// Another name of the file than `metadata`.
    pub fn file(mut self, name: &'a str) -> JsonSave<'a, T> {
        self.file = name;
        self
    }
}

impl<T: Serialize + ?Sized> SaveArgs for JsonSave<'_, T> {
    fn handler(&self) -> &str {
        HANDLER
    }

    fn snapshot(&self, _: Process) -> Result<Box<dyn Snapshot>> {
        let text = serde_json::to_vec(self.value)
            .map_err(|e| Error::Write(std::io::Error::other(format!("as JSON: {e}"))))?;
        Ok(Box::new(JsonText::new(self.file, text)))
    }
}

/// The text of a value, in a file of its own.
#[derive(Clone)]
pub(crate) struct JsonText {
    text: Vec<u8>,
    file: String,
}

impl JsonText {
    pub fn new(file: &str, text: Vec<u8>) -> JsonText {
        JsonText {
            text,
            file: file.to_owned(),
        }
    }
}

impl SaveArgs for JsonText {
    fn handler(&self) -> &str {
        HANDLER
    }

    fn snapshot(&self, _: Process) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(self.clone()))
    }
}

impl Snapshot for JsonText {
    fn write(&mut self, writer: &ItemWriter) -> Result<()> {
        if writer.process().is_primary() {
            writer.write(&self.file, &self.text)?;
        }
        Ok(())
    }
}

/// Restores a value that [`JsonSave`] saved: `orbax.checkpoint.args.JsonRestore`.
///
/// ```
/// use ramie_checkpoint::items::JsonRestore;
/// use std::collections::BTreeMap;
/// let args = JsonRestore::<BTreeMap<String, u32>>::new();
/// # let _ = args;
/// ```
#[derive(Clone, Debug)]
pub struct JsonRestore<'a, T> {
    file: &'a str,
    value: PhantomData<fn() -> T>,
}

impl<'a, T: DeserializeOwned> JsonRestore<'a, T> {
    /// Restores a value of this type.
    pub fn new() -> JsonRestore<'a, T> {
        JsonRestore {
            file: FILE,
            value: PhantomData,
        }
    }

    /// Another name of the file than `metadata`.
    pub fn file(mut self, name: &'a str) -> JsonRestore<'a, T> {
        self.file = name;
        self
    }
}

impl<T: DeserializeOwned> Default for JsonRestore<'_, T> {
    fn default() -> Self {
        JsonRestore::new()
    }
}

impl<T: DeserializeOwned> RestoreArgs for JsonRestore<'_, T> {
    type Item = T;

    fn restore(self, reader: &ItemReader) -> Result<T> {
        from_json(reader, self.file)
    }

    fn reads_checked(&self) -> bool {
        true
    }
}

/// The value in a file of JSON.
pub(super) fn from_json<T: DeserializeOwned>(reader: &ItemReader, file: &str) -> Result<T> {
    let bytes = reader.read(file)?;
    serde_json::from_slice(&bytes).map_err(|e| match reader.path(file) {
        Ok(path) => Error::format(&path, format!("is not the JSON of this value: {e}\n  help: restore a value of the type that was saved; `serde_json::Value` takes any")),
        Err(error) => error,
    })
}
