//! `Problem`: why a file is rejected.

use std::io;

/// Reasons why a file is rejected. The caller adds the path of the file.
#[derive(Debug)]
pub enum Problem {
    /// The file cannot be read.
    Io(io::Error),
    /// The file does not have the format, or is damaged.
    File(String),
    /// One array is invalid: its name, and the reason.
    Tensor(String, String),
}
