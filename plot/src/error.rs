//! The error type of this crate.

use ramie_core::files::WithHelp;
use std::path::{Path, PathBuf};

/// A picture cannot be written.
///
/// Its `Debug` form is the message, so that `unwrap` and `main` print a readable error.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be created or written.
    #[error("{}: the picture cannot be written: {}", path.display(), WithHelp(source))]
    Write {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The file name ends neither in `.png` nor in `.svg`.
    #[error("{}: the name of a picture must end in {endings}", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The endings that are supported.
        endings: &'static str,
    },
}

ramie_core::debug_is_message!(Error);

/// Result of writing a picture.
pub type Result<T = ()> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn write(path: &Path, source: std::io::Error) -> Error {
        let path = path.to_path_buf();
        Error::Write { path, source }
    }
}
