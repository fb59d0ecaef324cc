//! One save: from a temporary folder to the name of the checkpoint.

use super::group::Group;
use super::manifest::{MANIFEST, Manifest};
use super::marker::{self, MARKER};
use super::metadata::{self, ItemHandlers, METADATA, StepMetadata};
use super::reader::list;
use super::state::is_committed;
use super::writer::Ledger;
use super::{Atomicity, ItemReader, ItemWriter, SaveOptions, Saver, SaverOptions};
use super::{disk, parallel};
use crate::atomic::parent;
use crate::items::{RestoreArgs, SaveArgs, Snapshot, restore_checked};
use crate::{Error, Result, file};
use serde_json::{Map, Value};
use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What one save writes: everything that a thread of its own needs.
pub(crate) struct Transaction {
    /// Where the checkpoint will be.
    pub path: PathBuf,
    /// Whether one that is there already is replaced.
    pub overwrite: bool,
    pub contents: Contents,
    pub custom_metadata: Map<String, Value>,
    pub group: Arc<Group>,
    pub threads: usize,
    pub atomicity: Atomicity,
    /// The permissions of the checkpoint's folder, as a number of Unix.
    pub permissions: Option<u32>,
}

/// The snapshots of a save.
pub(crate) enum Contents {
    /// One item, in the checkpoint's own folder.
    One(Item),
    /// Items in folders of their names.
    Named(Vec<(String, Item)>),
}

/// The snapshot of one item, and the class of Python that reads it.
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
    /// Takes the snapshots: the part of a save for which its caller waits.
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

    /// Does something with each item and the writer of its folder.
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

/// What a save has written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    pub files: usize,
    pub bytes: u64,
}

impl Transaction {
    /// Writes everything, and gives it its name. Every process calls it; a failure of
    /// one is returned in all of them, and then nothing has changed.
    pub fn run(mut self) -> Result<Written> {
        let folder = match self.atomicity {
            Atomicity::AtomicRename => disk::aside(&self.path, ""),
            Atomicity::CommitFile => self.path.clone(),
        };
        let begun = metadata::now();
        let make = self.as_primary(|this| this.make(&folder));
        self.group.agree("folder", make)?;
        let result = self.fill(&folder, begun);
        if result.is_err() && self.group.process().is_primary() {
            // What is left of it takes space, and space may be what was lacking. If it
            // cannot be removed, the next save of this name tries again.
            let _ = disk::remove_folder(&folder);
        }
        result
    }

    /// Does something in the primary process only.
    fn as_primary(&mut self, f: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        match self.group.process().is_primary() {
            true => f(self),
            false => Ok(()),
        }
    }

    /// Makes the folder to write in. What a save that was killed left there is removed.
    fn make(&self, folder: &Path) -> Result<()> {
        check_name(&self.path, self.overwrite)?;
        disk::remove_folder(folder)?;
        disk::make_folder(folder)?;
        if let Some(mode) = self.permissions {
            set_permissions(folder, mode)?;
        }
        if self.atomicity == Atomicity::CommitFile {
            // Says that the folder is a checkpoint that has begun and has not ended.
            let begun = StepMetadata {
                init_timestamp_nsecs: Some(metadata::now()),
                ..StepMetadata::default()
            };
            disk::write_synced(&folder.join(METADATA), begun.to_text().as_bytes())?;
        }
        Ok(())
    }

    fn fill(&mut self, folder: &Path, begun: u64) -> Result<Written> {
        let group = self.group.clone();
        let ledger = Ledger::new(folder.to_owned(), self.threads);
        let writing = panic::catch_unwind(AssertUnwindSafe(|| self.write(&ledger)));
        let writing = writing.unwrap_or_else(|panic| Err(panicked(&self.path, &*panic)));
        let root = group.agree("writing", writing)?;
        let commit = self.as_primary(|this| this.commit(&ledger, &root, begun));
        group.agree("commit", commit)?;
        let files = ledger.manifest().files;
        Ok(Written {
            files: files.len(),
            bytes: files.values().map(|c| c.size).sum(),
        })
    }

