//! Reading the files of an item.

use super::manifest::{Contents, MANIFEST, Manifest, PIECE, checked_path};
use super::marker;
use super::{Process, parallel};
use crate::file::{expect_folder, read_if_there, unreadable};
use crate::{Error, Result};
use ramie_core::files;
use ramie_core::files::Message;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reads the files of one item and verifies them against the manifest. Without a manifest, as in
/// checkpoints of Orbax, files are not verified.
#[derive(Clone)]
pub struct ItemReader {
    folder: PathBuf,
    /// Path relative to the manifest's directory, followed by `/` if it is not empty.
    prefix: String,
    manifest: Option<Arc<Manifest>>,
    process: Process,
    threads: usize,
}

impl ItemReader {
    /// Opens a whole checkpoint: a directory created by a save.
    ///
    /// # Errors
    /// Returns an error if the directory does not exist, or its manifest is unreadable or damaged.
    pub fn open(folder: impl Into<PathBuf>) -> Result<ItemReader> {
        let folder = folder.into();
        expect_folder(&folder)?;
        let path = folder.join(MANIFEST);
        let bytes = read_if_there(&path)?;
        let manifest = bytes.as_deref().map(|b| Manifest::from_bytes(&path, b));
        let manifest = manifest.transpose()?.map(Arc::new);
        marker::check(&folder, bytes.as_deref())?;
        Ok(ItemReader {
            folder,
            prefix: String::new(),
            manifest,
            process: Process::current(),
            threads: parallel::default_threads(),
        })
    }

    /// Returns the item's directory.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the current process of those that restore together.
    pub fn process(&self) -> Process {
        self.process
    }

    /// Returns the number of threads that [`for_each`](ItemReader::for_each) uses.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Returns whether there is a manifest to verify files against.
    pub fn is_checked(&self) -> bool {
        self.manifest.is_some()
    }

    /// Returns a reader of a subdirectory.
    ///
    /// # Errors
    /// Returns an error if the name leads out of the directory.
    pub fn subfolder(&self, name: &str) -> Result<ItemReader> {
        Ok(ItemReader {
            folder: self.path(name)?,
            prefix: format!("{}{name}/", self.prefix),
            ..self.clone()
        })
    }

    /// Returns the path of a file.
    ///
    /// # Errors
    /// Returns an error if the name leads out of the directory.
    pub fn path(&self, name: &str) -> Result<PathBuf> {
        checked_path(&self.folder, name)
    }

    /// Returns the manifest's entry of a file.
    fn expected(&self, name: &str) -> Option<Contents> {
        let manifest = self.manifest.as_ref()?;
        let file = manifest.files.get(&format!("{}{name}", self.prefix));
        file.copied()
    }

    /// Returns whether the file exists or is listed in the manifest.
    pub fn contains(&self, name: &str) -> bool {
        self.expected(name).is_some() || self.path(name).is_ok_and(|path| path.is_file())
    }

    /// Returns the sorted names of all files in the directory: those in the manifest or, without
    /// one, the existing files.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be listed.
    pub fn names(&self) -> Result<Vec<String>> {
        if let Some(manifest) = &self.manifest {
            let below = manifest.files.keys();
            let names = below.filter_map(|path| path.strip_prefix(&self.prefix));
            return Ok(names.map(str::to_owned).collect());
        }
        let mut names = Vec::new();
        list(&self.folder, "", &mut names)?;
        names.sort_unstable();
        Ok(names)
    }

