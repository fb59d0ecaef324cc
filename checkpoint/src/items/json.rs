//! Values saved as JSON.

use crate::commit::{ItemReader, ItemWriter, Process, RestoreArgs, SaveArgs, Snapshot};
use crate::{Error, Result};
use ramie_core::files::Message;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;

/// Default name of the file, as in Orbax.
pub(super) const FILE: &str = "metadata";
/// Python class that reads the file.
const HANDLER: &str =
    "orbax.checkpoint._src.handlers.json_checkpoint_handler.JsonCheckpointHandler";

/// Arguments of saving a value as JSON in the file `metadata`: `orbax.checkpoint.args.JsonSave`.
///
/// The value can be anything that [`serde`] can serialize: settings, counters, the position of a
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
    /// Creates arguments that save this value.
    pub fn new(value: &'a T) -> JsonSave<'a, T> {
        JsonSave { value, file: FILE }
    }

    /// Sets the name of the file. Defaults to `metadata`.
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

/// JSON text to save in its own file.
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

/// Arguments of restoring a value that [`JsonSave`] saved: `orbax.checkpoint.args.JsonRestore`.
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
    /// Creates arguments that restore a value of type `T`.
    pub fn new() -> JsonRestore<'a, T> {
        JsonRestore {
            file: FILE,
            value: PhantomData,
        }
    }

    /// Sets the name of the file. Defaults to `metadata`.
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

/// Parses a JSON file.
pub(super) fn from_json<T: DeserializeOwned>(reader: &ItemReader, file: &str) -> Result<T> {
    let bytes = reader.read(file)?;
    serde_json::from_slice(&bytes).map_err(|e| match reader.path(file) {
        Ok(path) => Error::format(
            &path,
            Message::new(format!("is not JSON of the requested type: {e}")).help(
                "restore a value of the saved type, or a `serde_json::Value`, which accepts \
                any JSON",
            ),
        ),
        Err(error) => error,
    })
}
