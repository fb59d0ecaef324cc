//! The kinds of things that a checkpoint holds.
//!
//! Each kind has arguments for saving, such as [`JsonSave`], and for restoring, such
//! as [`JsonRestore`]; `orbax.checkpoint.args`. A save has two parts: a
//! [snapshot](SaveArgs::snapshot), for which the caller waits, and
//! [writing](Snapshot::write) it, which goes on in the background while the values
//! that were saved may change.
//!
//! Several items are a [`Composite`]. A kind of one's own implements the three traits:
//!
//! ```
//! use ramie_checkpoint::commit::{ItemReader, ItemWriter, Process};
//! use ramie_checkpoint::items::{RestoreArgs, SaveArgs, Snapshot};
//! use ramie_checkpoint::{Error, Result};
//!
//! /// Saves a text.
//! struct TextSave<'a>(&'a str);
//! /// The text, as it was.
//! struct Text(String);
//!
//! impl SaveArgs for TextSave<'_> {
//!     fn handler(&self) -> &str {
//!         "my.TextHandler"
//!     }
//!     fn snapshot(&self, _: Process) -> Result<Box<dyn Snapshot>> {
//!         Ok(Box::new(Text(self.0.into())))
//!     }
//! }
//!
//! impl Snapshot for Text {
//!     fn write(&mut self, writer: &ItemWriter) -> Result<()> {
//!         // There is one text, whatever the number of processes.
//!         if writer.process().is_primary() {
//!             writer.write("text", self.0.as_bytes())?;
//!         }
//!         Ok(())
//!     }
//! }
//!
//! /// Restores a text.
//! struct TextRestore;
//!
//! impl RestoreArgs for TextRestore {
//!     type Item = String;
//!     fn restore(self, reader: &ItemReader) -> Result<String> {
//!         Ok(String::from_utf8_lossy(&reader.read("text")?).into_owned())
//!     }
//! }
//! ```

mod composite;
mod iterator;
mod json;
mod random_key;

pub(crate) use composite::missing;
pub use composite::{Composite, Named, RestoreList, SaveList};
pub use iterator::{IteratorRestore, IteratorSave};
pub(crate) use json::JsonText;
pub use json::{JsonRestore, JsonSave};
pub use random_key::{JaxRandomKeyRestore, JaxRandomKeySave};

use crate::Result;
use crate::commit::{ItemReader, ItemWriter, Process};

/// What is saved, and how: the arguments of a save.
pub trait SaveArgs {
    /// The class of Python that reads what is written, for the file
    /// `_CHECKPOINT_METADATA`, as `module.Class`.
    fn handler(&self) -> &str;

    /// Takes what is to be written out of the reach of later changes. The caller of
    /// the save waits for this only: arrays on a device are copied to the host, and
    /// nothing is written yet.
    ///
    /// Every process of those that save together calls it.
    ///
    /// # Errors
    /// If an array cannot be read, or the value cannot be saved.
    fn snapshot(&self, process: Process) -> Result<Box<dyn Snapshot>>;

    /// The items of a composite, by their names, each of which gets a folder of its
    /// own; nothing if this is one item.
    fn items(&self) -> Option<Vec<(&str, &dyn SaveArgs)>> {
        None
    }
}

/// What a save holds while it is written.
pub trait Snapshot: Send {
    /// Writes the item into its folder, in a thread of its own.
    ///
    /// Of several processes each writes its part, and only the primary one what there
    /// is once. It is called once; what is written can be dropped.
    ///
    /// # Errors
    /// If a file cannot be written.
    fn write(&mut self, writer: &ItemWriter) -> Result<()>;

    /// Finishes the item, in the primary process, when all processes have written
    /// their parts: it may merge them. It does nothing, if not said otherwise.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    fn finalize(&mut self, writer: &ItemWriter) -> Result<()> {
        let _ = writer;
        Ok(())
    }
}

/// What is restored, and how: the arguments of a restore.
pub trait RestoreArgs {
    /// What is restored.
    type Item;

    /// Restores the item of a folder.
    ///
    /// # Errors
    /// If a file is missing, damaged, cannot be read, or holds something else.
    fn restore(self, reader: &ItemReader) -> Result<Self::Item>;

    /// Whether [`restore`](RestoreArgs::restore) reads files only through the
    /// [`ItemReader`], which compares them with the manifest. If not, all files of the
    /// item are compared before.
    fn reads_checked(&self) -> bool {
        false
    }

    /// The names of a composite's items; nothing if this is one item.
    fn names(&self) -> Option<Vec<&str>> {
        None
    }
}

impl<A: SaveArgs + ?Sized> SaveArgs for &A {
    fn handler(&self) -> &str {
        (**self).handler()
    }
    fn snapshot(&self, process: Process) -> Result<Box<dyn Snapshot>> {
        (**self).snapshot(process)
    }
    fn items(&self) -> Option<Vec<(&str, &dyn SaveArgs)>> {
        (**self).items()
    }
}

impl<A: SaveArgs + ?Sized> SaveArgs for Box<A> {
    fn handler(&self) -> &str {
        (**self).handler()
    }
    fn snapshot(&self, process: Process) -> Result<Box<dyn Snapshot>> {
        (**self).snapshot(process)
    }
    fn items(&self) -> Option<Vec<(&str, &dyn SaveArgs)>> {
        (**self).items()
    }
}

/// Restores an item, after its files were compared with the manifest, if it does not do
/// so itself.
pub(crate) fn restore_checked<R: RestoreArgs>(args: R, reader: &ItemReader) -> Result<R::Item> {
    if !args.reads_checked() {
        reader.verify_all()?;
    }
    args.restore(reader)
}
