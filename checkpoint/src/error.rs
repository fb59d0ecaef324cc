//! What can go wrong with checkpoints.

use crate::optimizer::OptimizerDifference;
use ramie_core::StateMismatch;
use std::fmt::{self, Write};
use std::io;
use std::path::{Path, PathBuf};

/// A checkpoint that cannot be written or read. Every message names the file, if
/// there is one.
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
    /// The file is not what was written: its checksum, its size, or that it is there
    /// at all, contradicts the manifest of the checkpoint.
    #[error("{}: {message}", path.display())]
    Damaged {
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
    /// A part of a state dict, or of the bytes of one.
    #[error("{}{}", File(path), Part(at, message))]
    StateDict {
        /// The file, if the bytes are those of one.
        path: Option<PathBuf>,
        /// The part's path in the tree.
        at: String,
        /// What is wrong, and what to do.
        message: String,
    },
    /// A tree that cannot be saved as it is, or that does not fit what was saved.
    #[error("{}{message}", File(path))]
    Tree {
        /// The folder of what was saved, if it is about that.
        path: Option<PathBuf>,
        /// What is wrong, and what to do.
        message: String,
    },
    /// The writer of a state dict refused.
    #[error("cannot be written: {0}")]
    Write(io::Error),
    /// There is no such step.
    #[error(
        "{}: there is no step {step}: {there}\n  help: `all_steps` lists them, and `reload` reads the folder again",
        folder.display()
    )]
    NoStep {
        /// The folder of the run.
        folder: PathBuf,
        /// The step.
        step: u64,
        /// Which ones there are.
        there: String,
    },
    /// A save that went on in the background.
    #[error("{}: the save in the background failed: {source}", path.display())]
    Save {
        /// The checkpoint, which is not there.
        path: PathBuf,
        /// Why.
        source: Box<Error>,
    },
    /// Another one of the processes that save together failed.
    #[error("process {process}: {message}")]
    Process {
        /// Its number.
        process: usize,
        /// What it reported.
        message: String,
    },
    /// The runtime or the other processes failed.
    #[error(transparent)]
    Runtime(#[from] ramie_core::Error),
    /// The arrays belong to another tree.
    #[error("{}{}", File(path), Difference { mismatch, optimizer, file: path.is_some() })]
    Mismatch {
        /// The file, if they come from one.
        path: Option<PathBuf>,
        /// How they and the tree differ; they are the state.
        mismatch: StateMismatch,
        /// How their optimizers differ, if they do: lines of the message.
        optimizer: Option<String>,
    },
}

/// A `Result` with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What is to be done about a damaged checkpoint: the end of a message.
pub(crate) const DAMAGED: &str = "\n  help: the checkpoint is damaged; restore another step";

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

    pub(crate) fn damaged(path: &Path, message: impl Into<String>) -> Error {
        Error::Damaged {
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

    pub(crate) fn tree(path: Option<&Path>, message: impl Into<String>) -> Error {
        Error::Tree {
            path: path.map(Path::to_owned),
            message: message.into(),
        }
    }

    /// The error of arrays that belong to another tree: `saved` are their paths, `tree` those
    /// of the tree.
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

    pub(crate) fn state_dict(at: &str, message: impl Into<String>) -> Error {
        Error::StateDict {
            path: None,
            at: at.into(),
            message: message.into(),
        }
    }

    /// The error of bytes as one of the file that they are in.
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

/// The start of a message about a file.
struct File<'a>(&'a Option<PathBuf>);

impl fmt::Display for File<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(path) => write!(f, "{}: ", path.display()),
            None => Ok(()),
        }
    }
}

/// A message about a part of a state dict.
struct Part<'a>(&'a str, &'a str);

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part("", message) => write!(f, "state dict: {message}"),
            Part(at, message) => write!(f, "state dict: `{at}`: {message}"),
        }
    }
}

/// The most paths that a message lists.
const LISTED: usize = 10;

/// The text of a difference between a file, or a state dict, and a tree.
struct Difference<'a> {
    mismatch: &'a StateMismatch,
    optimizer: &'a Option<String>,
    /// Whether the arrays are those of a file.
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
        write!(f, "the {source} does not fit the tree")?;
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
                "\n  `{path}`: the tree has {expected}, the {source} {got}"
            )?;
        }
        if mistyped.len() > LISTED {
            write!(f, "\n  and {} more", mistyped.len() - LISTED)?;
        }
        f.write_char('\n')?;
        let as_it_is = if self.file { "load_state" } else { "to_state" };
        write!(
            f,
            "  help: load into a tree of the structure that was saved, or take the {source} as it is \
             with `{as_it_is}` and use what fits: `filter` and `astype` change a state, `update` \
             puts it into a tree",
        )
    }
}