    /// Writes what this process has.
    fn write(&mut self, ledger: &Arc<Ledger>) -> Result<ItemWriter> {
        let process = self.group.process();
        let root = ItemWriter::root(ledger, process)?;
        let write = |item: &mut dyn Snapshot, at: &ItemWriter| item.write(at);
        self.contents.each(&root, write)?;
        if !process.is_primary() {
            ledger.sync()?;
            write_part(ledger, process.index())?;
        }
        Ok(root)
    }

    /// Completes the folder, in the primary process, and gives it its name.
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
        let mut names = Vec::new();
        list(folder, "", &mut names)?;
        let known = ledger.manifest().files;
        names.retain(|name| !known.contains_key(name));
        parallel::for_each(self.threads, names, |name| ledger.enter_foreign(&name))?;
        ledger.sync()?;
        let manifest = ledger.manifest().to_text();
        disk::write_synced(&folder.join(MANIFEST), manifest.as_bytes())?;
        // The marker is last: without it nothing counts.
        disk::sync_folder(folder)?;
        let marker = marker::text_with(&self.path, manifest.as_bytes());
        disk::write_synced(&folder.join(MARKER), marker.as_bytes())?;
        disk::sync_folder(folder)?;
        match self.atomicity {
            Atomicity::CommitFile => disk::sync_folder(parent(folder)),
            Atomicity::AtomicRename if self.path.symlink_metadata().is_ok() => {
                disk::replace(folder, &self.path)
            }
            Atomicity::AtomicRename => disk::rename(folder, &self.path),
        }
    }
}

/// The failure of a kind of item that panicked.
fn panicked(path: &Path, panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    Error::format(
        path,
        format!("writing it panicked: {}", text.unwrap_or("without a text")),
    )
}

fn set_permissions(folder: &Path, mode: u32) -> Result<()> {
    #[cfg(unix)]
    {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(folder, permissions)
            .map_err(|e| Error::io(folder, "get its permissions", e))?;
    }
    #[cfg(not(unix))]
    let _ = (folder, mode);
    Ok(())
}

/// Fails unless the name of a checkpoint is free, or what has it may be removed. What is
/// not a checkpoint is never removed.
pub(crate) fn check_name(path: &Path, overwrite: bool) -> Result<()> {
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    if is_committed(path)? {
        return match overwrite {
            true => Ok(()),
            false => Err(exists(path)),
        };
    }
    let unfinished = StepMetadata::of(path).is_ok_and(|m| m.is_some());
    let empty = || std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    if path.is_dir() && (unfinished || empty()) {
        return Ok(());
    }
    Err(Error::format(
        path,
        "already exists and is no checkpoint; nothing was saved\n  help: save under another name, or \
         remove it",
    ))
}

fn exists(path: &Path) -> Error {
    Error::format(
        path,
        "already exists; nothing was saved\n  help: save under another name or step, or replace it \
         with `force`",
    )
}

/// Where a process says what it wrote, until the primary one has read it.
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

/// Saves one item, or a composite of several, in a folder that appears when
/// everything is on the disk.
///
/// Of several processes all call it.
///
/// ```
/// use ramie_checkpoint::commit::{restore_item, save_item};
/// use ramie_checkpoint::items::{JsonRestore, JsonSave};
/// # fn main() -> ramie_checkpoint::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("settings");
/// save_item(&path, &JsonSave::new(&vec![1, 2, 3]))?;
/// assert_eq!(restore_item(&path, JsonRestore::<Vec<u32>>::new())?, [1, 2, 3]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If the path is taken, or something cannot be written; then nothing has changed.
pub fn save_item(path: impl AsRef<Path>, args: &dyn SaveArgs) -> Result<()> {
    let saver = Saver::new(SaverOptions::new().asynchronous(false));
    saver.save(path.as_ref(), args, SaveOptions::new())
}

/// Restores what [`save_item`] saved, or what Orbax's checkpointers saved.
///
/// # Errors
/// If a file is missing, damaged, cannot be read, or holds something else.
pub fn restore_item<R: RestoreArgs>(path: impl AsRef<Path>, args: R) -> Result<R::Item> {
    restore_checked(args, &ItemReader::open(path.as_ref())?)
}
