//! The errors of programs that cannot be compiled.

/// An error of a program or of its run.
#[derive(Clone, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// The text is not a StableHLO module, or contradicts itself.
    #[error("StableHLO line {line}: {message}")]
    Text {
        /// Line of the text, counted from 1.
        line: usize,
        /// The operation, and why it is rejected.
        message: String,
    },
    /// The module uses something that this backend does not implement.
    #[error(
        "StableHLO line {line}: {message}\n  help: install XLA's CPU plugin, which supports it: ramie plugin install cpu"
    )]
    Unsupported {
        /// Line of the text, counted from 1.
        line: usize,
        /// The operation, and which part of it is not implemented.
        message: String,
    },
    /// A result does not fit into memory.
    #[error("Out of memory allocating {0}.")]
    Memory(String),
    /// An operation cannot go on: a function of the host failed, or devices disagree about control flow.
    #[error("{0}")]
    Failed(String),
    /// The arguments of a run do not match the program.
    #[error("{0}")]
    Arguments(String),
}

ramie_base::debug_is_message!(Error);

impl Error {
    /// Returns the error with another line, for errors of attributes that are parsed apart.
    pub(crate) fn at(mut self, at: usize) -> Error {
        if let Error::Text { line, .. } | Error::Unsupported { line, .. } = &mut self {
            *line = at;
        }
        self
    }
}

/// A `Result` with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
