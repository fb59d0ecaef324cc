//! Folders that appear whole or not at all.
//!
//! What is saved is written to a folder of another name by an [`ItemWriter`], which
//! counts and checksums every byte on its way; a manifest of all files is put beside
//! them, everything is put on the disk, and then the folder takes its name. An
//! [`ItemReader`] compares what it reads with the manifest.

mod disk;
mod exit;
#[cfg(test)]
pub(crate) mod fault;
mod group;
mod manifest;
mod marker;
mod metadata;
mod parallel;
mod process;
mod reader;
mod report;
mod saver;
mod state;
mod transaction;
mod writer;

pub use group::MultiprocessingOptions;
pub(crate) use manifest::{Contents, PIECE};
pub use metadata::{ItemHandlers, StepMetadata};
pub use process::Process;
pub use reader::ItemReader;
pub use report::SaveReport;
pub use saver::{SaveOptions, Saver, SaverOptions};
pub use state::{CommitState, commit_state, is_committed};
pub use transaction::{restore_item, save_item};
pub use writer::{FileWriter, ItemWriter};

pub(crate) use disk::{
    aside, make_folder, remove_folder, rename, sync, sync_folder, write, write_synced,
};
pub(crate) use group::{Group, Meeting};
pub(crate) use marker::{MARKER, text as marker_text};
pub(crate) use metadata::{METADATA, now};
pub(crate) use parallel::{default_threads, for_each};

/// What is in the name of a folder while a checkpoint is written there; Orbax's.
pub(crate) const TEMPORARY: &str = ".orbax-checkpoint-tmp";

/// How a checkpoint becomes one: `orbax.checkpoint.options.AtomicityMode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Atomicity {
    /// It is written in a folder of another name, which is renamed.
    #[default]
    AtomicRename,
    /// It is written in place, and counts when the file `commit_success.txt` is there:
    /// for file systems that cannot rename folders at once. One that is replaced is
    /// removed before.
    CommitFile,
}
