//! What can go wrong with data.

/// A file of data that cannot be used.
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
}

/// A `Result` with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
