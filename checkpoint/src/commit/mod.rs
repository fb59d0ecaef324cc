//! Folders that appear whole or not at all.
//!
//! What is saved is written to a folder of another name by an [`ItemWriter`], which
//! counts and checksums every byte on its way; a manifest of all files is put beside
//! them, everything is put on the disk, and then the folder takes its name. An
//! [`ItemReader`] compares what it reads with the manifest.

mod group;
mod manifest;
mod marker;
mod metadata;
mod parallel;
mod process;
mod reader;
mod transaction;
mod writer;

pub use metadata::{ItemHandlers, StepMetadata};
pub use process::Process;
pub use reader::ItemReader;
pub use transaction::{restore_item, save_item};
pub use writer::{FileWriter, ItemWriter};
