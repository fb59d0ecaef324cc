//! The error type of this crate.

use ramie_core::files::Message;

/// An error while reading, combining or passing on data.
///
/// Its `Debug` form is the message, so that `unwrap` and `main` print a readable error.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read or decompressed, or has no rows.
    #[error("{file}: {message}")]
    File {
        /// The file.
        file: String,
        /// The problem, and how to fix it.
        message: Message,
    },
    /// A row of a table is invalid.
    #[error("{file}, row {row}: {message}")]
    Row {
        /// The file.
        file: String,
        /// The row, counted from 1 like lines in an editor.
        row: usize,
        /// The problem, the value found and the value expected, and how to fix it.
        message: Message,
    },
    /// A record of a file without lines is invalid.
    #[error("{file}, record {record}: {message}")]
    Record {
        /// The file.
        file: String,
        /// The record, counted from 0.
        record: usize,
        /// The problem, the value found and the value expected, and how to fix it.
        message: Message,
    },
    /// An element of a source failed.
    #[error("element {index}: {source}")]
    Element {
        /// The element's index in the source.
        index: usize,
        /// The element's error.
        source: Box<Error>,
    },
    /// A batch could not be made from its elements.
    #[error("batch of elements {elements}: {source}")]
    Batch {
        /// The indices of the elements; only the first eight of a large batch.
        elements: String,
        /// The batch's error.
        source: Box<Error>,
    },
    /// An index is out of range.
    #[error("index {index} is out of range for a source with {len} elements")]
    OutOfRange {
        /// The index.
        index: usize,
        /// The number of elements in the source.
        len: usize,
    },
    /// The items cannot be collated into a batch.
    #[error("{0}")]
    Collate(String),
    /// A user function panicked while it produced an element.
    #[error("panicked: {0}")]
    Panic(String),
    /// A batch took longer than the loader's timeout.
    #[error("no batch was ready within {0:?}; call `next` again to continue waiting")]
    Timeout(std::time::Duration),
    /// A saved position does not match the iteration it is restored into.
    #[error("cannot restore the saved position: {0}")]
    Position(Message),
    /// A batch could not be copied to a device.
    #[error("cannot copy the batch to the device: {0}")]
    Device(String),
    /// A user function failed with this message.
    #[error("{0}")]
    Other(String),
}

ramie_core::debug_is_message!(Error);

/// The remedy of positions of other pipelines.
const CHANGED: &str =
    "build the pipeline as it was when the position was saved, from the same data";

impl Error {
    /// Creates an error with a custom message.
    ///
    /// ```
    /// let e = ramie_data::Error::other("the label is missing");
    /// assert_eq!(e.to_string(), "the label is missing");
    /// ```
    pub fn other(message: impl std::fmt::Display) -> Error {
        Error::Other(message.to_string())
    }

    /// Creates the error of a saved position that does not match the iteration.
    pub(crate) fn position(message: impl Into<Message>) -> Error {
        Error::Position(message.into().or_help(CHANGED))
    }

    /// Creates the error of every batch of a worker whose init function panicked.
    pub(crate) fn init(message: &str) -> Error {
        Error::Panic(format!("in `worker_init`: {message}"))
    }

    pub(crate) fn batch(indices: &[usize], source: Error) -> Error {
        let shown: Vec<String> = indices.iter().take(8).map(usize::to_string).collect();
        let more = if indices.len() > 8 { ", …" } else { "" };
        Error::Batch {
            elements: shown.join(", ") + more,
            source: Box::new(source),
        }
    }

    pub(crate) fn element(index: usize, source: Error) -> Error {
        Error::Element {
            index,
            source: Box::new(source),
        }
    }
}

impl From<ramie_core::Error> for Error {
    fn from(e: ramie_core::Error) -> Error {
        Error::Device(e.to_string())
    }
}

/// A `Result` with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
