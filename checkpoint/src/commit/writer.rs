//! Writing the files of an item.

use super::manifest::{Contents, Manifest, PIECE, checked_path};
use super::{Process, disk, parallel};
use crate::{Error, Result};
use ramie_core::files;
use ramie_core::files::parent;
use ramie_core::lock::lock;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// Size from which a file is flushed to disk as soon as it is written, while others are being
/// written. Smaller files are flushed together at the end, so that one journal commit of the file
/// system serves many.
const LARGE: u64 = 1 << 20;

/// Everything that one save has written so far.
pub(crate) struct Ledger {
    /// Temporary directory that will be renamed.
    root: PathBuf,
    threads: usize,
    state: Mutex<LedgerState>,
}

#[derive(Default)]
struct LedgerState {
    files: BTreeMap<String, Contents>,
    folders: BTreeSet<PathBuf>,
    /// Files that are written but not flushed to disk yet.
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

    /// Creates a directory below the root and records it.
    fn make_folder(&self, folder: &Path) -> Result<()> {
        if self.state().folders.contains(folder) {
            return Ok(());
        }
        disk::make_folder(folder)?;
        self.remember(folder);
        Ok(())
    }

    /// Records a directory and its parents up to the root.
    fn remember(&self, folder: &Path) {
        let above = folder.ancestors();
        let above = above.take_while(|a| a.starts_with(&self.root));
        self.state().folders.extend(above.map(Path::to_owned));
    }

    /// Returns the temporary directory that will be renamed.
    pub fn folder(&self) -> &Path {
        &self.root
    }

    /// Returns the manifest of the files written so far.
    pub fn manifest(&self) -> Manifest {
        Manifest {
            files: self.state().files.clone(),
        }
    }

    /// Adds files that other processes wrote and flushed to disk.
    pub fn enter(&self, other: Manifest) {
        self.state().files.extend(other.files);
    }

    /// Adds a file that was written without the ledger; it is read to compute its checksum.
    pub fn enter_foreign(&self, name: &str) -> Result<()> {
        let path = self.root.join(name);
        let failed = |e| Error::io(&path, "be read for its checksum", e);
        let mut file = files::open(&path).map_err(failed)?;
        let contents = Contents::of(&mut file).map_err(failed)?;
        disk::sync_closed(&path)?;
        self.remember(parent(&path));
        self.state().files.insert(name.to_owned(), contents);
        Ok(())
    }

    /// Flushes everything that is not on disk yet: files first, then directories.
    pub fn sync(&self) -> Result<()> {
        let (files, folders) = {
            let mut state = self.state();
            (std::mem::take(&mut state.unsynced), state.folders.clone())
        };
        parallel::for_each(self.threads, files, |path| disk::sync_closed(&path))?;
        // Flush deep directories first, so that a directory on disk always has its contents.
        for folder in folders.iter().rev() {
            disk::sync_folder(folder)?;
        }
        Ok(())
    }
}

/// Writes the files of one item into its directory, from any number of threads.
///
/// Files written through this type are checksummed on their way to disk. Files that are put into
/// the [directory](ItemWriter::folder) in another way are found at commit time and read again to
/// compute their checksums.
#[derive(Clone)]
pub struct ItemWriter {
    ledger: Arc<Ledger>,
    folder: PathBuf,
    /// Path relative to the root, followed by `/` if it is not empty.
    prefix: String,
    process: Process,
}

impl ItemWriter {
    /// Returns the writer of a ledger's root.
    pub(crate) fn root(ledger: &Arc<Ledger>, process: Process) -> Result<ItemWriter> {
        ledger.make_folder(&ledger.root)?;
        Ok(ItemWriter {
            ledger: ledger.clone(),
            folder: ledger.root.clone(),
            prefix: String::new(),
            process,
        })
    }

    /// Returns the item's directory, which exists.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the current process of those that save together.
    pub fn process(&self) -> Process {
        self.process
    }

    /// Returns the number of threads that [`for_each`](ItemWriter::for_each) uses.
    pub fn threads(&self) -> usize {
        self.ledger.threads
    }

    /// Creates a subdirectory and returns its writer.
    ///
    /// # Errors
    /// Returns an error if the name leads out of the directory, or the subdirectory cannot be
    /// created.
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

    /// Creates a file. Its name may contain `/`; the directories are created.
    ///
    /// # Errors
    /// Returns an error if the name leads out of the directory, or the file cannot be created.
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
    /// Returns an error if the name leads out of the directory, or the file cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.write_parts(name, &[bytes])
    }

    /// Writes a whole file as the concatenation of several parts.
    ///
    /// # Errors
    /// Returns an error if the name leads out of the directory, or the file cannot be written.
    pub fn write_parts(&self, name: &str, parts: &[&[u8]]) -> Result<()> {
        let mut file = self.create(name)?;
        for part in parts {
            file.put(part)?;
        }
        file.finish()
    }

    /// Removes a file that was written but must not be part of the checkpoint.
    ///
    /// # Errors
    /// Returns an error if the name leads out of the directory, or the file cannot be removed.
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

    /// Calls a function with every item, on the threads of the save including the current one.
    /// After an error no further item is started.
    ///
    /// # Errors
    /// Returns the error of the first failed item in order.
    pub fn for_each<T: Send>(
        &self,
        items: Vec<T>,
        f: impl Fn(T) -> Result<()> + Sync,
    ) -> Result<()> {
        parallel::for_each(self.ledger.threads, items, f)
    }
}

/// File that is being written. It is part of the checkpoint only after
/// [`finish`](FileWriter::finish).
pub struct FileWriter {
    ledger: Arc<Ledger>,
    name: String,
    path: PathBuf,
    file: File,
    contents: Contents,
}

impl FileWriter {
    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of bytes written.
    pub fn position(&self) -> u64 {
        self.contents.size
    }

    /// Appends bytes, like [`io::Write`] but with the file's name in the error.
    ///
    /// # Errors
    /// Returns an error if the bytes cannot be written.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        for piece in bytes.chunks(PIECE) {
            disk::write(&mut self.file, &self.path, piece)?;
            self.contents.add(piece);
        }
        Ok(())
    }

    /// Completes the file and adds it to the manifest.
    ///
    /// # Errors
    /// Returns an error if the file cannot be flushed to disk.
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
