//! Opening paths given by the caller, with errors if a file or a directory is expected.

use crate::{Error, Result};
use ramie_core::files::{self, Message, Problem};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Opens a regular file.
pub(crate) fn open(path: &Path) -> Result<File> {
    files::open(path).map_err(|e| unreadable(path, e))
}

/// Reads a whole regular file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    files::read(path).map_err(|e| unreadable(path, e))
}

/// Reads a whole regular file; `None` if it does not exist.
pub(crate) fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>> {
    match files::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(unreadable(path, e)),
    }
}

/// Returns the error of a file that cannot be read.
pub(crate) fn unreadable(path: &Path, e: io::Error) -> Error {
    match e.kind() {
        ErrorKind::IsADirectory => Error::format(
            path,
            Message::new("is a directory, expected a file").help(
                "pass a file in it, or use `commit::restore_item` or `CheckpointManager` for \
                a directory in Orbax's format",
            ),
        ),
        _ => Error::io(path, "be read", e),
    }
}

/// Returns the error of a file whose header is rejected.
pub(crate) fn rejected(path: &Path, problem: Problem) -> Error {
    match problem.with_help() {
        Problem::Io(e) => Error::io(path, "be read", e),
        Problem::File(message) => Error::format(path, message),
        Problem::Tensor(name, message) => Error::tensor(path, &name, message),
    }
}

/// Returns an error unless the path is a directory.
pub(crate) fn expect_folder(path: &Path) -> Result<()> {
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(Error::format(
            path,
            Message::new("is a file, expected a checkpoint directory").help(
                "use `safetensors::load_state` for safetensors files, \
                `serialization::load_state` for Flax's msgpack files",
            ),
        )),
        Err(e) if e.kind() == ErrorKind::NotFound => Err(Error::format(
            path,
            Message::new("the directory does not exist").help(
                "check the path; a run has a directory per step, and a step has one per item",
            ),
        )),
        Err(e) => Err(Error::io(path, "be read", e)),
    }
}
