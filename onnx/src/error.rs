//! `Error`: why a model cannot be read.

use ramie_core::files::{Message, Problem, WithHelp};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Error of reading an ONNX model. Every message names the file, if there is one.
///
/// Its `Debug` form is the message, so that `unwrap` and `main` print a readable error.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read.
    #[error("{}: cannot be read: {}", path.display(), WithHelp(source))]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The file is not an ONNX model, or is damaged or truncated.
    #[error("{}{message}", File(path))]
    Format {
        /// Path of the file, unless the model was read from bytes.
        path: Option<PathBuf>,
        /// Description of the problem, and the remedy.
        message: Message,
    },
    /// A tensor of the file cannot be read.
    #[error("{}tensor `{tensor}`: {message}", File(path))]
    Tensor {
        /// Path of the file, unless the model was read from bytes.
        path: Option<PathBuf>,
        /// Name of the tensor.
        tensor: String,
        /// Description of the problem, and the remedy.
        message: Message,
    },
    /// The model has nodes that Ramie does not support. All of them are listed.
    #[error("{}{}", File(path), Unsupported(nodes))]
    Unsupported {
        /// Path of the file, unless the model was read from bytes.
        path: Option<PathBuf>,
        /// Each unsupported operator with the reason and the names of its nodes.
        nodes: Vec<UnsupportedNodes>,
    },
    /// An array cannot be created.
    #[error(transparent)]
    Runtime(#[from] ramie_core::Error),
}

ramie_core::debug_is_message!(Error);

/// A `Result` with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The nodes of a model that apply one unsupported operator, or use one in an unsupported way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedNodes {
    /// Name of the operator, with its domain if it is not ONNX's own.
    pub operator: String,
    /// Reason why the nodes are not supported.
    pub reason: String,
    /// The nodes, as text with their names, or with their outputs if they have no names.
    pub nodes: Vec<String>,
}

/// Number of nodes that a message names for an operator.
const NAMED: usize = 3;

impl Error {
    /// Adds the path of the file, and a remedy, to the reason why it is rejected.
    pub(crate) fn of(path: Option<&Path>, problem: Problem) -> Error {
        let path = path.map(Path::to_path_buf);
        match (problem.with_help(), path) {
            (Problem::Io(source), Some(path)) => Error::Io { path, source },
            (Problem::Io(source), None) => Error::Format {
                path: None,
                message: format!("cannot be read: {}", WithHelp(&source)).into(),
            },
            (Problem::File(message), path) => Error::Format { path, message },
            (Problem::Tensor(tensor, message), path) => Error::Tensor {
                path,
                tensor,
                message,
            },
        }
    }
}

/// Formats the start of a message about a file.
struct File<'a>(&'a Option<PathBuf>);

impl fmt::Display for File<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(path) => write!(f, "{}: ", path.display()),
            None => f.write_str("ONNX model: "),
        }
    }
}

/// Formats the list of unsupported operators.
struct Unsupported<'a>(&'a [UnsupportedNodes]);

impl fmt::Display for Unsupported<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the model has nodes that are not supported:")?;
        for of in self.0 {
            let named = &of.nodes[..of.nodes.len().min(NAMED)];
            write!(
                f,
                "\n  {}: {} ({}",
                of.operator,
                of.reason,
                named.join(", ")
            )?;
            match of.nodes.len() - named.len() {
                0 => f.write_str(")")?,
                more => write!(f, " and {more} more)")?,
            }
        }
        f.write_str(
            "\n  help: export the model with other operators, for example with another opset, or \
             cut it before these nodes with `onnx.utils.extract_model`",
        )
    }
}
