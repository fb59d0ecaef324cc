//! The files of a database that is written.

use super::data_files::DataFile;
use super::location::Location;
use super::manifest;
use crate::commit::{FileWriter, ItemWriter, sync, sync_folder, write};
use crate::{Error, Result, atomic};
use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};

/// The folder of data files.
const DATA: &str = "d";

/// Where a database is written.
pub(super) enum Home {
    /// To a folder of its own, which is complete with the manifest.
    Folder(PathBuf),
    /// To an item of a checkpoint, which appears as a whole.
    Item(ItemWriter),
}

impl Home {
    /// A folder, which is made.
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

    /// A new data file.
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

    /// Puts the manifest beside data files, all of which are finished.
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

/// A data file that is written.
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

    /// Ends the file. In a folder it is on the disk then.
    pub fn finish(self) -> Result<()> {
        match self.sink {
            Sink::Item(file) => file.finish(),
            Sink::Folder(path, file) => sync(&file, &path),
        }
    }
}

/// 16 bytes that no other call returns, in this process or another.
pub(super) fn unique() -> [u8; 16] {
    // The keys of each state are random, which the system sees to.
    let half = || RandomState::new().build_hasher().finish().to_le_bytes();
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&half());
    bytes[8..].copy_from_slice(&half());
    bytes
}
