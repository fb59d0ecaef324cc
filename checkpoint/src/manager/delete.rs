//! Deletion of steps.

use super::options::ToDelete;
use crate::commit::{aside, for_each, make_folder, remove_folder, rename};
use crate::warning::warn_loudly;
use crate::{Error, Result};
use ramie_core::lock::lock;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

/// End of the name of a step that is being deleted, before that of temporary directories.
pub(super) const DELETED: &str = ".deleted";

/// Deletes steps or moves them away.
pub(super) struct Deleter {
    way: DeletionSettings,
    background: Option<Background>,
}

/// Settings of a deletion.
#[derive(Clone)]
struct DeletionSettings {
    root: PathBuf,
    todelete: Option<ToDelete>,
    threads: usize,
}

/// Thread that deletes directories.
struct Background {
    paths: Option<Sender<PathBuf>>,
    thread: Option<JoinHandle<()>>,
    failure: Arc<Mutex<Option<Error>>>,
}

impl Deleter {
    pub fn new(
        root: &Path,
        todelete: Option<ToDelete>,
        threads: usize,
        background: bool,
    ) -> Result<Deleter> {
        let way = DeletionSettings {
            root: root.to_owned(),
            todelete,
            threads,
        };
        let background = if background {
            Some(Background::start(way.clone())?)
        } else {
            None
        };
        Ok(Deleter { way, background })
    }

    /// Deletes a step. When this returns, the directory has at least been renamed.
    pub fn delete(&self, path: &Path) -> Result<()> {
        let Some(background) = &self.background else {
            return self.way.delete(path);
        };
        let Some(aside) = self.way.set_aside(path)? else {
            return Ok(());
        };
        // Without a thread, the directory stays until a manager with `cleanup_tmp_directories`
        // removes it.
        if let Some(paths) = &background.paths {
            let _ = paths.send(aside);
        }
        self.check_for_errors()
    }

    /// Returns the background error since the last call, if any.
    pub fn check_for_errors(&self) -> Result<()> {
        let failure = self.background.as_ref().map(|b| &b.failure);
        let failure = failure.and_then(|failure| lock(failure).take());
        failure.map_or(Ok(()), Err)
    }

    /// Stores an error as if a background deletion had failed.
    #[cfg(test)]
    pub fn fail(&self, error: Error) {
        if let Some(background) = &self.background {
            *lock(&background.failure) = Some(error);
        }
    }

    /// Waits for all deletions, then ends the thread.
    pub fn close(&mut self) -> Result<()> {
        if let Some(background) = &mut self.background {
            background.paths = None;
            if let Some(thread) = background.thread.take() {
                let _ = thread.join();
            }
        }
        self.check_for_errors()
    }
}

impl Drop for Deleter {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            warn_loudly(&error.to_string());
        }
    }
}

impl Background {
    fn start(way: DeletionSettings) -> Result<Background> {
        let (paths, received) = channel::<PathBuf>();
        let failure = Arc::new(Mutex::new(None));
        let failed = failure.clone();
        let root = way.root.clone();
        let work = move || {
            for path in received {
                if let Err(error) = way.remove(&path) {
                    *lock(&failed) = Some(error);
                }
            }
        };
        let thread = std::thread::Builder::new().name("checkpoint delete".into());
        let thread = thread
            .spawn(work)
            .map_err(|e| Error::io(&root, "spawn the deletion thread", e))?;
        Ok(Background {
            paths: Some(paths),
            thread: Some(thread),
            failure,
        })
    }
}

impl DeletionSettings {
    fn delete(&self, path: &Path) -> Result<()> {
        match self.set_aside(path)? {
            Some(aside) => self.remove(&aside),
            None => Ok(()),
        }
    }

    /// Renames a step first, so that it stops being a checkpoint before its first file is removed.
    /// Returns the directory to remove, or `None` if the step was only moved.
    fn set_aside(&self, path: &Path) -> Result<Option<PathBuf>> {
        if path.symlink_metadata().is_err() {
            return Ok(None);
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match &self.todelete {
            None => {
                let aside = aside(path, DELETED);
                remove_folder(&aside)?;
                rename(path, &aside)?;
                Ok(Some(aside))
            }
            Some(ToDelete::Subdirectory(folder)) => {
                let folder = self.root.join(folder);
                make_folder(&folder)?;
                let to = folder.join(&*name);
                remove_folder(&to)?;
                rename(path, &to)?;
                Ok(None)
            }
            Some(ToDelete::Path(folder)) => {
                make_folder(folder)?;
                let now = SystemTime::now().duration_since(UNIX_EPOCH);
                let now = now.unwrap_or_default().as_micros();
                rename(path, &folder.join(format!("{name}-{now}")))?;
                Ok(None)
            }
        }
    }

    /// Removes a directory: its files in parallel, then the rest.
    fn remove(&self, folder: &Path) -> Result<()> {
        let mut files = Vec::new();
        // Of a symbolic link, only the link is removed.
        let is_folder = folder.symlink_metadata().is_ok_and(|m| m.is_dir());
        if self.threads > 1 && is_folder {
            files_below(folder, &mut files);
        }
        for_each(self.threads, files, |file| remove_folder(&file))?;
        remove_folder(folder)
    }
}

/// Collects the files below a directory. Directories that cannot be listed are skipped: removing
/// them then reports the error.
fn files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files_below(&entry.path(), files),
            _ => files.push(entry.path()),
        }
    }
}
