//! One save: from a temporary folder to the name of the checkpoint.

use super::group::Group;
use super::manifest::{MANIFEST, Manifest};
use super::marker::{self, MARKER};
use super::metadata::{self, ItemHandlers, METADATA, StepMetadata};
use super::reader::list;
use super::writer::{Ledger, sync_folder};
use super::{ItemReader, ItemWriter, parallel};
use crate::items::{RestoreArgs, SaveArgs, Snapshot};
use crate::{Error, Result};
use serde_json::{Map, Value};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What is behind the name of a checkpoint while it is written; Orbax's.
pub(crate) const TEMPORARY: &str = ".orbax-checkpoint-tmp";

/// The folder in which a checkpoint is written.
pub(crate) fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(TEMPORARY);
    name.into()
}

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
        let folder = temporary(&self.path);
        let result = self.write_and_commit(&folder);
        if result.is_err() && self.group.process().is_primary() {
            // What is left of it takes space, and space may be what was lacking. If it
            // cannot be removed, the next save of this name tries again.
            let _ = remove_folder(&folder);
        }
        result
    }

    fn write_and_commit(&mut self, folder: &Path) -> Result<Written> {
        let group = self.group.clone();
        let primary = group.process().is_primary();
        let begun = metadata::now();
        let make = || {
            if primary {
                self.make(folder)?;
            }
            Ok(())
        };
        group.agree("folder", make())?;
        let ledger = Ledger::new(folder.to_owned(), self.threads);
        let root = ItemWriter::root(&ledger, group.process());
        let written = root.and_then(|root| {
            let write = |item: &mut dyn Snapshot, at: &ItemWriter| item.write(at);
            self.contents.each(&root, write)?;
            if !primary {
                ledger.sync()?;
                write_part(&ledger, group.process().index())?;
            }
            Ok(root)
        });
        let root = group.agree("writing", written)?;
        let mut commit = || {
            if primary {
                self.commit(&ledger, &root, begun)?;
            }
            Ok(())
        };
        group.agree("commit", commit())?;
        let files = ledger.manifest().files;
        Ok(Written {
            files: files.len(),
            bytes: files.values().map(|c| c.size).sum(),
        })
    }

    /// Makes the temporary folder. What a save that was killed left there is removed.
    fn make(&self, folder: &Path) -> Result<()> {
        if !self.overwrite && self.path.symlink_metadata().is_ok() {
            return Err(exists(&self.path));
        }
        remove_folder(folder)?;
        std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, "be made", e))
    }

    /// Completes the folder, in the primary process, and renames it.
    fn commit(&mut self, ledger: &Ledger, root: &ItemWriter, begun: u64) -> Result<()> {
        let folder = ledger.folder();
        for process in 0..self.group.process().count() {
            if process != self.group.process().index() {
                ledger.enter(read_part(folder, process)?);
            }
        }
        let finalize = |item: &mut dyn Snapshot, at: &ItemWriter| item.finalize(at);
        self.contents.each(root, finalize)?;
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
        write_synced(&folder.join(MANIFEST), manifest.as_bytes())?;
        let marker = marker::text_with(&self.path, manifest.as_bytes());
        write_synced(&folder.join(MARKER), marker.as_bytes())?;
        sync_folder(folder)?;
        self.rename(folder)
    }

    /// Gives the folder its name.
    fn rename(&self, folder: &Path) -> Result<()> {
        let failed = |e: std::io::Error| match e.kind() {
            ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists => exists(&self.path),
            _ => Error::io(&self.path, "take its name", e),
        };
        if self.overwrite && self.path.symlink_metadata().is_ok() {
            replace_folder(folder, &self.path).map_err(failed)?;
        } else {
            std::fs::rename(folder, &self.path).map_err(failed)?;
        }
        match self.path.parent() {
            Some(parent) if parent != Path::new("") => sync_folder(parent),
            _ => sync_folder(Path::new(".")),
        }
    }
}

fn exists(path: &Path) -> Error {
    Error::format(
        path,
        "is not saved, it is there already\n  help: save under another name or step, or replace it \
         with `force`",
    )
}

/// Puts a folder in the place of another one, which is removed.
fn replace_folder(folder: &Path, path: &Path) -> std::io::Result<()> {
    // Where the system can, both change their names at once, and there is no moment
    // without a checkpoint.
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        if renameat_with(CWD, folder, CWD, path, RenameFlags::EXCHANGE).is_ok() {
            return remove_folder(folder).map_err(std::io::Error::other);
        }
    }
    let mut aside = path.as_os_str().to_owned();
    aside.push(".replaced");
    aside.push(TEMPORARY);
    let aside = PathBuf::from(aside);
    remove_folder(&aside).map_err(std::io::Error::other)?;
    std::fs::rename(path, &aside)?;
    if let Err(e) = std::fs::rename(folder, path) {
        std::fs::rename(&aside, path)?;
        return Err(e);
    }
    remove_folder(&aside).map_err(std::io::Error::other)
}

/// Removes a folder with everything in it, if it is there.
pub(crate) fn remove_folder(folder: &Path) -> Result<()> {
    let removed = match folder.symlink_metadata() {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(folder),
        Ok(_) => std::fs::remove_file(folder),
        Err(e) => Err(e),
    };
    match removed {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::io(folder, "be removed", e)),
        _ => Ok(()),
    }
}

fn write_synced(path: &Path, bytes: &[u8]) -> Result<()> {
    use std::io::Write;
    let write = || {
        let mut file = std::fs::File::create(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|e| Error::io(path, "be written", e))
}

/// Where a process says what it wrote, until the primary one has read it.
fn part(folder: &Path, process: usize) -> PathBuf {
    folder.join(format!("{MANIFEST}.process_{process}"))
}

fn write_part(ledger: &Ledger, process: usize) -> Result<()> {
    let manifest = ledger.manifest().to_text();
    write_synced(&part(ledger.folder(), process), manifest.as_bytes())
}

fn read_part(folder: &Path, process: usize) -> Result<Manifest> {
    let path = part(folder, process);
    let bytes = std::fs::read(&path).map_err(|e| Error::io(&path, "be read", e))?;
    let manifest = Manifest::from_bytes(&path, &bytes)?;
    std::fs::remove_file(&path).map_err(|e| Error::io(&path, "be removed", e))?;
    Ok(manifest)
}

/// How long processes wait for each other, if nothing else is said; Orbax's.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(1200);

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
    let path = path.as_ref();
    let group = Arc::new(Group::new(&path.to_string_lossy(), TIMEOUT)?);
    let contents = Contents::of(args, &group);
    let transaction = Transaction {
        path: path.to_owned(),
        overwrite: false,
        contents: group.agree("snapshot", contents)?,
        custom_metadata: Map::new(),
        group,
        threads: parallel::default_threads(),
    };
    transaction.run().map(|_| ())
}

/// Restores what [`save_item`] saved, or what Orbax's checkpointers saved.
///
/// # Errors
/// If a file is missing, damaged, cannot be read, or holds something else.
pub fn restore_item<R: RestoreArgs>(path: impl AsRef<Path>, args: R) -> Result<R::Item> {
    let reader = ItemReader::open(path.as_ref())?;
    if !args.reads_checked() {
        reader.verify_all()?;
    }
    args.restore(&reader)
}
