//! Errors of the environment, and the shape errors that rules report.

use std::fmt;
use std::path::PathBuf;

/// The `help:` text for a complex operand of a function of real numbers.
pub(crate) const TAKE_A_PART: &str = "convert to real numbers first: x.real(), x.imag() or x.abs()";

/// An error of a program's environment: a missing plugin, a program that does not compile, a
/// device out of memory. Programming errors panic instead, at the caller's line.
///
/// Its `Debug` form is the message, so that `unwrap` and `main` print a readable error.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The runtime reported a failure.
    #[error(transparent)]
    Runtime(#[from] ramie_pjrt::Error),
    /// No plugin for the platform could be found or installed.
    #[error("{0}")]
    Plugin(String),
    /// XLA rejected a program.
    #[error("compiling `{name}` failed: {source}")]
    Compile {
        /// Name of the function.
        name: String,
        /// The compiler's error.
        source: ramie_pjrt::Error,
    },
    /// A file could not be read or written.
    #[error("{path}: {message}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Description of the failure.
        message: String,
    },
    /// A host function that a program called failed.
    #[error("a callback failed: {0}")]
    Callback(String),
    /// A check failed; see [`checkify`](crate::transform::checkify).
    #[error("{0}")]
    Check(String),
    /// A function could not be exported, or an exported function could not be read.
    #[error("exported function: {0}")]
    Export(String),
    /// A multi-process operation failed; see [`distributed`](crate::services::distributed).
    #[error("{message}")]
    Distributed {
        /// Kind of the failure.
        kind: FailureKind,
        /// Description of the failure.
        message: String,
    },
    /// A setting was rejected.
    #[error("{0}")]
    Configuration(String),
    /// An environment variable has a value that its setting does not accept.
    #[error(transparent)]
    Setting(#[from] ramie_plugins::settings::InvalidSetting),
}

ramie_base::debug_is_message!(Error);

/// A `Result` with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Kinds of failures of multi-process programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// A process or a value did not arrive in time.
    Timeout,
    /// A key already has a value.
    AlreadyExists,
    /// A process, or the coordinator, has exited or lost its connection.
    PeerLost,
    /// The processes are inconsistent: wrong numbers or different trees.
    Refused,
    /// [`initialize`](crate::services::distributed::initialize) has not been called.
    NotInitialized,
    /// Any other failure, such as an address that cannot be bound.
    Other,
}

impl FailureKind {
    const ALL: [FailureKind; 6] = [
        FailureKind::Timeout,
        FailureKind::AlreadyExists,
        FailureKind::PeerLost,
        FailureKind::Refused,
        FailureKind::NotInitialized,
        FailureKind::Other,
    ];

    /// Returns the kind's number in messages between processes.
    pub(crate) fn code(self) -> u8 {
        FailureKind::ALL
            .iter()
            .position(|k| *k == self)
            .unwrap_or_default() as u8
    }

    /// Returns the kind with this number.
    pub(crate) fn from_code(code: u8) -> Option<FailureKind> {
        FailureKind::ALL.get(usize::from(code)).copied()
    }
}

/// An error in a primitive's operands, reported by its shape rule. [`bind`] adds the operation
/// and the operands, and panics at the caller's line.
///
/// [`bind`]: crate::extend::bind
#[derive(Clone, Debug)]
pub struct ShapeError {
    message: String,
    help: Option<String>,
}

impl ShapeError {
    /// Creates an error; `message` states what was expected and what was found.
    pub fn new(message: impl Into<String>) -> ShapeError {
        ShapeError {
            message: message.into(),
            help: None,
        }
    }

    /// Adds a `help:` line.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> ShapeError {
        self.help = Some(help.into());
        self
    }

    /// Formats the message: operation, problem, operands, help.
    pub(crate) fn render(&self, operation: &str, operands: &[String]) -> String {
        let mut text = format!("{operation}: {}", self.message);
        for line in operands {
            text.push_str("\n  ");
            text.push_str(line);
        }
        if let Some(help) = &self.help {
            text.push_str("\n  help: ");
            text.push_str(help);
        }
        text
    }
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Returns a [`ShapeError`] from a shape rule unless the condition is true.
#[macro_export]
macro_rules! ensure_shape {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err($crate::ShapeError::new(format!($($message)+)));
        }
    };
}
