//! The list of a checkpoint's files with their sizes and checksums.
//!
//! The file `_RAMIE_MANIFEST` contains JSON lines: a header with the number of files, one line per
//! file in order of their paths, and the checksum of these lines. The checksum is CRC-32C
//! (Castagnoli), which processors compute as fast as they read memory.

use crate::{Error, Result};
use ramie_core::files::Message;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Name of the manifest in a checkpoint's directory.
pub(crate) const MANIFEST: &str = "_RAMIE_MANIFEST";

/// Returns whether a directory has an empty manifest: a save that writes in place starts with it
/// and replaces it at the commit.
pub(crate) fn is_unfinished(folder: &Path) -> bool {
    let metadata = folder.join(MANIFEST).metadata();
    metadata.is_ok_and(|m| m.is_file() && m.len() == 0)
}

/// Number of bytes that are read or written and checksummed at a time; they stay in the cache in
/// between.
pub(crate) const PIECE: usize = 256 << 10;

/// Size and checksum of a file's contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    pub size: u64,
    pub crc32c: u32,
}

impl Contents {
    /// Reads a file to its end and returns its size and checksum.
    pub fn of(file: &mut File) -> io::Result<Contents> {
        let length = usize::try_from(file.metadata()?.len()).unwrap_or(PIECE);
        let mut piece = vec![0; length.clamp(1, PIECE)];
        let mut contents = Contents::default();
        loop {
            match file.read(&mut piece)? {
                0 => return Ok(contents),
                n => contents.add(&piece[..n]),
            }
        }
    }

    /// Appends bytes to the contents.
    pub fn add(&mut self, bytes: &[u8]) {
        self.size += bytes.len() as u64;
        self.crc32c = crc32c::crc32c_append(self.crc32c, bytes);
    }

    /// Appends other contents.
    pub fn append(&mut self, other: Contents) {
        // Appending no bytes changes nothing.
        if other.size > 0 {
            let length = other.size as usize;
            self.crc32c = crc32c::crc32c_combine(self.crc32c, other.crc32c, length);
            self.size += other.size;
        }
    }
}

/// All files of a checkpoint by their relative paths, with `/` between parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub files: BTreeMap<String, Contents>,
}

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    version: u32,
    files: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    path: String,
    size: u64,
    crc32c: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct End {
    crc32c: String,
}

fn hexadecimal(crc32c: u32) -> String {
    format!("{crc32c:08x}")
}

fn number(text: &str) -> Option<u32> {
    let digits = text.len() == 8 && text.bytes().all(|b| b.is_ascii_hexdigit());
    digits.then(|| u32::from_str_radix(text, 16).ok()).flatten()
}

impl Manifest {
    /// Returns the text of the file.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let line = |text: &mut String, value: serde_json::Result<String>| {
            // Numbers and strings always serialize.
            let _ = writeln!(text, "{}", value.unwrap_or_default());
        };
        let head = Head {
            version: VERSION,
            files: self.files.len(),
        };
        line(&mut text, serde_json::to_string(&head));
        for (path, contents) in &self.files {
            let file = Line {
                path: path.clone(),
                size: contents.size,
                crc32c: hexadecimal(contents.crc32c),
            };
            line(&mut text, serde_json::to_string(&file));
        }
        let end = End {
            crc32c: hexadecimal(crc32c::crc32c(text.as_bytes())),
        };
        line(&mut text, serde_json::to_string(&end));
        text
    }

    /// Parses the bytes of a manifest.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Manifest> {
        let damaged = |what: &str| {
            Error::damaged(
                path,
                Message::new(format!("the manifest is damaged: {what}"))
                    .help("restore another step; the files of this one cannot be verified"),
            )
        };
        if bytes.is_empty() {
            return Err(damaged("it is empty, so the save is not complete"));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| damaged("it is not UTF-8"))?;
        let lines = text
            .strip_suffix('\n')
            .ok_or_else(|| damaged("it is truncated"))?;
        let (body, end) = match lines.rfind('\n') {
            Some(at) => lines.split_at(at + 1),
            None => return Err(damaged("it is truncated")),
        };
        let end: End = serde_json::from_str(end).map_err(|_| damaged("it is truncated"))?;
        if number(&end.crc32c) != Some(crc32c::crc32c(body.as_bytes())) {
            return Err(damaged("its checksum is wrong"));
        }
        let mut body = body.lines();
        let head: Option<Head> = body.next().and_then(|l| serde_json::from_str(l).ok());
        let head = head.ok_or_else(|| damaged("it has no valid header"))?;
        if head.version != VERSION {
            return Err(Error::format(
                path,
                Message::new(format!(
                    "the manifest has version {}, but this program reads version {VERSION}",
                    head.version
                ))
                .help("use the version of Ramie that saved the checkpoint"),
            ));
        }
        let mut files = BTreeMap::new();
        for line in body {
            let file: Option<Line> = serde_json::from_str(line).ok();
            let file = file.and_then(|f| Some((number(&f.crc32c)?, f)));
            let (crc32c, file) = file.ok_or_else(|| damaged("a line is invalid"))?;
            let size = file.size;
            files.insert(file.path, Contents { size, crc32c });
        }
        if files.len() != head.files {
            return Err(damaged("files are missing"));
        }
        Ok(Manifest { files })
    }
}

