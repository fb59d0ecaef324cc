//! `Problem`: why a file is rejected.

use std::fmt;
use std::io::{self, ErrorKind};

/// Reasons why a file is rejected. The caller adds the path of the file.
#[derive(Debug)]
pub enum Problem {
    /// The file cannot be read.
    Io(io::Error),
    /// The file does not have the format, or is damaged.
    File(String),
    /// One array is invalid: its name, and the reason.
    Tensor(String, String),
}

/// The end of messages about damaged files: the remedy.
pub const DAMAGED: &str = "\n  help: this file is damaged, truncated or of another format; copy, \
                           download or convert it again";

/// Adds a remedy, such as [`DAMAGED`], to the description of a problem, unless the description
/// contains another remedy.
pub fn explained(message: impl Into<String>, remedy: &str) -> String {
    let message = message.into();
    if message.contains("\n  help: ") {
        message
    } else {
        message + remedy
    }
}

impl Problem {
    /// Adds the remedy for damaged files, unless the message contains another remedy.
    pub fn with_help(self) -> Problem {
        match self {
            Problem::Io(error) => Problem::Io(error),
            Problem::File(message) => Problem::File(explained(message, DAMAGED)),
            Problem::Tensor(name, message) => Problem::Tensor(name, explained(message, DAMAGED)),
        }
    }
}

/// Formats an I/O error, followed by a remedy.
///
/// ```
/// use ramie_core::files::{WithHelp, open};
/// let error = open("missing.bin").unwrap_err();
/// let message = format!("missing.bin: cannot be read: {}", WithHelp(&error));
/// assert!(message.contains("\n  help: check the path"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WithHelp<'a>(pub &'a io::Error);

impl fmt::Display for WithHelp<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let help = match self.0.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => {
                "check the path; a relative path starts in the working directory"
            }
            ErrorKind::PermissionDenied => "check the permissions of the file and its directories",
            ErrorKind::IsADirectory => "pass the path of a file in this directory",
            ErrorKind::InvalidInput => "pass the path of a regular file",
            ErrorKind::UnexpectedEof | ErrorKind::InvalidData => return f.write_str(DAMAGED),
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some disk space",
            ErrorKind::AlreadyExists => "choose another path, or remove the existing file",
            ErrorKind::ReadOnlyFilesystem => "choose a path on a file system that is not read-only",
            _ => return Ok(()),
        };
        write!(f, "\n  help: {help}")
    }
}
