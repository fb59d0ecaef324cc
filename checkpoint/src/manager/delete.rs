//! Deleting steps.

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

/// Deletes steps, or moves them away.
pub(super) struct Deleter {
    way: Way,
    background: Option<Background>,
}

/// How a step goes.
#[derive(Clone)]
struct Way {
    root: PathBuf,
    todelete: Option<ToDelete>,
    threads: usize,
}

/// A thread that deletes.
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
        let way = Way {
            root: root.to_owned(),
            todelete,
            threads,
        };
        let background = match background {
            true => Some(Background::start(way.clone())?),
            false => None,
        };
        Ok(Deleter { way, background })
    }

    /// Deletes a step: when this returns, its folder has another name at least.
    pub fn delete(&self, path: &Path) -> Result<()> {
        let Some(background) = &self.background else {
            return self.way.delete(path);
        };
        let Some(aside) = self.way.set_aside(path)? else {
            return Ok(());
        };
        // Without a thread the folder stays, and is removed by the next manager that
        // cleans up.
        if let Some(paths) = &background.paths {
            let _ = paths.send(aside);
        }
        self.check_for_errors()
    }

    /// What failed in the background since the last call.
    pub fn check_for_errors(&self) -> Result<()> {
        let failure = self.background.as_ref().map(|b| &b.failure);
        let failure = failure.and_then(|failure| lock(failure).take());
        failure.map_or(Ok(()), Err)
    }

    /// Waits until everything is deleted, and ends the thread.
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
    fn start(way: Way) -> Result<Background> {
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
            .map_err(|e| Error::io(&root, "get a thread that deletes", e))?;
        Ok(Background {
            paths: Some(paths),
            thread: Some(thread),
            failure,
        })
    }
}

impl Way {
    fn delete(&self, path: &Path) -> Result<()> {
        match self.set_aside(path)? {
            Some(aside) => self.remove(&aside),
            None => Ok(()),
        }
    }

    /// Takes a step its name, so that it is no checkpoint any more before its first file
    /// is gone. Returns what is to be removed; nothing, if it is only moved.
    fn set_aside(&self, path: &Path) -> Result<Option<PathBuf>> {
        if path.symlink_metadata().is_err() {
            return Ok(None);
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match &self.todelete {
            None => {
                let aside = aside(path, ".deleted");
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

    /// Removes a folder: its files in parallel, and then what is left.
    fn remove(&self, folder: &Path) -> Result<()> {
        let mut files = Vec::new();
        if self.threads > 1 {
            files_below(folder, &mut files);
        }
        for_each(self.threads, files, |file| remove_folder(&file))?;
        remove_folder(folder)
    }
}

/// The files in a folder and below it. What cannot be listed, cannot be removed either:
/// that says so.
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
