//! What can go wrong with checkpoints.

use ramie_core::StateMismatch;
use std::fmt::{self, Write};
use std::io;
use std::path::{Path, PathBuf};

/// A checkpoint that cannot be written or read. Every message names the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// The file is not what it should be: another format, damaged or cut short.
    #[error("{}: {message}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        message: String,
    },
    /// One array of the file.
    #[error("{}: tensor `{tensor}`: {message}", path.display())]
    Tensor {
        /// The file.
        path: PathBuf,
        /// The array's path in the tree.
        tensor: String,
        /// What is wrong, and what to do.
        message: String,
    },
    /// The file belongs to another tree.
    #[error("{}: {}", path.display(), Difference(mismatch))]
    Mismatch {
        /// The file.
        path: PathBuf,
        /// How the file and the tree differ; the file is the state.
        mismatch: StateMismatch,
    },
}

/// A `Result` with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn io(path: &Path, action: &'static str, source: io::Error) -> Error {
        Error::Io {
            path: path.into(),
            action,
            source,
        }
    }

    pub(crate) fn format(path: &Path, message: impl Into<String>) -> Error {
        Error::Format {
            path: path.into(),
            message: message.into(),
        }
    }

    pub(crate) fn tensor(path: &Path, tensor: &str, message: impl fmt::Display) -> Error {
        Error::Tensor {
            path: path.into(),
            tensor: tensor.into(),
            message: message.to_string(),
        }
    }
}

/// The most paths that a message lists.
const LISTED: usize = 10;

/// The text of a difference between a file and a tree.
struct Difference<'a>(&'a StateMismatch);

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
        f.write_str("the file does not fit the tree")?;
        list(f, "missing from the file", &self.0.missing)?;
        list(f, "not in the tree", &self.0.unexpected)?;
        let mistyped = &self.0.mistyped;
        for (path, expected, got) in mistyped.iter().take(LISTED) {
            write!(f, "\n  `{path}`: the tree has {expected}, the file {got}")?;
        }
        if mistyped.len() > LISTED {
            write!(f, "\n  and {} more", mistyped.len() - LISTED)?;
        }
        f.write_char('\n')?;
        f.write_str(
            "  help: load into a tree of the structure that was saved, or take the file as it is \
             with `load_state` and use what fits: `filter` and `astype` change a state, `update` \
             puts it into a tree",
        )
    }
}
