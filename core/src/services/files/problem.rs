//! `Problem` and `Message`: why a file is rejected, and the remedy.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, ErrorKind};

/// A description of a problem, and the remedy.
///
/// ```
/// use ramie_core::files::Message;
/// let message = Message::new("has version 3").help("convert the file to version 2");
/// assert_eq!(message.to_string(), "has version 3\n  help: convert the file to version 2");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    what: String,
    help: Option<Cow<'static, str>>,
}

impl Message {
    /// Creates a message without a remedy.
    pub fn new(what: impl fmt::Display) -> Message {
        Message {
            what: what.to_string(),
            help: None,
        }
    }

    /// Sets the remedy.
    #[must_use]
    pub fn help(self, help: impl Into<Cow<'static, str>>) -> Message {
        let help = Some(help.into());
        Message { help, ..self }
    }

    /// Puts the name of a part before the description.
    #[must_use]
    pub fn of(self, part: impl fmt::Display) -> Message {
        let what = format!("{part}: {}", self.what);
        Message { what, ..self }
    }

    /// Sets the remedy unless there is one.
    #[must_use]
    pub fn or_help(self, help: &'static str) -> Message {
        let help = self.help.or(Some(help.into()));
        Message { help, ..self }
    }
}

impl From<String> for Message {
    fn from(what: String) -> Message {
        Message::new(what)
    }
}

impl From<&str> for Message {
    fn from(what: &str) -> Message {
        Message::new(what)
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

/// Reasons why a file is rejected. The caller adds the path of the file.
#[derive(Debug)]
pub enum Problem {
    /// The file cannot be read.
    Io(io::Error),
    /// The file does not have the format, or is damaged.
    File(Message),
    /// One array is invalid: its name, and the reason.
    Tensor(String, Message),
}

/// The remedy for damaged files.
pub const DAMAGED: &str = "this file is damaged, truncated or of another format; copy, download \
                           or convert it again";

impl Problem {
    /// Creates the problem of a file that is damaged or has another format.
    pub fn file(what: impl Into<Message>) -> Problem {
        Problem::File(what.into())
    }

    /// Creates the problem of one array.
    pub fn tensor(name: impl Into<String>, what: impl Into<Message>) -> Problem {
        Problem::Tensor(name.into(), what.into())
    }

    /// Adds the remedy for damaged files, unless the message has another remedy.
    pub fn with_help(self) -> Problem {
        match self {
            Problem::Io(error) => Problem::Io(error),
            Problem::File(message) => Problem::File(message.or_help(DAMAGED)),
            Problem::Tensor(name, message) => Problem::Tensor(name, message.or_help(DAMAGED)),
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
            ErrorKind::UnexpectedEof | ErrorKind::InvalidData => DAMAGED,
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some disk space",
            ErrorKind::AlreadyExists => "choose another path, or remove the existing file",
            ErrorKind::ReadOnlyFilesystem => "choose a path on a file system that is not read-only",
            _ => return Ok(()),
        };
        write!(f, "\n  help: {help}")
    }
}
