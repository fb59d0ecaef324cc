//! What can go wrong with data.

/// Why data cannot be read, combined or handed on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file as a whole: it cannot be read or decompressed, or lacks rows.
    #[error("{file}: {message}")]
    File {
        /// The file.
        file: String,
        /// What is wrong, and what to do.
        message: String,
    },
    /// One row of a table.
    #[error("{file}, row {row}: {message}")]
    Row {
        /// The file.
        file: String,
        /// The row, counted from 1 as editors count lines.
        row: usize,
        /// What was found, and what was expected.
        message: String,
    },
    /// One record of a file that has no lines.
    #[error("{file}, record {record}: {message}")]
    Record {
        /// The file.
        file: String,
        /// The record, counted from 0.
        record: usize,
        /// What was found, and what was expected.
        message: String,
    },
    /// One element of a source.
    #[error("element {index}: {source}")]
    Element {
        /// The element's index in the source that was asked.
        index: usize,
        /// What is wrong with it.
        source: Box<Error>,
    },
    /// A batch that could not be made of its elements.
    #[error("the batch of the elements {elements}: {source}")]
    Batch {
        /// The elements' indices, the first ones where there are many.
        elements: String,
        /// What is wrong with the batch.
        source: Box<Error>,
    },
    /// An index that a source does not have.
    #[error("there is no element {index}: the source has {len}")]
    OutOfRange {
        /// The index.
        index: usize,
        /// How many elements there are.
        len: usize,
    },
    /// Items that make no batch.
    #[error("{0}")]
    Collate(String),
    /// A function of the caller's panicked while it made an element.
    #[error("panicked: {0}")]
    Panic(String),
    /// A batch took longer than the loader's timeout.
    #[error("no batch came within {0:?}; ask again to wait on")]
    Timeout(std::time::Duration),
    /// A saved position that does not fit what it is restored into.
    #[error("the saved position does not fit: {0}")]
    Position(String),
    /// A batch could not be put on a device.
    #[error("to the device: {0}")]
    Device(String),
    /// A function of the caller's failed; this is what it said.
    #[error("{0}")]
    Other(String),
}

impl Error {
    /// An error in the words of the caller.
    ///
    /// ```
    /// let e = ramie_data::Error::other("the label is missing");
    /// assert_eq!(e.to_string(), "the label is missing");
    /// ```
    pub fn other(message: impl std::fmt::Display) -> Error {
        Error::Other(message.to_string())
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
