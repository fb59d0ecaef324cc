//! Everything that a save changes in the file system. Each function is one step that
//! may fail, or be the last before the program is killed.

use crate::atomic::parent;
use crate::{Error, Result};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

#[cfg(not(test))]
mod fault {
    /// Tests have steps fail here.
    #[inline]
    pub fn reach(_: &std::path::Path, _: &'static str) -> std::io::Result<()> {
        Ok(())
    }
}
#[cfg(test)]
use super::fault;

/// Makes a folder, and those above it.
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    fault::reach(folder, "make")
        .and_then(|()| std::fs::create_dir_all(folder))
        .map_err(|e| Error::io(folder, "be made", e))
}

/// Makes an empty file, in place of the one that may be there.
pub(crate) fn create(path: &Path) -> Result<File> {
    fault::reach(path, "create")
        .and_then(|()| File::create(path))
        .map_err(|e| Error::io(path, "be made", e))
}

/// Appends bytes to a file.
pub(crate) fn write(file: &mut File, path: &Path, bytes: &[u8]) -> Result<()> {
    fault::reach(path, "write")
        .and_then(|()| file.write_all(bytes))
        .map_err(|e| Error::io(path, "be written", e))
}

/// Puts a file's bytes on the disk.
pub(crate) fn sync(file: &File, path: &Path) -> Result<()> {
    fault::reach(path, "sync")
        .and_then(|()| file.sync_all())
        .map_err(|e| Error::io(path, "be put on the disk", e))
}

/// Puts the names in a folder on the disk.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    let synced = fault::reach(folder, "sync folder");
    #[cfg(unix)]
    let synced = synced.and_then(|()| File::open(folder)?.sync_all());
    synced.map_err(|e| Error::io(folder, "be put on the disk", e))
}

/// Writes a whole file, and puts it on the disk.
pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = create(path)?;
    write(&mut file, path, bytes)?;
    sync(&file, path)
}

/// Gives a folder another name, and puts that on the disk. If that fails, it has its
/// former name again.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<()> {
    fault::reach(from, "rename")
        .and_then(|()| std::fs::rename(from, to))
        .map_err(|e| Error::io(to, "be renamed to", e))?;
    sync_folder(parent(to)).inspect_err(|_| {
        let _ = std::fs::rename(to, from);
    })
}

/// Puts a folder in the place of another one, which is then removed.
pub(crate) fn replace(from: &Path, to: &Path) -> Result<()> {
    // Where the system can, both change their names at once, and there is no moment
    // without a checkpoint.
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        let exchange = || renameat_with(CWD, from, CWD, to, RenameFlags::EXCHANGE);
        fault::reach(from, "exchange").map_err(|e| Error::io(to, "be replaced", e))?;
        if exchange().is_ok() {
            sync_folder(parent(to)).inspect_err(|_| {
                let _ = exchange();
            })?;
            return remove_folder(from);
        }
    }
    let aside = aside(to, ".replaced");
    remove_folder(&aside)?;
    rename(to, &aside)?;
    if let Err(error) = rename(from, to) {
        rename(&aside, to)?;
        return Err(error);
    }
    remove_folder(&aside)
}

/// A name beside a checkpoint's that is none of a checkpoint.
pub(crate) fn aside(path: &Path, why: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(why);
    name.push(super::TEMPORARY);
    name.into()
}

/// Removes a folder with everything in it, or a file, if it is there.
pub(crate) fn remove_folder(folder: &Path) -> Result<()> {
    let removed = fault::reach(folder, "remove").and_then(|()| {
        if folder.symlink_metadata()?.is_dir() {
            std::fs::remove_dir_all(folder)
        } else {
            std::fs::remove_file(folder)
        }
    });
    match removed {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::io(folder, "be removed", e)),
        _ => Ok(()),
    }
}
