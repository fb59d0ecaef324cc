//! All file system changes of a save. Each function is one operation that may fail, or after which
//! the program may be killed.

use crate::{Error, Result};
use ramie_core::files::parent;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

#[cfg(not(test))]
mod fault {
    /// Marks a fault injection point for tests.
    #[inline]
    pub fn reach(_: &std::path::Path, _: &'static str) -> std::io::Result<()> {
        Ok(())
    }
}
#[cfg(test)]
use super::fault;

/// Creates a directory and its parents.
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    fault::reach(folder, "make")
        .and_then(|()| std::fs::create_dir_all(folder))
        .map_err(|e| Error::io(folder, "be created", e))
}

/// Creates an empty file, replacing an existing one.
pub(crate) fn create(path: &Path) -> Result<File> {
    fault::reach(path, "create")
        .and_then(|()| File::create(path))
        .map_err(|e| Error::io(path, "be created", e))
}

/// Appends bytes to a file.
pub(crate) fn write(file: &mut File, path: &Path, bytes: &[u8]) -> Result<()> {
    fault::reach(path, "write")
        .and_then(|()| file.write_all(bytes))
        .map_err(|e| Error::io(path, "be written", e))
}

/// Flushes a file's contents to disk.
pub(crate) fn sync(file: &File, path: &Path) -> Result<()> {
    fault::reach(path, "sync")
        .and_then(|()| file.sync_all())
        .map_err(|e| Error::io(path, "be flushed to disk", e))
}

/// Flushes the contents of a file that is not open to disk.
pub(crate) fn sync_closed(path: &Path) -> Result<()> {
    // Windows flushes only files that may be written.
    let file = File::options().read(true).write(cfg!(windows)).open(path);
    sync(&file.map_err(|e| Error::io(path, "be opened", e))?, path)
}

/// Flushes a directory's entries to disk.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    let synced = fault::reach(folder, "sync folder");
    #[cfg(unix)]
    let synced = synced.and_then(|()| File::open(folder)?.sync_all());
    synced.map_err(|e| Error::io(folder, "be flushed to disk", e))
}

/// Writes a whole file and flushes it to disk.
pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = create(path)?;
    write(&mut file, path, bytes)?;
    sync(&file, path)
}

/// Renames a directory and flushes the change to disk. If the flush fails, restores the old name.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<()> {
    fault::reach(from, "rename")
        .and_then(|()| std::fs::rename(from, to))
        .map_err(|e| Error::io(to, "rename a directory to this path", e))?;
    sync_folder(parent(to)).inspect_err(|_| {
        let _ = std::fs::rename(to, from);
    })
}

/// Replaces a directory with another one and removes the old one. If the old one cannot be removed,
/// it remains under a temporary name.
pub(crate) fn replace(from: &Path, to: &Path) -> Result<()> {
    // If the system supports it, exchange both names atomically: there is never a moment without a
    // checkpoint.
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        let exchange = || renameat_with(CWD, from, CWD, to, RenameFlags::EXCHANGE);
        fault::reach(from, "exchange").map_err(|e| Error::io(to, "be replaced", e))?;
        if exchange().is_ok() {
            sync_folder(parent(to)).inspect_err(|_| {
                let _ = exchange();
            })?;
            discard(from);
            return Ok(());
        }
    }
    let aside = aside(to, ".replaced");
    make_free(&aside)?;
    rename(to, &aside)?;
    if let Err(error) = rename(from, to) {
        rename(&aside, to)?;
        return Err(error);
    }
    discard(&aside);
    Ok(())
}

/// Removes a directory that was replaced. An error does not undo the replacement, so it is only
/// logged.
fn discard(folder: &Path) {
    if let Err(error) = remove_folder(folder) {
        tracing::warn!(%error, "the checkpoint was replaced, but the old one was not removed");
    }
}

/// Removes the leftovers at a temporary path. If they cannot be removed, renames them.
pub(crate) fn make_free(path: &Path) -> Result<()> {
    remove_folder(path).or_else(|error| {
        let leftover = aside(path, &format!(".{}", super::now()));
        rename(path, &leftover).map_err(|_| error)
    })
}

/// Returns a sibling path whose name is never that of a checkpoint.
pub(crate) fn aside(path: &Path, why: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(why);
    name.push(super::TEMPORARY);
    name.into()
}

/// Removes a directory with its contents, or a file, if it exists.
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
