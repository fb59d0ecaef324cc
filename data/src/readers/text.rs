//! Readers of text: lines of files, and characters and bytes as tokens.

use super::file::{
    MARK, Positioned, bad_file, bad_row, byte_order_mark, name_of, read, without_mark,
};
use crate::{Error, Result, Source};
use ramie_core::files::Message;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::Path;

/// The lines of a text file, without line ends and without a byte order mark. Lines are read on
/// access; only their offsets are in memory.
#[derive(Debug)]
pub struct Lines {
    file: Positioned,
    /// Start and end offset of each line, and its number in the file.
    lines: Vec<(u64, u64, usize)>,
}

/// Number of bytes read at once to find the lines.
const BLOCK: usize = 1 << 16;

impl Lines {
    /// Opens a file and scans it once to find its lines.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Lines> {
        let file = Positioned::open(path.as_ref())?;
        let mut lines = Vec::new();
        let first = file.read_at(0, file.len().min(MARK as u64) as usize)?;
        let mark = byte_order_mark(file.name(), &first)? as u64;
        let (mut start, mut at) = (mark, mark);
        while at < file.len() {
            let count = (file.len() - at).min(BLOCK as u64) as usize;
            let block = file.read_at(at, count)?;
            for (i, _) in block.iter().enumerate().filter(|(_, b)| **b == b'\n') {
                let end = at + i as u64;
                lines.push((start, end, lines.len() + 1));
                start = end + 1;
            }
            at += count as u64;
        }
        if start < file.len() {
            lines.push((start, file.len(), lines.len() + 1));
        }
        Ok(Lines { file, lines })
    }

    /// Removes the lines that are empty or contain only whitespace.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn without_blank(mut self) -> Result<Lines> {
        let mut kept = Vec::with_capacity(self.lines.len());
        for line in std::mem::take(&mut self.lines) {
            if !self.bytes(line)?.trim_ascii().is_empty() {
                kept.push(line);
            }
        }
        self.lines = kept;
        Ok(self)
    }

    pub(super) fn file(&self) -> &str {
        self.file.name()
    }

    /// Returns the line number in the file of the line at an index, counted from 1.
    pub(super) fn row(&self, index: usize) -> usize {
        self.lines[index].2
    }

    fn bytes(&self, (start, end, row): (u64, u64, usize)) -> Result<Vec<u8>> {
        let count =
            usize::try_from(end - start).map_err(|_| bad_row(self.file.name(), row, too_long()))?;
        self.file.read_at(start, count)
    }
}

impl Source for Lines {
    type Item = String;
    fn len(&self) -> usize {
        self.lines.len()
    }
    fn get(&self, index: usize) -> Result<String> {
        crate::source::check(index, self.lines.len())?;
        let mut bytes = self.bytes(self.lines[index])?;
        if bytes.ends_with(b"\r") {
            bytes.pop();
        }
        String::from_utf8(bytes).map_err(|e| {
            bad_row(
                self.file.name(),
                self.row(index),
                Message::new(format!("is not UTF-8: {e}")).help(CONVERT),
            )
        })
    }
}

/// The remedy for text in another encoding.
pub(super) const CONVERT: &str = "convert the file, for example with `iconv -f LATIN1 -t UTF-8`";

/// Returns the message about a file with more bytes than a machine can address.
pub(super) fn too_long() -> Message {
    Message::new("is too long for this machine").help("use a 64-bit machine")
}

/// Returns the error of a token that is not in the vocabulary of a tokenizer. `what` names the token.
pub(super) fn unknown_token(what: impl Display, token: i32, size: usize) -> Error {
    Error::Other(format!(
        "{what} is {token}, expected less than {size}\n  help: pass tokens of this tokenizer, or of \
         a model with its vocabulary"
    ))
}

/// Reads a file into a string, without a byte order mark.
///
/// # Errors
/// Returns an error if the file cannot be read or is not UTF-8.
pub fn load(path: impl AsRef<Path>) -> Result<String> {
    let path = path.as_ref();
    let (name, bytes) = (name_of(path), read(path)?);
    let text = std::str::from_utf8(without_mark(&name, &bytes)?);
    text.map(str::to_owned).map_err(|e| {
        bad_file(
            &name,
            Message::new(format!("is not UTF-8: {e}")).help(CONVERT),
        )
    })
}

/// Converts the bytes of a string to tokens from 0 to 255.
///
/// ```
/// assert_eq!(ramie_data::readers::text::bytes("aé"), [97, 195, 169]);
/// ```
pub fn bytes(text: &str) -> Vec<i32> {
    text.bytes().map(i32::from).collect()
}

/// A tokenizer whose tokens are the distinct characters of a string, in sorted order.
///
/// ```
/// use ramie_data::readers::text::Characters;
/// let characters = Characters::of("hello");
/// assert_eq!(characters.len(), 4); // e h l o
/// assert_eq!(characters.encode("hole")?, [1, 3, 2, 0]);
/// assert_eq!(characters.decode(&[1, 3, 2, 0])?, "hole");
/// # Ok::<(), ramie_data::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Characters(Vec<char>);

impl Characters {
    /// Creates a tokenizer from the characters of a string.
    pub fn of(text: &str) -> Characters {
        let all: BTreeSet<char> = text.chars().collect();
        Characters(all.into_iter().collect())
    }

    /// Returns the number of characters.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns `true` if there are no characters.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Converts a string to tokens.
    ///
    /// # Errors
    /// Returns an error if a character is unknown.
    pub fn encode(&self, text: &str) -> Result<Vec<i32>> {
        let token = |(i, c): (usize, char)| match self.0.binary_search(&c) {
            Ok(token) => Ok(token as i32),
            Err(_) => Err(Error::Other(format!(
                "character {i} of the text is {c:?}, which is not among the {} known characters\n  \
                 help: create the tokenizer from a text with all characters",
                self.len()
            ))),
        };
        text.chars().enumerate().map(token).collect()
    }

    /// Converts tokens to a string.
    ///
    /// # Errors
    /// Returns an error if a token is out of range.
    pub fn decode(&self, tokens: &[i32]) -> Result<String> {
        let character = |(i, token): (usize, &i32)| {
            let place = usize::try_from(*token).ok();
            let missing = || unknown_token(format_args!("token {i}"), *token, self.len());
            place.and_then(|t| self.0.get(t)).ok_or_else(missing)
        };
        tokens.iter().enumerate().map(character).collect()
    }
}
