//! Opening paths given by the caller, with errors if a file or a directory is expected.

use crate::{Error, Result};
use ramie_core::files;
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
            "is a folder, and a file is expected\n  help: name a file in it; a folder in Orbax's \
             layout is restored with `pytree::StandardCheckpointer` or a `CheckpointManager`",
        ),
        _ => Error::io(path, "be read", e),
    }
}

/// Returns an error unless the path is a directory.
pub(crate) fn expect_folder(path: &Path) -> Result<()> {
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(Error::format(
            path,
            "is a file, and the folder of a checkpoint is expected\n  help: \
             `safetensors::load_state` reads safetensors files, `serialization::load_state` msgpack \
             files of Flax",
        )),
        Err(e) if e.kind() == ErrorKind::NotFound => Err(Error::format(
            path,
            "there is no such folder\n  help: check the path; a run has a folder for each step, and \
             a step one for each item",
        )),
        Err(e) => Err(Error::io(path, "be read", e)),
    }
}
