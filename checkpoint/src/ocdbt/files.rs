//! Reading data files.

use super::data_files::DataFile;
use super::location::Location;
use crate::commit::{Contents, ItemReader, PIECE};
use crate::{Error, Result};
use ramie_core::files;
use ramie_core::lock::lock;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Maximum number of open files.
const OPEN: usize = 64;

/// An open file and its length.
pub(super) struct OpenFile {
    path: PathBuf,
    file: File,
    length: u64,
}

/// Data files of a database, which are opened on demand.
pub(super) struct Files {
    folder: PathBuf,
    open: Mutex<HashMap<DataFile, Arc<OpenFile>>>,
    checks: Option<Checks>,
}

/// Parts of a checkpoint's item that were read, for verification against the manifest.
struct Checks {
    item: ItemReader,
    /// Contents read, by file and offset.
    read: Mutex<HashMap<DataFile, BTreeMap<u64, Contents>>>,
}

impl Files {
    pub fn new(folder: PathBuf) -> Files {
        Files {
            folder,
            open: Mutex::default(),
            checks: None,
        }
    }

    /// Creates the files of an item; what is read from them can be [verified](Files::verify).
    pub fn of_item(item: &ItemReader) -> Files {
        let mut files = Files::new(item.folder().into());
        files.checks = item.is_checked().then(|| Checks {
            item: item.clone(),
            read: Mutex::default(),
        });
        files
    }

    /// Verifies the files that were read from against the item's manifest.
    pub fn verify(&self) -> Result<()> {
        let Some(checks) = &self.checks else {
            return Ok(());
        };
        let read = lock(&checks.read);
        let files = read.iter().collect();
        checks.item.for_each(files, |(file, parts)| {
            checks.item.verify_rest(&file.path(), parts)
        })
    }

    /// Reads bytes of a location, starting at its byte `start`; the location must have all of
    /// them.
    pub fn read(&self, location: &Location, start: u64, bytes: &mut [u8]) -> Result<()> {
        let file = self.covering(location)?;
        let offset = location.offset + start;
        let Some(checks) = &self.checks else {
            return file.read_exact(bytes, offset);
        };
        let mut contents = Contents::default();
        for piece in bytes.chunks_mut(PIECE) {
            file.read_exact(piece, offset + contents.size)?;
            contents.add(piece);
        }
        let mut read = lock(&checks.read);
        let parts = read.entry(location.file.clone()).or_default();
        // Keep the longest part that begins here, since it need not be read again.
        let part = parts.entry(offset).or_insert(contents);
        if part.size < contents.size {
            *part = contents;
        }
        Ok(())
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the path of a file, for reading and for messages.
    pub fn path(&self, file: &DataFile) -> PathBuf {
        self.folder.join(file.path())
    }

    fn open(&self, file: &DataFile) -> Result<Arc<OpenFile>> {
        if let Some(open) = lock(&self.open).get(file) {
            return Ok(open.clone());
        }
        let path = self.path(file);
        let relative = file.path();
        let normal = |part| matches!(part, Component::Normal(_));
        if relative.is_empty() || !Path::new(&relative).components().all(normal) {
            return Err(Error::format(
                &self.folder,
                format!("the database refers to `{relative}`, which is not a path below it"),
            ));
        }
        let failed = |e| Error::io(&path, "be read", e);
        let open = files::open(&path).map_err(failed)?;
        let length = open.metadata().map_err(failed)?.len();
        let open = Arc::new(OpenFile {
            path,
            file: open,
            length,
        });
        let mut all = lock(&self.open);
        if all.len() >= OPEN {
            all.clear();
        }
        all.insert(file.clone(), open.clone());
        Ok(open)
    }

    /// Returns the file of a location after checking that it is long enough.
    pub fn covering(&self, location: &Location) -> Result<Arc<OpenFile>> {
        let open = self.open(&location.file)?;
        let end = location.offset.saturating_add(location.length);
        if end > open.length {
            return Err(Error::format(
                &open.path,
                format!(
                    "has {} bytes, but should have {} at byte {}: it was truncated",
                    open.length, location.length, location.offset
                ),
            ));
        }
        Ok(open)
    }
}

impl OpenFile {
    /// Reads bytes starting at `offset`.
    fn read_exact(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        files::read_exact_at(&self.file, bytes, offset)
            .map_err(|e| Error::io(&self.path, "be read", e))
    }
}
