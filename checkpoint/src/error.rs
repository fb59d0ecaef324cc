//! Errors of checkpoint operations.

use crate::optimizer::OptimizerDifference;
use ramie_core::StateMismatch;
use ramie_core::files::{Message, WithHelp};
use std::fmt::{self, Write};
use std::io;
use std::path::{Path, PathBuf};

/// Error of reading or writing a checkpoint. Every message names the file, if there is one.
///
/// Its `Debug` form is the message, so that `unwrap` and `main` print a readable error.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An I/O operation failed.
    #[error("{}: cannot {action}: {}", path.display(), WithHelp(source))]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Attempted action, such as "be written".
        action: &'static str,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The file has another format, or is damaged or truncated.
    #[error("{}: {message}", path.display())]
    Format {
        /// Path of the file.
        path: PathBuf,
        /// Description of the problem, and the remedy.
        message: Message,
    },
    /// The file differs from what was written: its checksum or size contradicts the checkpoint's
    /// manifest, or the file is missing.
    #[error("{}: {message}", path.display())]
    Damaged {
        /// Path of the file.
        path: PathBuf,
        /// Description of the problem, and the remedy.
        message: Message,
    },
    /// One array of the file cannot be read or written.
    #[error("{}: tensor `{tensor}`: {message}", path.display())]
    Tensor {
        /// Path of the file.
        path: PathBuf,
        /// Path of the array in the tree.
        tensor: String,
        /// Description of the problem, and the remedy.
        message: String,
    },
    /// Part of a state dict, or of its bytes, is invalid.
    #[error("{}{}", File(path), Part(at, message))]
    StateDict {
        /// Path of the file, if the bytes come from one.
        path: Option<PathBuf>,
        /// Path of the part in the tree.
        at: String,
        /// Description of the problem, and the remedy.
        message: String,
    },
    /// A tree cannot be saved, or does not match what was saved.
    #[error("{}{message}", File(path))]
    Tree {
        /// Directory of the checkpoint, if the error concerns one.
        path: Option<PathBuf>,
        /// Description of the problem, and the remedy.
        message: String,
    },
    /// Writing a state dict to a writer failed.
    #[error("cannot be written: {}", WithHelp(.0))]
    Write(io::Error),
    /// The step does not exist.
    #[error(
        "{}: step {step} does not exist: {there}\n  help: list the steps with `all_steps`, or use \
         `reload` to read the directory again",
        folder.display()
    )]
    NoStep {
        /// Directory of the run.
        folder: PathBuf,
        /// Requested step.
        step: u64,
        /// Existing steps, as text.
        there: String,
    },
    /// A background save failed.
    #[error("{}: the background save failed: {source}", path.display())]
    Save {
        /// Path of the checkpoint, which was not created.
        path: PathBuf,
        /// Cause.
        source: Box<Error>,
    },
    /// Another one of the processes that save together failed.
    #[error("process {process}: {message}")]
    Process {
        /// Index of the process.
        process: usize,
        /// Message of its error.
        message: String,
    },
    /// The runtime failed, or communication between processes did.
    #[error(transparent)]
    Runtime(#[from] ramie_core::Error),
    /// The arrays do not match the tree.
    #[error("{}{}", File(path), Difference { mismatch, optimizer, file: path.is_some() })]
    Mismatch {
        /// Path of the file, if the arrays come from one.
        path: Option<PathBuf>,
        /// Differences between the arrays (the state) and the tree.
        mismatch: StateMismatch,
        /// Differences between the optimizers, if any, as lines of the message.
        optimizer: Option<String>,
    },
}

ramie_core::debug_is_message!(Error);

/// Alias of `Result` with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The remedy of panics that are caught.
pub(crate) const PANICKED: &str = "see stderr for the location of the panic";

/// The remedy of damaged checkpoints.
const DAMAGED: &str = "the checkpoint is damaged; restore another step";

impl Error {
    pub(crate) fn io(path: &Path, action: &'static str, source: io::Error) -> Error {
        Error::Io {
            path: path.into(),
            action,
            source,
        }
    }

    /// Creates the error of a file with another format. A message without a remedy gets that for
    /// damaged checkpoints.
    pub(crate) fn format(path: &Path, message: impl Into<Message>) -> Error {
        Error::Format {
            path: path.into(),
            message: message.into().or_help(DAMAGED),
        }
    }

