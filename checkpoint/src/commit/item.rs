//! Interfaces of the items that a checkpoint contains.

use super::{ItemReader, ItemWriter, Process};
use crate::Result;

/// Arguments of a save: the item and its options.
pub trait SaveArgs {
    /// Returns the Python class that reads the written files, as `module.Class`, for the file
    /// `_CHECKPOINT_METADATA`.
    fn handler(&self) -> &str;

    /// Takes a snapshot that later changes do not affect. The caller of the save waits only for
    /// this. It copies arrays from the device to the host and writes nothing yet.
    ///
    /// All processes that save together call this.
    ///
    /// # Errors
    /// Returns an error if an array cannot be read or the value cannot be saved.
    fn snapshot(&self, process: Process) -> Result<Box<dyn Snapshot>>;

    /// Returns the named items of a composite, each of which gets its own directory. Returns
    /// `None` for a single item.
    fn items(&self) -> Option<Vec<(&str, &dyn SaveArgs)>> {
        None
    }
}

/// Snapshot of an item, ready to be written.
pub trait Snapshot: Send {
    /// Writes the item into its directory; called once, in a background thread.
    ///
    /// Each process writes its own data; only the primary process writes shared files. Data may be
    /// dropped once it is written.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    fn write(&mut self, writer: &ItemWriter) -> Result<()>;

    /// Completes the item after all processes have written their data, for example by merging it;
    /// called in the primary process. The default does nothing.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or written.
    fn finalize(&mut self, writer: &ItemWriter) -> Result<()> {
        let _ = writer;
        Ok(())
    }
}

/// Arguments of a restore: the item and its options.
pub trait RestoreArgs {
    /// Type of the restored value.
    type Item;

    /// Restores the item of a directory.
    ///
    /// # Errors
    /// Returns an error if a file is missing, damaged, unreadable, or of another kind.
    fn restore(self, reader: &ItemReader) -> Result<Self::Item>;

    /// Returns whether [`restore`](RestoreArgs::restore) reads files only through the
    /// [`ItemReader`], which verifies them against the manifest. If not, all files of the item are
    /// verified first.
    fn reads_checked(&self) -> bool {
        false
    }

    /// Returns the names of a composite's items, or `None` for a single item.
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

/// Restores an item. If it does not verify its files itself, verifies them first.
pub(crate) fn restore_checked<R: RestoreArgs>(args: R, reader: &ItemReader) -> Result<R::Item> {
    if !args.reads_checked() {
        reader.verify_all()?;
    }
    args.restore(reader)
}
