//! The world's failures, and the shape errors that rules report.

use std::fmt;
use std::path::PathBuf;

/// A failure of the world around a program: a missing plugin, a program that
/// does not compile, a device out of memory. Mistakes of the caller panic
/// instead, at the caller's line.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The runtime reported a failure.
    #[error(transparent)]
    Runtime(#[from] ramie_pjrt::Error),
    /// No plugin for the platform could be found or installed.
    #[error("{0}")]
    Plugin(String),
    /// XLA refused a program.
    #[error("compiling `{name}` failed: {source}")]
    Compile {
        /// The function's name.
        name: String,
        /// What the compiler said.
        source: ramie_pjrt::Error,
    },
    /// A file could not be read or written.
    #[error("{path}: {message}")]
    File {
        /// The file.
        path: PathBuf,
        /// What happened.
        message: String,
    },
    /// A function of the host that a program called failed.
    #[error("a callback failed: {0}")]
    Callback(String),
    /// A check failed; see [`checkify`](crate::checkify).
    #[error("{0}")]
    Check(String),
    /// A function could not be exported, or an exported one not be read.
    #[error("exported function: {0}")]
    Export(String),
    /// Processes could not work together; see [`distributed`](crate::distributed).
    #[error("{message}")]
    Distributed {
        /// What kind of failure it is.
        kind: crate::distributed::FailureKind,
        /// What happened.
        message: String,
    },
    /// A setting was rejected.
    #[error("{0}")]
    Configuration(String),
    /// An environment variable has a value that its setting does not accept.
    #[error(transparent)]
    Setting(#[from] ramie_pjrt::settings::InvalidSetting),
}

/// A `Result` with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What a primitive's shape rule found wrong with its operands. [`bind`]
/// adds the operation and the operands, and panics at the caller's line.
///
/// [`bind`]: crate::bind
#[derive(Clone, Debug)]
pub struct ShapeError {
    message: String,
    help: Option<String>,
}

impl ShapeError {
    /// An error that says what was expected and what was found.
    pub fn new(message: impl Into<String>) -> ShapeError {
        ShapeError {
            message: message.into(),
            help: None,
        }
    }

    /// Adds the remedy.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> ShapeError {
        self.help = Some(help.into());
        self
    }

    /// The message in the house form: operation, problem, operands, remedy.
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

/// Returns a [`ShapeError`] from a shape rule unless the condition holds.
#[macro_export]
macro_rules! ensure_shape {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err($crate::ShapeError::new(format!($($message)+)));
        }
    };
}