    /// Creates the error of a file that differs from what was written. A message without a remedy
    /// gets that for damaged checkpoints.
    pub(crate) fn damaged(path: &Path, message: impl Into<Message>) -> Error {
        Error::Damaged {
            path: path.into(),
            message: message.into().or_help(DAMAGED),
        }
    }

    pub(crate) fn tensor(path: &Path, tensor: &str, message: impl fmt::Display) -> Error {
        Error::Tensor {
            path: path.into(),
            tensor: tensor.into(),
            message: message.to_string(),
        }
    }

    pub(crate) fn tree(path: Option<&Path>, message: impl fmt::Display) -> Error {
        Error::Tree {
            path: path.map(Path::to_owned),
            message: message.to_string(),
        }
    }

    /// Creates the error of arrays that do not match the tree: `saved` are the paths of the
    /// arrays, `tree` those of the tree.
    pub(crate) fn mismatch<'a>(
        path: Option<&Path>,
        mismatch: StateMismatch,
        saved: impl IntoIterator<Item = &'a str>,
        tree: impl IntoIterator<Item = &'a str>,
    ) -> Error {
        Error::Mismatch {
            path: path.map(Path::to_owned),
            mismatch,
            optimizer: OptimizerDifference::of(saved, tree).map(|o| o.lines()),
        }
    }

    pub(crate) fn state_dict(at: &str, message: impl fmt::Display) -> Error {
        Error::StateDict {
            path: None,
            at: at.into(),
            message: message.to_string(),
        }
    }

    /// Adds the path of the file that contains the bytes.
    pub(crate) fn in_file(self, path: &Path) -> Error {
        match self {
            Error::StateDict { at, message, .. } => Error::StateDict {
                path: Some(path.into()),
                at,
                message,
            },
            Error::Mismatch {
                mismatch,
                optimizer,
                ..
            } => Error::Mismatch {
                path: Some(path.into()),
                mismatch,
                optimizer,
            },
            Error::Write(e) => Error::io(path, "be written", e),
            other => other,
        }
    }
}

/// Formats the start of a message about a file.
struct File<'a>(&'a Option<PathBuf>);

impl fmt::Display for File<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(path) => write!(f, "{}: ", path.display()),
            None => Ok(()),
        }
    }
}

/// Formats a message about part of a state dict.
struct Part<'a>(&'a str, &'a str);

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part("", message) => write!(f, "state dict: {message}"),
            Part(at, message) => write!(f, "state dict: `{at}`: {message}"),
        }
    }
}

/// Maximum number of paths listed in a message.
const LISTED: usize = 10;

/// Formats the difference between a file or a state dict and a tree.
struct Difference<'a> {
    mismatch: &'a StateMismatch,
    optimizer: &'a Option<String>,
    /// Whether the arrays come from a file.
    file: bool,
}

impl fmt::Display for Difference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, what: &str, paths: &[String]| {
            if paths.is_empty() {
                return Ok(());
            }
            write!(f, "\n  {what}: ")?;
            for (i, path) in paths.iter().take(LISTED).enumerate() {
                f.write_str(if i > 0 { ", " } else { "" })?;
                write!(f, "`{path}`")?;
            }
            match paths.len().saturating_sub(LISTED) {
                0 => Ok(()),
                more => write!(f, " and {more} more"),
            }
        };
        let source = if self.file { "file" } else { "state dict" };
        write!(f, "the {source} does not match the tree")?;
        f.write_str(self.optimizer.as_deref().unwrap_or_default())?;
        list(
            f,
            &format!("missing from the {source}"),
            &self.mismatch.missing,
        )?;
        list(f, "not in the tree", &self.mismatch.unexpected)?;
        let mistyped = &self.mismatch.mistyped;
        for (path, expected, got) in mistyped.iter().take(LISTED) {
            write!(
                f,
                "\n  `{path}`: the tree has {expected}, the {source} has {got}"
            )?;
        }
        if mistyped.len() > LISTED {
            write!(f, "\n  and {} more", mistyped.len() - LISTED)?;
        }
        f.write_char('\n')?;
        let as_it_is = if self.file { "load_state" } else { "to_state" };
        write!(
            f,
            "  help: load into a tree with the saved structure, or read the {source} as a `State` \
             with `{as_it_is}`: `filter` and `astype` adapt a state, `update` copies it into a \
             tree",
        )
    }
}
