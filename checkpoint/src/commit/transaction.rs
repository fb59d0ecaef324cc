//! A single save, from the temporary directory to the committed checkpoint.

use super::group::Group;
use super::manifest::{self, MANIFEST, Manifest};
use super::marker::{self, MARKER};
use super::metadata::{self, ItemHandlers, METADATA, StepMetadata};
use super::reader::list;
use super::state::is_committed;
use super::writer::Ledger;
use super::{Atomicity, ItemWriter, SaveArgs, Snapshot};
use super::{disk, parallel};
use crate::error::PANICKED;
use crate::{Error, Result, file};
use ramie_core::files::Message;
use ramie_core::files::parent;
use serde_json::{Map, Value};
use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything that one save writes, ready to move to another thread.
pub(crate) struct Transaction {
    /// Final path of the checkpoint.
    pub path: PathBuf,
    /// Whether to replace an existing checkpoint.
    pub overwrite: bool,
    pub contents: Contents,
    pub custom_metadata: Map<String, Value>,
    pub group: Arc<Group>,
    pub threads: usize,
    pub atomicity: Atomicity,
    /// Unix permissions of the checkpoint's directory.
    pub permissions: Option<u32>,
}

/// Snapshots of a save.
pub(crate) enum Contents {
    /// A single item, in the checkpoint's own directory.
    One(Item),
    /// Items in directories of their names.
    Named(Vec<(String, Item)>),
}

/// Snapshot of one item, and the Python class that reads it.
pub(crate) struct Item {
    handler: String,
    snapshot: Box<dyn Snapshot>,
}

impl Item {
    pub fn of(args: &dyn SaveArgs, group: &Group) -> Result<Item> {
        Ok(Item {
            handler: args.handler().to_owned(),
            snapshot: args.snapshot(group.process())?,
        })
    }
}

impl Contents {
    /// Takes the snapshots: the part of a save that the caller waits for.
    pub fn of(args: &dyn SaveArgs, group: &Group) -> Result<Contents> {
        let Some(items) = args.items() else {
            return Ok(Contents::One(Item::of(args, group)?));
        };
        let named = items.into_iter().map(|(name, args)| {
            let item = Item::of(args, group)?;
            Ok((name.to_owned(), item))
        });
        Ok(Contents::Named(named.collect::<Result<_>>()?))
    }

    fn handlers(&self) -> ItemHandlers {
        match self {
            Contents::One(item) => ItemHandlers::One(item.handler.clone()),
            Contents::Named(items) => {
                let handler =
                    |(name, item): &(String, Item)| (name.clone(), Some(item.handler.clone()));
                ItemHandlers::Named(items.iter().map(handler).collect())
            }
        }
    }

    /// Calls a function with each item and the writer of its directory.
    fn each(
        &mut self,
        root: &ItemWriter,
        f: impl Fn(&mut dyn Snapshot, &ItemWriter) -> Result<()>,
    ) -> Result<()> {
        match self {
            Contents::One(item) => f(&mut *item.snapshot, root),
            Contents::Named(items) => items
                .iter_mut()
                .try_for_each(|(name, item)| f(&mut *item.snapshot, &root.subfolder(name)?)),
        }
    }
}

/// Number and total size of the files of a save.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SaveSize {
    pub files: usize,
    pub bytes: u64,
}

impl Transaction {
    /// Writes everything and commits it. Every process must call this; an error of one is returned
    /// in all of them, and then nothing has changed. If a process is lost during the commit, the
    /// others return an error, but the checkpoint may be committed.
    pub fn run(mut self) -> Result<SaveSize> {
        let folder = match self.atomicity {
            Atomicity::AtomicRename => disk::aside(&self.path, ""),
            Atomicity::CommitFile => self.path.clone(),
        };
        let begun = metadata::now();
        // The others wait in `agree` until the directory exists.
        let make = self.as_primary(|this| this.make(&folder));
        self.group.agree("folder", make)?;
        let ledger = Ledger::new(folder, self.threads);
        let root = self.fill(&ledger).inspect_err(|_| self.clear(&ledger))?;
        let commit = self.as_primary(|this| this.commit(&ledger, &root, begun));
        let commit = commit.inspect_err(|_| self.clear(&ledger));
        // A commit is final, so the checkpoint remains if another process is lost meanwhile.
        self.group.agree("commit", commit)?;
        let files = ledger.manifest().files;
        Ok(SaveSize {
            files: files.len(),
            bytes: files.values().map(|c| c.size).sum(),
        })
    }

