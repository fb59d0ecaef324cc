//! The folder of a run: its exclusive use, and earlier runs, which are moved aside and never deleted.

use crate::history;
use crate::{Error, Result, Resume};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Name of the folder of checkpoints in the folder of a run.
pub(crate) const CHECKPOINTS: &str = "checkpoints";
/// Name of the folder of the best state.
pub(crate) const BEST: &str = "best";
/// Name of the folder of TensorBoard's files.
pub(crate) const EVENTS: &str = "tensorboard";

/// The lock of a folder, held until the run ends. `None` on file systems without locks.
pub(crate) type Lock = Option<File>;

/// Creates the folder of a run and locks it. Moves an earlier run aside that the new one does not continue. Returns the
/// lock, and a message for each run or file that it moved.
///
/// # Errors
/// Returns an error if the folder cannot be created or moved, or if another run uses it.
pub(crate) fn prepare(folder: &Path, resume: Resume) -> Result<(Lock, Vec<String>)> {
    let mut lock = create(folder)?;
    let mut messages = Vec::new();
    let has_checkpoint = has_step(&folder.join(CHECKPOINTS));
    let has_metrics = fs::metadata(folder.join(history::FILE)).is_ok_and(|m| m.len() > 0);
    let has_best = has_step(&folder.join(BEST));
    if resume == Resume::Never && has_checkpoint {
        // A symbolic link remains and points to the new folder.
        let resolved = fs::canonicalize(folder).map_err(not_moved(folder))?;
        if std::env::current_dir().is_ok_and(|current| current.starts_with(&resolved)) {
            let reason = io::Error::other("it contains the current directory");
            return Err(not_moved(folder)(reason));
        }
        let to = set_aside(&resolved)?;
        messages.push(format!("Moved the earlier run to {}", to.display()));
        drop(lock);
        lock = create(&resolved)?;
    } else if !has_checkpoint {
        // Without a checkpoint there is no run to continue, but it has metrics.
        let entries = [
            (has_metrics, history::FILE),
            (has_metrics, EVENTS),
            (has_best, BEST),
        ];
        for (_, name) in entries.into_iter().filter(|entry| entry.0) {
            let from = folder.join(name);
            if from.exists() {
                let (to, from) = (set_aside(&from)?, from.display());
                messages.push(format!(
                    "Moved {from} of an earlier run without a checkpoint to {}",
                    to.display()
                ));
            }
        }
    }
    Ok((lock, messages))
}

/// Returns the first path of the form `path.1`, `path.2`, … that does not exist.
pub(crate) fn free_name(path: &Path) -> PathBuf {
    let named = |n: u64| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{n}"));
        PathBuf::from(name)
    };
    let mut names = (1..).map(named);
    let free = names.find(|name| name.symlink_metadata().is_err());
    free.expect("one of all numbers is free")
}

/// Renames a file or a folder to a free name, which it returns.
fn set_aside(path: &Path) -> Result<PathBuf> {
    let to = free_name(path);
    fs::rename(path, &to).map_err(not_moved(path))?;
    Ok(to)
}

/// Creates and locks a folder.
fn create(folder: &Path) -> Result<Lock> {
    fs::create_dir_all(folder).map_err(|error| Error::Folder {
        path: folder.to_owned(),
        error,
    })?;
    // The system releases the lock when the process ends, also after a kill.
    let Ok(lock) = lock_file(folder) else {
        return Ok(None);
    };
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => Err(Error::InUse {
            folder: folder.to_owned(),
        }),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Opens the file whose lock is that of a folder: the folder itself.
#[cfg(not(windows))]
fn lock_file(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

/// Opens the file whose lock is that of a folder: a file beside it, because Windows locks no folders, and renames
/// none that contains an open file.
#[cfg(windows)]
fn lock_file(folder: &Path) -> io::Result<File> {
    let folder = fs::canonicalize(folder)?;
    let mut name = std::ffi::OsString::from(".");
    name.push(folder.file_name().unwrap_or_default());
    name.push(".lock");
    let mut options = File::options();
    options.create(true).write(true).truncate(false);
    options.open(folder.with_file_name(name))
}

/// Returns whether a folder contains a checkpoint of a step.
fn has_step(folder: &Path) -> bool {
    let Ok(mut entries) = fs::read_dir(folder) else {
        return false;
    };
    let is_step = |name: &str| name.parse::<u64>().is_ok();
    entries.any(|entry| entry.is_ok_and(|e| e.file_name().to_str().is_some_and(is_step)))
}

fn not_moved(path: &Path) -> impl FnOnce(io::Error) -> Error + '_ {
    move |error| Error::Move {
        path: path.to_owned(),
        error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_count_from_the_first_free_number() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run.v2");
        for n in 1..4 {
            assert_eq!(free_name(&run), folder.path().join(format!("run.v2.{n}")));
            fs::write(free_name(&run), "").unwrap();
        }
    }

    #[test]
    fn a_link_to_a_folder_remains() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("disk"), folder.path().join("run"));
        fs::create_dir_all(real.join("checkpoints/7")).unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&real, &link).unwrap();
            let (lock, messages) = prepare(&link, Resume::Never).unwrap();
            assert!(lock.is_some());
            assert!(messages[0].ends_with("disk.1"), "{messages:?}");
            assert!(link.is_symlink() && fs::read_dir(&link).unwrap().next().is_none());
            assert!(folder.path().join("disk.1/checkpoints/7").is_dir());
        }
    }

    #[test]
    fn the_current_directory_is_not_moved() {
        let current = std::env::current_dir().unwrap();
        let checkpoints = current.join(CHECKPOINTS);
        fs::create_dir_all(checkpoints.join("1")).unwrap();
        let refused = prepare(Path::new("."), Resume::Never).map(drop);
        fs::remove_dir_all(checkpoints).unwrap();
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("it contains the current directory"), "{text}");
    }
}
