//! Reading of whole files, and of parts at given offsets.

use crate::{Error, Result};
use flate2::read::GzDecoder;
use ramie_core::files::{self, DAMAGED, Message, Problem, WithHelp};
use ramie_core::text::listed;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

pub(super) fn bad_file(file: &str, message: impl Into<Message>) -> Error {
    Error::File {
        file: file.into(),
        message: message.into(),
    }
}

/// Returns the error of a file that cannot be read.
pub(super) fn unreadable(file: &str, error: &io::Error) -> Error {
    bad_file(file, format!("cannot be read: {}", WithHelp(error)))
}

/// Returns the error of a file that is damaged or has another format.
pub(super) fn damaged(file: &str, message: impl fmt::Display) -> Error {
    bad_file(file, Message::new(message.to_string()).help(DAMAGED))
}

/// Returns the error of a file whose header is rejected.
pub(super) fn rejected(file: &str, problem: Problem) -> Error {
    match problem.with_help() {
        Problem::Io(e) => unreadable(file, &e),
        Problem::File(message) => bad_file(file, message),
        Problem::Tensor(name, message) => {
            bad_file(file, message.of(format_args!("array {name:?}")))
        }
    }
}

/// Returns the error of a name that a file does not have. `kind` is the kind of the names, `column` or
/// `array`. A name that differs in a few letters is the first of the list, which may be cut.
pub(super) fn missing<'a>(
    file: &str,
    kind: &str,
    name: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Error {
    let mut names: Vec<&str> = names.into_iter().collect();
    let distances = names.iter().map(|known| edits(name, known)).enumerate();
    if let Some((place, edits)) = distances.min_by_key(|(_, edits)| *edits)
        && edits <= name.chars().count() / 2
    {
        names[..=place].rotate_right(1);
    }
    let names = listed(names);
    let what = format!("has no {kind} {name:?}; its {kind}s are {names}");
    bad_file(file, Message::new(what).help("use one of these names"))
}

/// Returns the number of letters to insert, to remove or to replace that turn one name into another
/// (the Levenshtein distance). Upper and lower case are equal.
fn edits(a: &str, b: &str) -> usize {
    let [a, b] = [a, b].map(|text| text.to_lowercase().chars().collect::<Vec<char>>());
    // The distances of a prefix of `a` to all prefixes of `b`.
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

pub(super) fn bad_record(file: &str, record: usize, message: impl Into<Message>) -> Error {
    Error::Record {
        file: file.into(),
        record,
        message: message.into(),
    }
}

pub(super) fn bad_row(file: &str, row: usize, message: impl Into<Message>) -> Error {
    Error::Row {
        file: file.into(),
        row,
        message: message.into(),
    }
}

/// Returns the path as error messages show it.
pub(super) fn name_of(path: &Path) -> String {
    path.display().to_string()
}

/// Returns the contents of a file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    files::read(path).map_err(|e| unreadable(&name_of(path), &e))
}

/// Number of bytes from which [`byte_order_mark`] recognizes a mark.
pub(super) const MARK: usize = 3;

/// Returns the length of the byte order mark of UTF-8 at the beginning of a text, with which
/// programs on Windows begin files: 3, or 0 without a mark.
///
/// # Errors
/// Returns an error if the text begins with the mark of UTF-16.
pub(super) fn byte_order_mark(file: &str, start: &[u8]) -> Result<usize> {
    match start {
        [0xef, 0xbb, 0xbf, ..] => Ok(3),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Err(bad_file(
            file,
            Message::new("begins with the byte order mark of UTF-16, expected UTF-8")
                .help("convert the file, for example with `iconv -f UTF-16 -t UTF-8`"),
        )),
        _ => Ok(0),
    }
}

/// Returns a text without the byte order mark of UTF-8.
///
/// # Errors
/// Returns an error if the text begins with the mark of UTF-16.
pub(super) fn without_mark<'a>(file: &str, text: &'a [u8]) -> Result<&'a [u8]> {
    Ok(&text[byte_order_mark(file, text)?..])
}

/// Returns a reader of the bytes, which decompresses gzip files.
pub(super) fn plain(bytes: &[u8]) -> Box<dyn Read + '_> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        Box::new(GzDecoder::new(bytes))
    } else {
        Box::new(bytes)
    }
}

/// Reads exactly `count` bytes. Memory grows as they are read, so a false length in a file does
/// not allocate much.
pub(super) fn read_exactly(
    reader: &mut dyn Read,
    count: usize,
    file: &str,
    what: &str,
) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = reader.take(count as u64).read_to_end(&mut bytes);
    read.map_err(|e| damaged(file, format_args!("{what} cannot be read: {e}")))?;
    if bytes.len() == count {
        Ok(bytes)
    } else {
        Err(damaged(
            file,
            format_args!(
                "has {} of the {count} bytes of {what}; the file is cut short",
                bytes.len()
            ),
        ))
    }
}

/// Returns an error unless the reader is at its end.
pub(super) fn expect_end(reader: &mut dyn Read, file: &str, what: &str) -> Result<()> {
    match reader.read(&mut [0]) {
        Ok(0) => Ok(()),
        Ok(_) => Err(damaged(file, format_args!("contains data after {what}"))),
        Err(e) => Err(damaged(file, format_args!("cannot be read: {e}"))),
    }
}

/// Runs a third-party decoder. Some decoders panic on damaged files; this is returned as an error
/// of the file, too.
#[cfg(any(feature = "images", feature = "parquet", feature = "tokenizers"))]
pub(super) fn decoded<T>(file: &str, decode: impl FnOnce() -> Result<T>) -> Result<T> {
    let made = crate::panic::caught(decode);
    made.unwrap_or_else(|message| {
        let message = format_args!("cannot be decoded: {message}");
        Err(damaged(file, message))
    })
}

/// A file that several threads can read at given offsets at the same time.
#[derive(Debug)]
pub(super) struct Positioned {
    file: File,
    len: u64,
    name: String,
}

impl Positioned {
    pub(super) fn open(path: &Path) -> Result<Positioned> {
        let name = name_of(path);
        let bad = |e: io::Error| unreadable(&name, &e);
        let file = files::open(path).map_err(bad)?;
        let len = file.metadata().map_err(bad)?.len();
        Ok(Positioned { file, len, name })
    }

    /// Returns a reader of the file from its beginning. It uses the shared cursor, so only one
    /// may exist.
    pub(super) fn start(&self) -> impl Read + '_ {
        &self.file
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Reads `count` bytes at an offset, which the caller has checked against the length.
    pub(super) fn read_at(&self, at: u64, count: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; count];
        let read = files::read_exact_at(&self.file, &mut bytes, at);
        read.map_err(|e| {
            let message = format!(
                "{count} bytes at byte {at} cannot be read: {}",
                WithHelp(&e)
            );
            bad_file(&self.name, message)
        })?;
        Ok(bytes)
    }
}