    /// Calls a function in the primary process only.
    fn as_primary(&mut self, f: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if self.group.process().is_primary() {
            f(self)
        } else {
            Ok(())
        }
    }

    /// Removes the files of a failed save, since the disk may be full. If they cannot be removed,
    /// the next save of this name tries again.
    fn clear(&self, ledger: &Ledger) {
        if self.group.process().is_primary() {
            let _ = match self.atomicity {
                Atomicity::AtomicRename => disk::remove_folder(ledger.folder()),
                Atomicity::CommitFile => remove_in_place(ledger.folder()),
            };
        }
    }

    /// Creates the directory to write in, removing the leftovers of an interrupted save.
    fn make(&self, folder: &Path) -> Result<()> {
        check_name(&self.path, self.overwrite)?;
        match self.atomicity {
            Atomicity::AtomicRename => disk::make_free(folder)?,
            Atomicity::CommitFile => remove_in_place(folder)?,
        }
        disk::make_folder(folder)?;
        if let Some(mode) = self.permissions {
            set_permissions(folder, mode)?;
        }
        if self.atomicity == Atomicity::CommitFile {
            // Marks the directory as a checkpoint that was started but not completed, before an
            // item writes a file that older versions of Orbax write last.
            disk::write_synced(&folder.join(MANIFEST), b"")?;
            disk::sync_folder(folder)?;
            let begun = StepMetadata {
                init_timestamp_nsecs: Some(metadata::now()),
                ..StepMetadata::default()
            };
            disk::write_synced(&folder.join(METADATA), begun.to_text().as_bytes())?;
        }
        Ok(())
    }

    /// Writes the data of all processes.
    fn fill(&mut self, ledger: &Arc<Ledger>) -> Result<ItemWriter> {
        // A process that panicked would not reach `agree`, where the others wait for it.
        let writing = panic::catch_unwind(AssertUnwindSafe(|| self.write(ledger)));
        let writing = writing.unwrap_or_else(|panic| Err(panicked(&self.path, &*panic)));
        self.group.agree("writing", writing)
    }

    /// Writes the data of this process.
    fn write(&mut self, ledger: &Arc<Ledger>) -> Result<ItemWriter> {
        let process = self.group.process();
        let root = ItemWriter::root(ledger, process)?;
        let write = |item: &mut dyn Snapshot, at: &ItemWriter| item.write(at);
        self.contents.each(&root, write)?;
        // The primary process commits the files of all, so those of others must be on disk before.
        if !process.is_primary() {
            ledger.sync()?;
            write_part(ledger, process.index())?;
        }
        Ok(root)
    }

