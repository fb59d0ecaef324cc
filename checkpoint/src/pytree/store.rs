//! Storage of arrays: files in the directory, or an OCDBT database in it.

use crate::commit::ItemReader;
use crate::ocdbt::{self, Database};
use crate::{Error, Result};
use ramie_core::files::Message;
use std::io::ErrorKind;
use std::path::PathBuf;

/// Store of bytes by key: the name of an array, `/`, and the name of its metadata file or of a
/// chunk.
pub(super) enum Store {
    /// One file per key, verified against the checkpoint's manifest.
    Files(ItemReader),
    Database(Box<Database>),
}

impl Store {
    /// Opens the store of a directory.
    pub fn open(reader: &ItemReader, use_ocdbt: Option<bool>) -> Result<Store> {
        if !use_ocdbt.unwrap_or_else(|| reader.contains(ocdbt::MANIFEST)) {
            return Ok(Store::Files(reader.clone()));
        }
        Ok(Store::Database(Box::new(Database::open_in(reader)?)))
    }

    /// Returns the path of a key for messages.
    pub fn path(&self, key: &str) -> PathBuf {
        match self {
            Store::Files(reader) => reader.folder().join(key),
            Store::Database(database) => database.folder().join(ocdbt::MANIFEST).join(key),
        }
    }

    /// Returns the number of bytes of a key, or `None` if it does not exist.
    pub fn size(&self, key: &str) -> Result<Option<u64>> {
        let reader = match self {
            Store::Database(database) => return database.size(key),
            Store::Files(reader) => reader,
        };
        let path = reader.path(key)?;
        match std::fs::metadata(&path) {
            Ok(found) if found.is_file() => Ok(Some(found.len())),
            Ok(_) => Ok(None),
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                if reader.contains(key) {
                    reader.read(key).map(|bytes| Some(bytes.len() as u64))
                } else {
                    Ok(None)
                }
            }
            Err(e) => Err(Error::io(&path, "be read", e)),
        }
    }

    /// Reads the bytes of an existing key.
    pub fn read(&self, key: &str) -> Result<Vec<u8>> {
        match self {
            Store::Files(reader) => reader.read(key),
            Store::Database(database) => match database.get(key)? {
                Some(bytes) => Ok(bytes),
                None => Err(self.missing(key)),
            },
        }
    }

    /// Reads the bytes of a key, which must fill `out` exactly.
    pub fn read_into(&self, key: &str, out: &mut [u8]) -> Result<()> {
        match self {
            Store::Files(reader) => reader.read_into(key, out),
            Store::Database(database) => match database.size(key)? {
                Some(size) if size == out.len() as u64 => {
                    database.read_into(key, 0, out)?;
                    Ok(())
                }
                Some(size) => {
                    let message = format!("has {size} bytes, expected {}", out.len());
                    Err(Error::format(&self.path(key), message))
                }
                None => Err(self.missing(key)),
            },
        }
    }

    /// Verifies the database files that were read from against the checkpoint's manifest. Plain
    /// files are verified when they are read.
    pub fn verify(&self) -> Result<()> {
        match self {
            Store::Files(_) => Ok(()),
            Store::Database(database) => database.verify(),
        }
    }

    /// Returns the error of a missing key.
    pub fn missing(&self, key: &str) -> Error {
        Error::format(
            &self.path(key),
            Message::new("is missing").help("the checkpoint is incomplete; restore another step"),
        )
    }
}
