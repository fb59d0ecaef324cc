//! Bounded reading of a header.

use super::Problem;
use std::fmt::Display;
use std::io::{BufReader, Read};

/// A file of known length, read from its beginning. A length in the file is compared with the
/// number of bytes that follow before memory is allocated.
pub(super) struct Input<R> {
    file: BufReader<R>,
    position: u64,
    length: u64,
}

impl<R: Read> Input<R> {
    pub fn new(file: R, length: u64) -> Input<R> {
        Input {
            file: BufReader::with_capacity(1 << 16, file),
            position: 0,
            length,
        }
    }

    /// Returns the number of bytes read.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Counts `count` bytes as read. Returns an error if fewer follow.
    fn advance(&mut self, count: u64, what: &dyn Display) -> Result<(), Problem> {
        let left = self.length - self.position;
        if count > left {
            let message = format!(
                "is damaged or truncated: {what} takes {count} bytes, but only {left} follow"
            );
            return Err(Problem::file(message));
        }
        self.position += count;
        Ok(())
    }

    /// Reads an array of bytes.
    pub fn array<const N: usize>(&mut self, what: &dyn Display) -> Result<[u8; N], Problem> {
        self.advance(N as u64, what)?;
        let mut bytes = [0; N];
        self.file.read_exact(&mut bytes).map_err(Problem::Io)?;
        Ok(bytes)
    }

    /// Reads a length, and checks that as many items of at least `each` bytes can follow.
    pub fn count(&mut self, each: u64, what: &dyn Display) -> Result<usize, Problem> {
        let count = u64::from_le_bytes(self.array(what)?);
        let left = self.length - self.position;
        match usize::try_from(count) {
            Ok(n) if count <= left / each => Ok(n),
            _ => Err(Problem::file(format!(
                "is damaged or truncated: it has {count} {what} according to a length field, but \
                 only {left} bytes follow"
            ))),
        }
    }

    /// Reads a string with its length.
    pub fn string(&mut self, what: &dyn Display) -> Result<String, Problem> {
        let length = self.count(1, &format_args!("bytes of {what}"))?;
        self.advance(length as u64, what)?;
        let mut bytes = vec![0; length];
        self.file.read_exact(&mut bytes).map_err(Problem::Io)?;
        String::from_utf8(bytes)
            .map_err(|e| Problem::file(format!("is damaged: {what} is not UTF-8: {e}")))
    }
}