    /// Completes the directory and commits it, in the primary process.
    fn commit(&mut self, ledger: &Ledger, root: &ItemWriter, begun: u64) -> Result<()> {
        let folder = ledger.folder();
        for process in self.group.others() {
            ledger.enter(read_part(folder, process)?);
        }
        let finalize = |item: &mut dyn Snapshot, at: &ItemWriter| item.finalize(at);
        let finalized =
            panic::catch_unwind(AssertUnwindSafe(|| self.contents.each(root, finalize)));
        finalized.unwrap_or_else(|panic| Err(panicked(&self.path, &*panic)))?;
        if let Contents::Named(items) = &self.contents {
            for (name, _) in items {
                let text = marker::text(&self.path.join(name));
                root.subfolder(name)?.write(MARKER, text.as_bytes())?;
            }
        }
        let metadata = StepMetadata {
            item_handlers: Some(self.contents.handlers()),
            init_timestamp_nsecs: Some(begun),
            commit_timestamp_nsecs: Some(metadata::now()),
            custom_metadata: std::mem::take(&mut self.custom_metadata),
            ..StepMetadata::default()
        };
        root.write(METADATA, metadata.to_text().as_bytes())?;
        // The manifest must also list files that an item wrote without its `ItemWriter`.
        let mut names = Vec::new();
        list(folder, "", &mut names)?;
        let known = ledger.manifest().files;
        names.retain(|name| !known.contains_key(name) && name != MANIFEST);
        parallel::for_each(self.threads, names, |name| ledger.enter_foreign(&name))?;
        ledger.sync()?;
        let manifest = ledger.manifest().to_text();
        disk::write_synced(&folder.join(MANIFEST), manifest.as_bytes())?;
        // Write the marker last: without it, nothing counts.
        disk::sync_folder(folder)?;
        let marker = marker::text_with(&self.path, manifest.as_bytes());
        disk::write_synced(&folder.join(MARKER), marker.as_bytes())?;
        disk::sync_folder(folder)?;
        match self.atomicity {
            Atomicity::CommitFile => disk::sync_folder(parent(folder)),
            // `make` has checked that the existing checkpoint may be replaced.
            Atomicity::AtomicRename if self.path.symlink_metadata().is_ok() => {
                disk::replace(folder, &self.path)
            }
            Atomicity::AtomicRename => disk::rename(folder, &self.path),
        }
    }
}

/// Returns the error of an item that panicked.
fn panicked(path: &Path, panic: &(dyn Any + Send)) -> Error {
    let text = format!("writing it panicked: {}", ramie_base::panic::message(panic));
    Error::format(path, Message::new(text).help(PANICKED))
}

/// Removes a checkpoint that cannot be renamed first. Until its other files are gone, an empty
/// manifest marks it as unfinished.
fn remove_in_place(folder: &Path) -> Result<()> {
    if folder.symlink_metadata().is_ok_and(|m| m.is_dir()) {
        disk::remove_folder(&folder.join(MARKER))?;
        disk::write_synced(&folder.join(MANIFEST), b"")?;
        disk::sync_folder(folder)?;
        let failed = |e| Error::io(folder, "be listed", e);
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_name() != MANIFEST {
                disk::remove_folder(&entry.path())?;
            }
        }
    }
    disk::remove_folder(folder)
}

fn set_permissions(folder: &Path, mode: u32) -> Result<()> {
    #[cfg(unix)]
    {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(folder, permissions)
            .map_err(|e| Error::io(folder, "set its permissions", e))?;
    }
    #[cfg(not(unix))]
    let _ = (folder, mode);
    Ok(())
}

/// Checks that a checkpoint's path is free or may be replaced. Directories that are not
/// checkpoints are never removed.
pub(crate) fn check_name(path: &Path, overwrite: bool) -> Result<()> {
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    if is_committed(path)? {
        return if overwrite { Ok(()) } else { Err(exists(path)) };
    }
    let unfinished =
        manifest::is_unfinished(path) || StepMetadata::of(path).is_ok_and(|m| m.is_some());
    let empty = || std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    if path.is_dir() && (unfinished || empty()) {
        return Ok(());
    }
    Err(Error::format(
        path,
        Message::new("already exists and is not a checkpoint; nothing was saved")
            .help("save under another name, or remove it"),
    ))
}

fn exists(path: &Path) -> Error {
    Error::format(
        path,
        Message::new("already exists; nothing was saved").help(
            "save under another name or step, or use `SaveOptions::force(true)` to \
                replace it",
        ),
    )
}

/// Returns the file in which a process lists what it wrote, until the primary process has read it.
fn part(folder: &Path, process: usize) -> PathBuf {
    folder.join(format!("{MANIFEST}.process_{process}"))
}

fn write_part(ledger: &Ledger, process: usize) -> Result<()> {
    let manifest = ledger.manifest().to_text();
    disk::write_synced(&part(ledger.folder(), process), manifest.as_bytes())
}

fn read_part(folder: &Path, process: usize) -> Result<Manifest> {
    let path = part(folder, process);
    let bytes = file::read(&path)?;
    let manifest = Manifest::from_bytes(&path, &bytes)?;
    disk::remove_folder(&path)?;
    Ok(manifest)
}
