//! The list of existing steps.

use super::options::CheckpointManagerOptions;
use super::policies::CheckpointInfo;
use super::{Metrics, StepNames};
use crate::commit::{CommitState, Group, StepMetadata, commit_state, is_committed};
use crate::warning::warn_loudly;
use crate::{Error, Result};
use ramie_core::lock::lock;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

/// Steps known to a manager. Readers get a snapshot and never block each other.
#[derive(Clone)]
pub(super) struct Steps(Arc<Mutex<Arc<Vec<CheckpointInfo>>>>);

impl Steps {
    pub fn new(steps: Vec<CheckpointInfo>) -> Steps {
        Steps(Arc::new(Mutex::new(Arc::new(steps))))
    }

    pub fn all(&self) -> Arc<Vec<CheckpointInfo>> {
        lock(&self.0).clone()
    }

    pub fn set(&self, steps: Vec<CheckpointInfo>) {
        *lock(&self.0) = Arc::new(steps);
    }

    pub fn change(&self, f: impl FnOnce(&mut Vec<CheckpointInfo>)) {
        f(Arc::make_mut(&mut lock(&self.0)));
    }

    /// Returns the information about a step.
    pub fn get(&self, step: u64) -> Option<CheckpointInfo> {
        self.all().iter().find(|info| info.step == step).cloned()
    }
}

/// Returns the checkpoints in a directory with their paths, in ascending order of steps.
pub(super) fn committed(root: &Path, names: &StepNames) -> Result<Vec<(u64, PathBuf)>> {
    committed_of(root, names, |_| true)
}

/// Returns only the checkpoints whose steps are `wanted`; other directories are not read.
pub(super) fn committed_of(
    root: &Path,
    names: &StepNames,
    wanted: impl Fn(u64) -> bool,
) -> Result<Vec<(u64, PathBuf)>> {
    let mut steps: Vec<(u64, PathBuf)> = Vec::new();
    for (step, path) in names.find_all(root)? {
        let known = steps.last().is_some_and(|(last, _)| *last == step);
        if !known && wanted(step) && is_committed(&path)? {
            steps.push((step, path));
        }
    }
    Ok(steps)
}

/// Returns the path of a checkpoint, if it exists.
pub(super) fn find(root: &Path, names: &StepNames, step: u64) -> Result<Option<PathBuf>> {
    let found = committed_of(root, names, |other| other == step)?.pop();
    Ok(found.map(|(_, path)| path))
}

/// Returns why an existing step directory cannot be read: its commit marker is damaged.
pub(super) fn damage(root: &Path, names: &StepNames, step: u64) -> Result<Option<Error>> {
    for (_, path) in names.find_all(root)?.iter().filter(|(s, _)| *s == step) {
        if let CommitState::Damaged(why) = commit_state(path)? {
            return Ok(Some(Error::damaged(path, why)));
        }
    }
    Ok(None)
}

/// Warns about steps that were started but do not count.
fn warn_of_others(root: &Path, names: &StepNames, committed: &[(u64, PathBuf)]) -> Result<()> {
    let last = committed.last().map(|(step, _)| *step);
    let instead = match last {
        Some(last) => format!("the last valid step is {last}"),
        None => "there is no valid step".to_owned(),
    };
    for (step, path) in names.find_all(root)? {
        if committed.iter().any(|(other, _)| *other == step) {
            continue;
        }
        let state = commit_state(&path)?;
        let path = path.display();
        match state {
            CommitState::Damaged(why) => warn_loudly(&format!(
                "{path}: step {step} is ignored: {why}; {instead}\n  help: the save was \
                 interrupted at the last moment, or the file was damaged; use `ramie ckpt verify` \
                 to check the other steps"
            )),
            _ if last < Some(step) => {
                tracing::warn!(
                    "{path}: step {step} is ignored: its save is not complete; \
                                {instead}"
                );
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the last checkpoint in a directory, if any.
pub(super) fn last(root: &Path, names: &StepNames) -> Result<Option<u64>> {
    for (step, path) in names.find_all(root)?.into_iter().rev() {
        if is_committed(&path)? {
            return Ok(Some(step));
        }
    }
    Ok(None)
}

/// Loads the information about the checkpoints in a directory that policies need.
pub(super) fn load(
    root: &Path,
    options: &CheckpointManagerOptions,
    group: &Group,
) -> Result<Vec<CheckpointInfo>> {
    let steps = if options.single_host_load_and_broadcast {
        broadcast(root, options, group)?
    } else {
        committed(root, &options.names)?
    };
    warn_of_others(root, &options.names, &steps)?;
    let info = |(step, path): (u64, PathBuf)| {
        // A step exists even if its metadata cannot be read; policies then do without it.
        let metrics = Metrics::of(&path).unwrap_or_else(|error| {
            warn_loudly(&format!(
                "{error}\n  policies see step {step} without metrics, and the best step is \
                 unknown"
            ));
            None
        });
        CheckpointInfo {
            step,
            time: time(&path),
            metrics,
        }
    };
    Ok(steps.into_iter().map(info).collect())
}

/// Returns the checkpoints that the primary process lists.
fn broadcast(
    root: &Path,
    options: &CheckpointManagerOptions,
    group: &Group,
) -> Result<Vec<(u64, PathBuf)>> {
    let mut found = Ok(Vec::new());
    if group.process().is_primary() {
        found = committed(root, &options.names);
    }
    let found = group.agree("list", found)?;
    let lines = found.iter().map(|(step, path)| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        format!("{step} {name}\n")
    });
    let text = group.broadcast("steps", lines.collect::<String>().as_bytes())?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let line = |line: &str| {
        let (step, name) = line.split_once(' ')?;
        Some((step.parse().ok()?, root.join(name)))
    };
    Ok(text.lines().filter_map(line).collect())
}

/// Returns the approximate time when a checkpoint was saved.
fn time(path: &Path) -> SystemTime {
    let metadata = StepMetadata::of(path).ok().flatten();
    let committed = metadata.and_then(|m| m.committed());
    let modified = || path.metadata().and_then(|m| m.modified()).ok();
    committed.or_else(modified).unwrap_or(UNIX_EPOCH)
}
