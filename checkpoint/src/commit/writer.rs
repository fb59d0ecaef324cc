//! Writing the files of an item.

use super::manifest::{Contents, Manifest, PIECE, checked_path};
use super::{Process, disk, parallel};
use crate::atomic::parent;
use crate::{Error, Result};
use ramie_core::files;
use ramie_core::lock::lock;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// Files of at least this size are put on the disk as soon as they are written, while
/// others are being written. Small ones wait until all are: one commit of the file
/// system's journal then serves many.
const LARGE: u64 = 1 << 20;

/// What one save has written so far.
pub(crate) struct Ledger {
    /// The folder that will be renamed.
    root: PathBuf,
    threads: usize,
    state: Mutex<LedgerState>,
}

#[derive(Default)]
struct LedgerState {
    files: BTreeMap<String, Contents>,
    folders: BTreeSet<PathBuf>,
    /// Files that are written, and not yet on the disk for certain.
    unsynced: Vec<PathBuf>,
}

impl Ledger {
    pub fn new(root: PathBuf, threads: usize) -> Arc<Ledger> {
        Arc::new(Ledger {
            root,
            threads,
            state: Mutex::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, LedgerState> {
        lock(&self.state)
    }

    /// Makes a folder below the root, and remembers it.
    fn make_folder(&self, folder: &Path) -> Result<()> {
        if self.state().folders.contains(folder) {
            return Ok(());
        }
        disk::make_folder(folder)?;
        self.remember(folder);
        Ok(())
    }

    /// Remembers a folder, and those above it up to the root.
    fn remember(&self, folder: &Path) {
        let above = folder.ancestors();
        let above = above.take_while(|a| a.starts_with(&self.root));
        self.state().folders.extend(above.map(Path::to_owned));
    }

    /// The folder that will be renamed.
    pub fn folder(&self) -> &Path {
        &self.root
    }

    /// The files written so far.
    pub fn manifest(&self) -> Manifest {
        Manifest {
            files: self.state().files.clone(),
        }
    }

    /// Enters what other processes wrote, and put on the disk.
    pub fn enter(&self, other: Manifest) {
        self.state().files.extend(other.files);
    }

    /// Enters a file that was written past the ledger: it is read for its checksum.
    pub fn enter_foreign(&self, name: &str) -> Result<()> {
        let path = self.root.join(name);
        let failed = |e| Error::io(&path, "be read for its checksum", e);
        let mut file = files::open(&path).map_err(failed)?;
        let contents = Contents::of(&mut file).map_err(failed)?;
        disk::sync(&file, &path)?;
        self.remember(parent(&path));
        self.state().files.insert(name.to_owned(), contents);
        Ok(())
    }

    /// Puts everything on the disk that is not yet there: files, then folders.
    pub fn sync(&self) -> Result<()> {
        let (files, folders) = {
            let mut state = self.state();
            (std::mem::take(&mut state.unsynced), state.folders.clone())
        };
        parallel::for_each(self.threads, files, |path| {
            let file = File::open(&path).map_err(|e| Error::io(&path, "be opened", e))?;
            disk::sync(&file, &path)
        })?;
        // Deep folders first: a folder that is there has its contents.
        for folder in folders.iter().rev() {
            disk::sync_folder(folder)?;
        }
        Ok(())
    }
}

/// Writes the files of one item into its folder, from any number of threads.
///
/// Every file that is written through it is checksummed on its way to the disk. What
/// is put into the [folder](ItemWriter::folder) in another way is found when the save
/// is committed, and read once more for its checksum.
#[derive(Clone)]
pub struct ItemWriter {
    ledger: Arc<Ledger>,
    folder: PathBuf,
    /// The folder's path below the root, with a `/` behind it if it is not empty.
    prefix: String,
    process: Process,
}

impl ItemWriter {
    /// The writer of the root of a ledger.
    pub(crate) fn root(ledger: &Arc<Ledger>, process: Process) -> Result<ItemWriter> {
        ledger.make_folder(&ledger.root)?;
        Ok(ItemWriter {
            ledger: ledger.clone(),
            folder: ledger.root.clone(),
            prefix: String::new(),
            process,
        })
    }

    /// The item's folder, which is there.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Which of the processes that save together this is.
    pub fn process(&self) -> Process {
        self.process
    }

    /// How many threads [`for_each`](ItemWriter::for_each) uses.
    pub fn threads(&self) -> usize {
        self.ledger.threads
    }

    /// A writer of a folder in this one, which is made.
    ///
    /// # Errors
    /// If the name leads out of the folder, or it cannot be made.
    pub fn subfolder(&self, name: &str) -> Result<ItemWriter> {
        let folder = checked_path(&self.folder, name)?;
        self.ledger.make_folder(&folder)?;
        Ok(ItemWriter {
            ledger: self.ledger.clone(),
            folder,
            prefix: format!("{}{name}/", self.prefix),
            process: self.process,
        })
    }

    /// Begins a file. Its name may have several parts with `/` between them; the
    /// folders are made.
    ///
    /// # Errors
    /// If the name leads out of the folder, or the file cannot be made.
    pub fn create(&self, name: &str) -> Result<FileWriter> {
        let path = checked_path(&self.folder, name)?;
        if let Some(folder) = path.parent() {
            self.ledger.make_folder(folder)?;
        }
        let file = disk::create(&path)?;
        Ok(FileWriter {
            ledger: self.ledger.clone(),
            name: format!("{}{name}", self.prefix),
            path,
            file,
            contents: Contents::default(),
        })
    }

    /// Writes a whole file.
    ///
    /// # Errors
    /// If the name leads out of the folder, or the file cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.write_parts(name, &[bytes])
    }

    /// Writes a whole file of several parts, one behind the other.
    ///
    /// # Errors
    /// If the name leads out of the folder, or the file cannot be written.
    pub fn write_parts(&self, name: &str, parts: &[&[u8]]) -> Result<()> {
        let mut file = self.create(name)?;
        for part in parts {
            file.put(part)?;
        }
        file.finish()
    }

    /// Removes a file that was written, and is not to be part of the checkpoint.
    ///
    /// # Errors
    /// If the name leads out of the folder, or the file cannot be removed.
    pub fn remove(&self, name: &str) -> Result<()> {
        let path = checked_path(&self.folder, name)?;
        match std::fs::remove_file(&path) {
            Err(e) if e.kind() != ErrorKind::NotFound => {
                return Err(Error::io(&path, "be removed", e));
            }
            _ => {}
        }
        let mut state = self.ledger.state();
        state.files.remove(&format!("{}{name}", self.prefix));
        state.unsynced.retain(|other| *other != path);
        Ok(())
    }

    /// Calls a function with every item, on the threads of the save, this one among
    /// them. After a failure no further item is begun.
    ///
    /// # Errors
    /// The failure of the first item in order that failed.
    pub fn for_each<T: Send>(
        &self,
        items: Vec<T>,
        f: impl Fn(T) -> Result<()> + Sync,
    ) -> Result<()> {
        parallel::for_each(self.ledger.threads, items, f)
    }
}

/// A file that is being written. It belongs to the checkpoint when it is
/// [finished](FileWriter::finish).
pub struct FileWriter {
    ledger: Arc<Ledger>,
    name: String,
    path: PathBuf,
    file: File,
    contents: Contents,
}

impl FileWriter {
    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes were written.
    pub fn position(&self) -> u64 {
        self.contents.size
    }

    /// Appends bytes; [`io::Write`] with the file's name in the error.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        for piece in bytes.chunks(PIECE) {
            disk::write(&mut self.file, &self.path, piece)?;
            self.contents.add(piece);
        }
        Ok(())
    }

    /// Ends the file, and enters it into the manifest.
    ///
    /// # Errors
    /// If it cannot be put on the disk.
    pub fn finish(self) -> Result<()> {
        let large = self.contents.size >= LARGE;
        if large {
            disk::sync(&self.file, &self.path)?;
        }
        let mut state = self.ledger.state();
        state.files.insert(self.name, self.contents);
        if !large {
            state.unsynced.push(self.path);
        }
        Ok(())
    }
}

impl Write for FileWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.file.write(bytes)?;
        self.contents.add(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