/// Returns the path of a checkpoint's file. The name must not lead out of the directory.
pub(crate) fn checked_path(folder: &Path, name: &str) -> Result<PathBuf> {
    let mut path = folder.to_owned();
    path.extend(checked_parts(folder, name)?);
    Ok(path)
}

/// Splits the name of a checkpoint's file into its parts.
fn checked_parts<'a>(folder: &Path, name: &'a str) -> Result<Vec<&'a str>> {
    let parts: Vec<&str> = name.split('/').collect();
    let whole = |part: &&str| {
        !matches!(*part, "" | "." | "..")
            && !part.contains('\0')
            && !part.contains(std::path::is_separator)
    };
    if parts.iter().all(whole) {
        return Ok(parts);
    }
    Err(Error::format(
        folder,
        Message::new(format!(
            "{name:?} is not the name of a file in this directory"
        ))
        .help("use a relative path without `.` and `..`"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Manifest {
        let file = |size, crc32c| Contents { size, crc32c };
        Manifest {
            files: BTreeMap::from([
                ("default/a\nb".into(), file(0, 0)),
                ("default/d/ä".into(), file(u64::MAX, u32::MAX)),
                ("metrics/metrics".into(), file(12, 0x0a)),
            ]),
        }
    }

    #[test]
    fn a_manifest_reads_as_it_was_written() {
        let text = sample().to_text();
        let path = Path::new("m");
        assert_eq!(
            Manifest::from_bytes(path, text.as_bytes()).unwrap(),
            sample()
        );
        let none = Manifest::default();
        let read = Manifest::from_bytes(path, none.to_text().as_bytes()).unwrap();
        assert_eq!(read, none);
    }

    #[test]
    fn contents_are_those_of_all_parts() {
        let bytes: Vec<u8> = (0..1000).map(|i| (i * 31) as u8).collect();
        let of = |bytes: &[u8]| {
            let mut contents = Contents::default();
            contents.add(bytes);
            contents
        };
        for at in [0, 1, 500, 1000] {
            let mut parts = of(&bytes[..at]);
            parts.append(of(&bytes[at..]));
            assert_eq!(parts, of(&bytes));
        }
    }

    #[test]
    fn every_change_of_a_byte_is_noticed() {
        let text = sample().to_text().into_bytes();
        for i in 0..text.len() {
            for bit in 0..8 {
                let mut other = text.clone();
                other[i] ^= 1 << bit;
                let read = Manifest::from_bytes(Path::new("m"), &other);
                // The case of hexadecimal digits does not matter.
                assert!(read.is_err() || read.unwrap() == sample(), "byte {i}");
            }
            let cut = Manifest::from_bytes(Path::new("m"), &text[..i]);
            assert!(cut.unwrap_err().to_string().contains("damaged"));
        }
    }

    #[test]
    fn names_stay_in_their_folder() {
        let at = Path::new("step");
        assert_eq!(checked_parts(at, "d/0a").unwrap(), ["d", "0a"]);
        for name in ["", "/etc", "a//b", "a/../b", "./a", "a/", "a\0"] {
            assert!(checked_parts(at, name).is_err(), "{name:?}");
        }
    }
}
