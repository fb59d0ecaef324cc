//! Reading files whole, and at places.

use crate::{Error, Result};
use flate2::read::GzDecoder;
use ramie_core::files;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

pub(super) fn bad_file(file: &str, message: impl Into<String>) -> Error {
    Error::File {
        file: file.into(),
        message: message.into(),
    }
}

pub(super) fn bad_record(file: &str, record: usize, message: impl Into<String>) -> Error {
    Error::Record {
        file: file.into(),
        record,
        message: message.into(),
    }
}

pub(super) fn bad_row(file: &str, row: usize, message: impl Into<String>) -> Error {
    Error::Row {
        file: file.into(),
        row,
        message: message.into(),
    }
}

/// The path as messages show it.
pub(super) fn name_of(path: &Path) -> String {
    path.display().to_string()
}

/// All bytes of a file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    files::read(path).map_err(|e| bad_file(&name_of(path), format!("cannot be read: {e}")))
}

/// The bytes, decompressed if they are a gzip file.
pub(super) fn plain(bytes: &[u8]) -> Box<dyn Read + '_> {
    match bytes.starts_with(&[0x1f, 0x8b]) {
        true => Box::new(GzDecoder::new(bytes)),
        false => Box::new(bytes),
    }
}

/// Exactly so many bytes. Memory grows as they come: a length that a file claims
/// is not believed.
pub(super) fn read_exactly(
    reader: &mut dyn Read,
    count: usize,
    file: &str,
    what: &str,
) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = reader.take(count as u64).read_to_end(&mut bytes);
    read.map_err(|e| bad_file(file, format!("{what} cannot be read: {e}")))?;
    match bytes.len() == count {
        true => Ok(bytes),
        false => Err(bad_file(
            file,
            format!(
                "has {} of the {count} bytes of {what}; the file is cut short",
                bytes.len()
            ),
        )),
    }
}

/// Fails if there is more.
pub(super) fn expect_end(reader: &mut dyn Read, file: &str, what: &str) -> Result<()> {
    match reader.read(&mut [0]) {
        Ok(0) => Ok(()),
        Ok(_) => Err(bad_file(file, format!("goes on behind {what}"))),
        Err(e) => Err(bad_file(file, format!("cannot be read: {e}"))),
    }
}

/// What a decoder of others makes of a file. Some panic at damaged files; that is
/// an error of the file, too.
#[cfg(any(feature = "images", feature = "parquet", feature = "tokenizers"))]
pub(super) fn decoded<T>(file: &str, decode: impl FnOnce() -> Result<T>) -> Result<T> {
    let made = crate::panic::caught(decode);
    made.unwrap_or_else(|message| Err(bad_file(file, format!("cannot be decoded: {message}"))))
}

/// A file that is read at places, by several threads at once.
#[derive(Debug)]
pub(super) struct Positioned {
    file: File,
    len: u64,
    name: String,
}

impl Positioned {
    pub(super) fn open(path: &Path) -> Result<Positioned> {
        let name = name_of(path);
        let bad = |e: io::Error| bad_file(&name, format!("cannot be opened: {e}"));
        let file = files::open(path).map_err(bad)?;
        let len = file.metadata().map_err(bad)?.len();
        Ok(Positioned { file, len, name })
    }

    /// The file from its beginning, for one reader.
    pub(super) fn start(&self) -> impl Read + '_ {
        &self.file
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// `count` bytes from a place on. The place was checked against the length.
    pub(super) fn read_at(&self, at: u64, count: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; count];
        let read = read_exact_at(&self.file, &mut bytes, at);
        read.map_err(|e| {
            let message = format!("{count} bytes at byte {at} cannot be read: {e}");
            bad_file(&self.name, message)
        })?;
        Ok(bytes)
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => {
                bytes = &mut bytes[n..];
                at += n as u64;
            }
        }
    }
    Ok(())
}
