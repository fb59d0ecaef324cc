//! Files of a database that is being written.

use super::data_files::DataFile;
use super::location::Location;
use super::manifest;
use crate::commit::{FileWriter, ItemWriter, sync, sync_folder, write};
use crate::{Error, Result, atomic};
use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};

/// Directory of data files.
const DATA: &str = "d";

/// Destination of a database.
pub(super) enum Home {
    /// A directory of its own; the database is complete once the manifest exists.
    Folder(PathBuf),
    /// An item of a checkpoint, which appears atomically.
    Item(ItemWriter),
}

impl Home {
    /// Creates a destination in a directory, which is created.
    pub fn folder(path: &Path) -> Result<Home> {
        let made = fs::create_dir_all(path.join(DATA));
        made.map_err(|e| Error::io(path, "be made", e))?;
        Ok(Home::Folder(path.into()))
    }

    pub fn path(&self) -> &Path {
        match self {
            Home::Folder(path) => path,
            Home::Item(item) => item.folder(),
        }
    }

    /// Creates a data file.
    pub fn create(&self) -> Result<Output> {
        let name: String = unique().iter().map(|b| format!("{b:02x}")).collect();
        let relative = format!("{DATA}/{name}");
        let sink = match self {
            Home::Item(item) => Sink::Item(item.create(&relative)?),
            Home::Folder(folder) => {
                let path = folder.join(&relative);
                let file = File::create_new(&path);
                let file = file.map_err(|e| Error::io(&path, "be made", e))?;
                Sink::Folder(path, file)
            }
        };
        Ok(Output {
            id: DataFile {
                base: "".into(),
                relative: relative.into(),
            },
            sink,
            length: 0,
        })
    }

    /// Writes the manifest after all data files are finished.
    pub fn finish(&self, manifest: &[u8]) -> Result<()> {
        let folder = match self {
            Home::Item(item) => return item.write(manifest::NAME, manifest),
            Home::Folder(folder) => folder,
        };
        sync_folder(&folder.join(DATA))?;
        let path = folder.join(manifest::NAME);
        atomic::replace(&path, |file| write(file, &path, manifest))
    }
}

/// A data file that is being written.
pub(super) struct Output {
    id: DataFile,
    sink: Sink,
    length: u64,
}

enum Sink {
    Folder(PathBuf, File),
    Item(FileWriter),
}

impl Output {
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Appends `length` bytes.
    pub fn write(&mut self, parts: &[&[u8]], length: u64) -> Result<Location> {
        for part in parts {
            match &mut self.sink {
                Sink::Item(file) => file.put(part)?,
                Sink::Folder(path, file) => write(file, path, part)?,
            }
        }
        let offset = self.length;
        self.length += length;
        Ok(Location {
            file: self.id.clone(),
            offset,
            length,
        })
    }

    /// Completes the file. In a directory destination, it is then on disk.
    pub fn finish(self) -> Result<()> {
        match self.sink {
            Sink::Item(file) => file.finish(),
            Sink::Folder(path, file) => sync(&file, &path),
        }
    }
}

/// Returns 16 bytes that are unique across calls and processes.
pub(super) fn unique() -> [u8; 16] {
    // The keys of each `RandomState` are random, seeded by the operating system.
    let half = || RandomState::new().build_hasher().finish().to_le_bytes();
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&half());
    bytes[8..].copy_from_slice(&half());
    bytes
}
