//! Kinds of items that a checkpoint can contain: `orbax.checkpoint.args`.
//!
//! Each kind has arguments for saving, such as [`JsonSave`], and for restoring, such as
//! [`JsonRestore`]. A save has two parts: the caller waits for the [snapshot](SaveArgs::snapshot)
//! only; [writing](Snapshot::write) it happens in the background, while the saved values may
//! already change.
//!
//! A [`Composite`] combines several items. To define a new kind, implement the three traits:
//!
//! ```
//! use ramie_checkpoint::commit::{ItemReader, ItemWriter, Process};
//! use ramie_checkpoint::items::{RestoreArgs, SaveArgs, Snapshot};
//! use ramie_checkpoint::{Error, Result};
//!
//! /// Saves a string.
//! struct TextSave<'a>(&'a str);
//! /// Snapshot of a string.
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
//!         // Only one process writes the string.
//!         if writer.process().is_primary() {
//!             writer.write("text", self.0.as_bytes())?;
//!         }
//!         Ok(())
//!     }
//! }
//!
//! /// Restores a string.
//! struct TextRestore;
//!
//! impl RestoreArgs for TextRestore {
//!     type Item = String;
//!     fn restore(self, reader: &ItemReader) -> Result<String> {
//!         Ok(String::from_utf8_lossy(&reader.read("text")?).into_owned())
//!     }
//! }
//! ```

mod any;
mod composite;
mod iterator;
mod json;
pub(crate) mod metrics;
mod random_key;

pub use crate::commit::item::{RestoreArgs, SaveArgs, Snapshot};
pub use any::{AnyItem, AnyRestore};
pub(crate) use any::{items, tree_metadata};
pub(crate) use composite::missing;
pub use composite::{Composite, Named, RestoreList, SaveList};
pub use iterator::{IteratorRestore, IteratorSave};
pub(crate) use json::JsonText;
pub use json::{JsonRestore, JsonSave};
pub use random_key::{JaxRandomKeyRestore, JaxRandomKeySave};
