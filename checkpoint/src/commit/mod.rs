//! Directories that appear atomically.
//!
//! An [`ItemWriter`] writes files to a temporary directory and computes their sizes and checksums
//! on the way. A manifest of all files is added, everything is flushed to disk, and the directory
//! is renamed. An [`ItemReader`] verifies what it reads against the manifest.
//!
//! A [`Checkpointer`] saves an item in this way in the background, and [`save_item`] waits for it.

mod checkpointer;
mod disk;
mod exit;
#[cfg(test)]
pub(crate) mod fault;
#[cfg(test)]
mod fault_tests;
mod group;
pub(crate) mod item;
mod manifest;
mod marker;
mod metadata;
mod options_data;
mod parallel;
mod process;
mod reader;
mod report;
mod state;
mod transaction;
mod writer;

pub use checkpointer::{Checkpointer, CheckpointerOptions, SaveOptions, restore_item, save_item};
pub use group::MultiprocessingOptions;
pub(crate) use item::{RestoreArgs, SaveArgs, Snapshot, restore_checked};
pub(crate) use manifest::{Contents, PIECE};
pub use metadata::{ItemHandlers, StepMetadata};
pub use process::Process;
pub use reader::ItemReader;
pub use report::SaveReport;
pub use state::{CommitState, commit_state, is_committed};
pub use writer::{FileWriter, ItemWriter};

pub(crate) use disk::{
    aside, make_folder, remove_folder, rename, sync, sync_folder, write, write_synced,
};
pub(crate) use group::{Group, Meeting};
pub(crate) use marker::{MARKER, text as marker_text};
pub(crate) use metadata::{METADATA, TREE, now};
pub(crate) use parallel::{default_threads, for_each};

/// Part of the name of a directory while a checkpoint is written there, as in Orbax.
pub(crate) const TEMPORARY: &str = ".orbax-checkpoint-tmp";

/// Method of committing a checkpoint: `orbax.checkpoint.options.AtomicityMode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Atomicity {
    /// Writes to a temporary directory and renames it.
    #[default]
    AtomicRename,
    /// Writes in place; the checkpoint counts once the file `commit_success.txt` exists. For file
    /// systems that cannot rename directories atomically. A checkpoint to be replaced is removed
    /// first.
    CommitFile,
}