    /// Returns the sorted names of the subdirectories; for a whole checkpoint, these are its
    /// items.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be listed.
    pub fn subfolders(&self) -> Result<Vec<String>> {
        let failed = |e| Error::io(&self.folder, "be listed", e);
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if let (true, Ok(name)) = (entry.path().is_dir(), entry.file_name().into_string()) {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Returns the bytes of a file.
    ///
    /// # Errors
    /// Returns an error if the file does not exist, cannot be read, or differs from what was
    /// written ([`Error::Damaged`]).
    pub fn read(&self, name: &str) -> Result<Vec<u8>> {
        let mut opened = self.open_file(name)?;
        let mut bytes = Vec::new();
        let length = usize::try_from(opened.length).unwrap_or(usize::MAX);
        // A plain allocation of a huge file would abort the process.
        if bytes.try_reserve_exact(length).is_err() {
            let size = opened.length;
            return Err(Error::format(
                &opened.path,
                Message::new(format!("not enough memory for its {size} bytes"))
                    .help("free memory, or use a machine with more"),
            ));
        }
        loop {
            let start = bytes.len();
            let piece = opened.file.by_ref().take(PIECE as u64);
            let n = { piece }.read_to_end(&mut bytes);
            match n.map_err(|e| opened.failed(e))? {
                0 => break,
                _ => opened.add(&bytes[start..]),
            }
        }
        opened.finish()?;
        Ok(bytes)
    }

    /// Reads a file into a buffer of exactly its size.
    ///
    /// # Errors
    /// Same as [`read`](ItemReader::read). Also returns an error if the file has another size.
    pub fn read_into(&self, name: &str, bytes: &mut [u8]) -> Result<()> {
        let mut opened = self.open_file(name)?;
        if opened.length != bytes.len() as u64 {
            return Err(Error::format(
                &opened.path,
                format!("has {} bytes, expected {}", opened.length, bytes.len()),
            ));
        }
        for piece in bytes.chunks_mut(PIECE) {
            let read = opened.file.read_exact(piece);
            read.map_err(|e| opened.failed(e))?;
            opened.add(piece);
        }
        opened.finish()
    }

    /// Verifies one file against the manifest. Does nothing without a manifest.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] if the file differs from what was written, or another error if
    /// it cannot be read.
    pub fn verify(&self, name: &str) -> Result<()> {
        if self.manifest.is_none() {
            return Ok(());
        }
        let mut opened = self.open_file(name)?;
        // Reads in pieces: a file that is only verified need not fit in memory.
        let read = Contents::of(&mut opened.file);
        opened.read = read.map_err(|e| opened.failed(e))?;
        opened.finish()
    }

    /// Verifies one file against the manifest when parts of it were already read: `parts` maps
    /// their offsets to their contents. Reads only the rest.
    ///
    /// # Errors
    /// Same as [`verify`](ItemReader::verify).
    pub(crate) fn verify_rest(&self, name: &str, parts: &BTreeMap<u64, Contents>) -> Result<()> {
        if self.expected(name).is_none() {
            return Ok(());
        }
        let mut opened = self.open_file(name)?;
        let mut piece = Vec::new();
        loop {
            // CRCs combine, so the checksum of the file is built from those of its parts, in order.
            // The bytes before `at` are covered. A part that begins before `at` overlaps another
            // one, and is read from the file again.
            let at = opened.read.size;
            if let Some(part) = parts.get(&at).filter(|part| part.size > 0) {
                opened.read.append(*part);
                continue;
            }
            let next = parts.range(at + 1..).next().map_or(opened.length, |p| *p.0);
            let length = next.saturating_sub(at).min(PIECE as u64);
            if length == 0 {
                return opened.finish();
            }
            piece.resize(length as usize, 0);
            let read = opened.file.seek(SeekFrom::Start(at));
            let read = read.and_then(|_| opened.file.read_exact(&mut piece));
            read.map_err(|e| opened.failed(e))?;
            opened.add(&piece);
        }
    }

    /// Verifies all files of the directory against the manifest, in parallel. Does nothing without
    /// a manifest.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] for the first file that is missing or differs from what was
    /// written, or another error if a file cannot be read.
    pub fn verify_all(&self) -> Result<()> {
        if self.manifest.is_none() {
            return Ok(());
        }
        self.for_each(self.names()?, |name| self.verify(&name))
    }

    /// Calls a function with every item, on several threads including the current one. After an
    /// error no further item is started.
    ///
    /// # Errors
    /// Returns the error of the first failed item in order.
    pub fn for_each<T: Send>(
        &self,
        items: Vec<T>,
        f: impl Fn(T) -> Result<()> + Sync,
    ) -> Result<()> {
        parallel::for_each(self.threads, items, f)
    }

    fn open_file(&self, name: &str) -> Result<Opened> {
        let path = self.path(name)?;
        let expected = self.expected(name);
        let opened = files::open(&path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (length, file) = match opened {
            Err(e) if e.kind() == ErrorKind::NotFound && expected.is_some() => {
                return Err(Error::damaged(&path, "the file is missing"));
            }
            other => other.map_err(|e| unreadable(&path, e))?,
        };
        // A truncated file is found by its size, before any of it is read.
        if let Some(expected) = expected.filter(|e| e.size != length) {
            let size = expected.size;
            return Err(Error::damaged(
                &path,
                format!("the file has {length} bytes, but {size} were written"),
            ));
        }
        Ok(Opened {
            path,
            file,
            length,
            expected,
            read: Contents::default(),
        })
    }
}

/// An open file and the contents read so far.
struct Opened {
    path: PathBuf,
    file: File,
    length: u64,
    expected: Option<Contents>,
    read: Contents,
}

impl Opened {
    fn add(&mut self, bytes: &[u8]) {
        // Without a manifest nobody compares the checksum, which would cost time.
        if self.expected.is_some() {
            self.read.add(bytes);
        }
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::io(&self.path, "be read", source)
    }

    fn finish(self) -> Result<()> {
        match self.expected {
            Some(expected) if expected != self.read => Err(Error::damaged(
                &self.path,
                "the file has changed since it was written: its checksum is wrong",
            )),
            _ => Ok(()),
        }
    }
}

/// Collects the names of the files in a directory and its subdirectories.
pub(crate) fn list(folder: &Path, prefix: &str, names: &mut Vec<String>) -> Result<()> {
    let failed = |e| Error::io(folder, "be listed", e);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // Names that are not UTF-8 are never part of a checkpoint.
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let name = format!("{prefix}{name}");
        match entry.file_type().map_err(failed)? {
            kind if kind.is_dir() => list(&entry.path(), &format!("{name}/"), names)?,
            _ => names.push(name),
        }
    }
    Ok(())
}
