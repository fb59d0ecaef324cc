//! Atomic replacement of files.

use crate::{Error, Result};
use ramie_core::files;
use ramie_core::files::Message;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Writes a file and replaces `path` with it.
///
/// The bytes go to a temporary file in the same directory, which is renamed only after it was
/// flushed to disk. If writing fails or the program is killed, an existing file is unchanged.
pub(crate) fn replace(path: &Path, write: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
    let fail = |action| move |e: io::Error| Error::io(path, action, e);
    if path.file_name().is_none() {
        let message = Message::new("does not name a file").help("append a file name to the path");
        return Err(Error::format(path, message));
    }
    let mut temporary =
        files::temporary_beside(path).map_err(fail("create a temporary file next to it"))?;
    let file = temporary.as_file_mut();
    write(file)?;
    file.flush().map_err(fail("be written"))?;
    file.sync_all().map_err(fail("be flushed to disk"))?;
    temporary
        .persist(path)
        .map_err(|e| Error::io(path, "be replaced", e.error))?;
    // The new name must survive a power failure, too.
    #[cfg(unix)]
    File::open(files::parent(path))
        .and_then(|folder| folder.sync_all())
        .map_err(fail("flush its directory to disk"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(path: &Path, bytes: &[u8]) -> Result<()> {
        replace(path, |file| {
            file.write_all(bytes)
                .map_err(|e| Error::io(path, "be written", e))
        })
    }

    #[test]
    fn a_failed_save_leaves_the_old_file_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        bytes(&path, b"old").unwrap();
        let error = replace(&path, |file| {
            file.write_all(b"half of the n").unwrap();
            Err(Error::format(&path, "the device failed"))
        });
        let expected = Message::new(format!("{}: the device failed", path.display()))
            .help("the checkpoint is damaged; restore another step");
        assert_eq!(error.unwrap_err().to_string(), expected.to_string());
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        bytes(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn what_a_killed_save_left_is_no_obstacle() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        bytes(&path, b"old").unwrap();
        std::fs::write(folder.path().join(".stateAbC123.tmp"), b"half").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        bytes(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = bytes(Path::new("/no/such/folder/state"), b"x").unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("/no/such/folder/state: cannot create a temporary file next to it: "),
            "{text}"
        );
    }
}
