//! Bounded reading of a pickle.

use ramie_core::files::{Message, Problem};
use std::fmt::Display;
use std::io::{BufReader, Read};

/// Maximum number of bytes of the pickles in a file, without storages.
const LARGEST: u64 = 100_000_000;

/// Returns the error of a file that is not as `torch.save` writes it.
pub(super) fn damaged(what: impl Display) -> Problem {
    Problem::file(what.to_string())
}

/// Returns the error of a file with contents that are not supported.
pub(super) fn unsupported(what: impl Display) -> Problem {
    Problem::file(Message::new(what).help(
        "in Python, save only tensors and plain values, for example \
                `torch.save(model.state_dict(), path)`",
    ))
}

/// Bytes of known length. A length in the bytes is compared with the number of bytes that follow
/// before memory is allocated.
pub(super) struct Input<R> {
    bytes: BufReader<R>,
    position: u64,
    length: u64,
}

impl<R: Read> Input<R> {
    pub fn new(bytes: R, length: u64) -> Input<R> {
        Input {
            bytes: BufReader::with_capacity(1 << 16, bytes),
            position: 0,
            length,
        }
    }

    /// Returns the number of bytes read.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Counts `count` bytes as read. Returns an error if fewer follow.
    fn advance(&mut self, count: u64) -> Result<(), Problem> {
        let left = self.length - self.position;
        if count > left {
            return Err(damaged(format_args!(
                "is damaged or truncated: a value at byte {} of the pickle takes {count} bytes, but \
                 only {left} follow",
                self.position
            )));
        }
        self.position += count;
        if self.position > LARGEST {
            return Err(unsupported(format_args!(
                "has more than {LARGEST} bytes of values other than tensors"
            )));
        }
        Ok(())
    }

    /// Reads an array of bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Problem> {
        self.advance(N as u64)?;
        let mut bytes = [0; N];
        self.bytes.read_exact(&mut bytes).map_err(Problem::Io)?;
        Ok(bytes)
    }

    /// Reads a byte.
    pub fn byte(&mut self) -> Result<u8, Problem> {
        Ok(self.array::<1>()?[0])
    }

    /// Reads a length of `N` bytes.
    pub fn length<const N: usize>(&mut self) -> Result<u64, Problem> {
        let mut length = [0; 8];
        length[..N].copy_from_slice(&self.array::<N>()?);
        Ok(u64::from_le_bytes(length))
    }

    /// Reads a length of `N` bytes, and as many bytes.
    pub fn bytes<const N: usize>(&mut self) -> Result<Vec<u8>, Problem> {
        let length = self.length::<N>()?;
        self.advance(length)?;
        // Not larger than `LARGEST`.
        let mut bytes = vec![0; length as usize];
        self.bytes.read_exact(&mut bytes).map_err(Problem::Io)?;
        Ok(bytes)
    }

    /// Reads a length of `N` bytes, and a string of as many bytes.
    pub fn string<const N: usize>(&mut self) -> Result<String, Problem> {
        let at = self.position;
        String::from_utf8(self.bytes::<N>()?).map_err(|e| {
            damaged(format_args!(
                "is damaged: the string at byte {at} of the pickle is not UTF-8: {e}"
            ))
        })
    }

    /// Reads a name that ends with a line break.
    pub fn line(&mut self) -> Result<String, Problem> {
        let (at, mut name) = (self.position, Vec::new());
        loop {
            match self.byte()? {
                b'\n' => break,
                byte if byte.is_ascii_graphic() && name.len() < LONGEST_NAME => name.push(byte),
                _ => {
                    return Err(damaged(format_args!(
                        "is damaged: there is no name at byte {at} of the pickle"
                    )));
                }
            }
        }
        Ok(name.into_iter().map(char::from).collect())
    }
}

/// Maximum length of the name of a Python module or class.
const LONGEST_NAME: usize = 256;
