//! The checkpoints of a run: one folder for each step.
//!
//! ```
//! use ramie_checkpoint::items::{Composite, JsonRestore, JsonSave};
//! use ramie_checkpoint::manager::{CheckpointManager, CheckpointManagerOptions};
//! # fn main() -> ramie_checkpoint::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let run = folder.path().join("run");
//! let options = CheckpointManagerOptions::new().save_interval_steps(10).max_to_keep(2);
//! let manager = CheckpointManager::new(&run, options)?;
//! for step in 0..35 {
//!     let (weights, settings) = (vec![step as f32; 3], "narrow");
//!     // … a step of training …
//!     let items = Composite::new()
//!         .item("weights", JsonSave::new(&weights))
//!         .item("settings", JsonSave::new(settings));
//!     manager.save(step, &items)?;
//! }
//! manager.wait_until_finished()?;
//! assert_eq!(manager.all_steps(), [20, 30]);
//!
//! let items = Composite::new()
//!     .item("weights", JsonRestore::<Vec<f32>>::new())
//!     .item("settings", JsonRestore::<String>::new());
//! let (weights, settings) = manager.restore_latest(items)?;
//! assert_eq!((weights[0], settings.as_str()), (30.0, "narrow"));
//! # Ok(())
//! # }
//! ```
//!
//! Folders are Orbax's: `<step>/<item>/…`, with `_CHECKPOINT_METADATA` and
//! `commit_success.txt`; metrics are the item `metrics`, and what is said once about a
//! run is in `metadata/_ROOT_METADATA`. Beside them Ramie writes `_RAMIE_MANIFEST`, the
//! list of a step's files with their checksums, which are compared when it is restored.
//!
//! A step counts when it is whole: when its folder has the name of a step and was
//! committed, by Ramie or by Orbax. What a program leaves that is killed while it saves
//! has another name, and counts for nothing.

mod delete;
#[cfg(test)]
mod fault_tests;
mod metrics;
mod names;
mod options;
pub mod policies;
mod preempted;
mod root_metadata;
mod save;
mod steps;
mod wait;

pub use metrics::Metrics;
pub use names::StepNames;
pub use options::CheckpointManagerOptions;
pub use save::StepOptions;
pub use wait::{CheckpointsIterator, WaitOptions, checkpoints_iterator, wait_for_new_checkpoint};

use crate::commit::{
    Group, ItemReader, SaveReport, Saver, StepMetadata, TEMPORARY, default_threads, make_folder,
    remove_folder,
};
use crate::file::expect_folder;
use crate::items::{RestoreArgs, missing, restore_checked};
use crate::{Error, Result};
use delete::Deleter;
use policies::{PreservationPolicy, SaveDecisionPolicy, worse_first};
use preempted::Preempted;
use ramie_core::lock::lock;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use steps::Steps;

/// The name of an item that was not given one; Orbax's.
const DEFAULT_ITEM: &str = "default";

/// Saves, keeps and restores the steps of a run: `orbax.checkpoint.CheckpointManager`.
///
/// A [`save`](CheckpointManager::save) returns when it has a snapshot, and is written in
/// the background; the next one waits for it. What fails there is returned by the next
/// call of [`save`](CheckpointManager::save),
/// [`wait_until_finished`](CheckpointManager::wait_until_finished),
/// [`check_for_errors`](CheckpointManager::check_for_errors) or
/// [`close`](CheckpointManager::close), and the steps that were there are still there
/// then. Dropped, a manager waits.
///
/// Of several processes all make one, and all call what saves, deletes and restores.
pub struct CheckpointManager {
    root: PathBuf,
    options: CheckpointManagerOptions,
    save_decision: Arc<dyn SaveDecisionPolicy>,
    preservation: Arc<dyn PreservationPolicy>,
    metadata: Map<String, Value>,
    /// The steps, the one that is being saved among them.
    steps: Steps,
    deleter: Arc<Mutex<Deleter>>,
    saver: Saver,
    saving: Mutex<()>,
    preempted: Preempted,
    /// Where processes meet that the caller waits for.
    caller: Group,
    /// Where they meet in the background.
    background: Arc<Group>,
}

/// Making one.
impl CheckpointManager {
    /// The manager of the steps in a folder.
    ///
    /// # Errors
    /// If the folder cannot be made or read.
    ///
    /// # Panics
    /// If options contradict each other.
    #[track_caller]
    pub fn new(
        folder: impl Into<PathBuf>,
        options: CheckpointManagerOptions,
    ) -> Result<CheckpointManager> {
        CheckpointManager::open(folder.into(), options, None)
    }

    /// [`new`](CheckpointManager::new) with what is to be said once about the run. It is
    /// written if nothing is there yet; what is there stays.
    ///
    /// ```
    /// use ramie_checkpoint::manager::{CheckpointManager, CheckpointManagerOptions};
    /// # fn main() -> ramie_checkpoint::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let run = folder.path().join("run");
    /// let metadata = [("language".to_string(), "en".into())].into_iter().collect();
    /// let options = CheckpointManagerOptions::new();
    /// let manager = CheckpointManager::with_metadata(&run, options, metadata)?;
    /// assert_eq!(manager.root_metadata()["language"], "en");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the folder cannot be made or read, or the metadata not be written.
    ///
    /// # Panics
    /// If options contradict each other.
    #[track_caller]
    pub fn with_metadata(
        folder: impl Into<PathBuf>,
        options: CheckpointManagerOptions,
        metadata: Map<String, Value>,
    ) -> Result<CheckpointManager> {
        CheckpointManager::open(folder.into(), options, Some(metadata))
    }

    #[track_caller]
    fn open(
        root: PathBuf,
        options: CheckpointManagerOptions,
        metadata: Option<Map<String, Value>>,
    ) -> Result<CheckpointManager> {
        let (save_decision, preservation) = (options.save_decision(), options.preservation());
        let group = |kind| {
            let name = format!("{kind} {}", root.to_string_lossy());
            Group::new(&name, &options.saver.multiprocessing, options.saver.timeout)
        };
        let (caller, background) = (group("manager")?, Arc::new(group("save")?));
        let prepared = match caller.process().is_primary() {
            true => prepare(&root, &options, metadata.as_ref()),
            false => Ok(()),
        };
        caller.agree("prepare", prepared)?;
        let metadata = root_metadata::read(&root)?.or(metadata).unwrap_or_default();
        let threads = options.num_deletion_threads.unwrap_or_else(default_threads);
        let deleter = Deleter::new(
            &root,
            options.todelete.clone(),
            threads,
            options.enable_background_delete && !options.read_only,
        )?;
        Ok(CheckpointManager {
            steps: Steps::new(steps::load(&root, &options, &caller)?),
            deleter: Arc::new(Mutex::new(deleter)),
            saver: Saver::new(options.saver.clone()),
            saving: Mutex::new(()),
            preempted: Preempted::watch(caller.meeting()),
            root,
            options,
            save_decision,
            preservation,
            metadata,
            caller,
            background,
        })
    }
}

/// Makes the folder ready, in the primary process.
fn prepare(
    root: &Path,
    options: &CheckpointManagerOptions,
    metadata: Option<&Map<String, Value>>,
) -> Result<()> {
    if options.read_only {
        return Ok(());
    }
    if root.exists() {
        expect_folder(root)?;
    }
    if options.create {
        make_folder(root)?;
    } else if !root.is_dir() {
        return Err(Error::format(
            root,
            "there is no such folder\n  help: make it, or leave `create` as it is",
        ));
    }
    if options.cleanup_tmp_directories {
        let failed = |e| Error::io(root, "be listed", e);
        for entry in std::fs::read_dir(root).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.contains(TEMPORARY) && path.is_dir() {
                remove_folder(&path)?;
            }
        }
    }
    match metadata {
        Some(metadata) if options.save_root_metadata => root_metadata::write_once(root, metadata),
        _ => Ok(()),
    }
}

/// The steps.
impl CheckpointManager {
    /// The folder of the run.
    pub fn directory(&self) -> &Path {
        &self.root
    }

    /// The options.
    pub fn options(&self) -> &CheckpointManagerOptions {
        &self.options
    }

    /// The steps in order, with the one that is being saved. What another program has
    /// changed since is seen after a [`reload`](CheckpointManager::reload).
    pub fn all_steps(&self) -> Vec<u64> {
        let mut steps: Vec<u64> = self.steps.all().iter().map(|info| info.step).collect();
        steps.sort_unstable();
        steps
    }

    /// The step that was saved last, or, if this manager has saved none, the greatest;
    /// nothing, if there is none.
    pub fn latest_step(&self) -> Option<u64> {
        self.steps.all().last().map(|info| info.step)
    }

    /// Returns the step with the best metrics, as `best_fn` and `best_mode` say; without a
    /// `best_fn` the last one. `None` if there is no step, or none with metrics.
    ///
    /// # Errors
    /// If the metrics of a step cannot be read: it may be the best.
    pub fn best_step(&self) -> Result<Option<u64>> {
        let Some(best_fn) = &self.options.best_fn else {
            return Ok(self.latest_step());
        };
        let mut metrics = Vec::new();
        for info in self.steps.all().iter() {
            // Metrics that could not be read at first are tried again.
            let own = match &info.metrics {
                Some(own) => Some(own.clone()),
                None => steps::read_metrics(&self.step_path(info.step))?,
            };
            metrics.extend(own.map(|own| (info.step, best_fn(&own))));
        }
        let mode = self.options.best_mode;
        let best = metrics
            .into_iter()
            .max_by(|a, b| worse_first(a.1, b.1, mode));
        Ok(best.map(|(step, _)| step))
    }

    /// Reads the steps of the folder once more.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn reload(&self) -> Result<()> {
        let steps = steps::load(&self.root, &self.options, &self.caller)?;
        self.steps.set(steps);
        Ok(())
    }

    /// Where a step is, or would be saved.
    pub fn step_path(&self, step: u64) -> PathBuf {
        let found = steps::find(&self.root, &self.options.names, step);
        let path = || self.root.join(self.options.names.name(step));
        found.ok().flatten().unwrap_or_else(path)
    }

    /// What was measured at a step; nothing, if nothing was.
    ///
    /// # Errors
    /// If there is no such step, or its metrics are damaged.
    pub fn metrics(&self, step: u64) -> Result<Option<Metrics>> {
        self.metrics_in(&self.reader(step)?, step)
    }

    fn metrics_in(&self, reader: &ItemReader, step: u64) -> Result<Option<Metrics>> {
        let item = reader.subfolder(steps::METRICS)?;
        if !item.contains(steps::METRICS) {
            return Ok(self.steps.get(step).and_then(|info| info.metrics));
        }
        let bytes = item.read(steps::METRICS)?;
        steps::metrics_of(&item.path(steps::METRICS)?, &bytes).map(Some)
    }

    /// What a step says of itself, with its metrics.
    ///
    /// # Errors
    /// If there is no such step, or its metadata are damaged.
    pub fn metadata(&self, step: u64) -> Result<StepMetadata> {
        let reader = self.reader(step)?;
        let mut metadata = StepMetadata::read(&reader)?.unwrap_or_default();
        if let Some(metrics) = self.metrics_in(&reader, step)? {
            metadata.metrics = metrics.into_map();
        }
        Ok(metadata)
    }

    /// What was said once about the run.
    pub fn root_metadata(&self) -> &Map<String, Value> {
        &self.metadata
    }

    /// The names of a step's items, in order, with `metrics` if it has any.
    ///
    /// # Errors
    /// If there is no such step.
    pub fn item_names(&self, step: u64) -> Result<Vec<String>> {
        self.reader(step)?.subfolders()
    }
}

/// Restoring.
impl CheckpointManager {
    /// Restores a step: its one item, or those of a
    /// [`Composite`](crate::items::Composite).
    ///
    /// Files are compared with what was written. If the step is still being saved, this
    /// waits for it.
    ///
    /// # Errors
    /// If there is no such step, it has no such items, or a file is missing, damaged
    /// ([`Error::Damaged`]), cannot be read, or holds something else. The failure of a
    /// save that goes on.
    pub fn restore<R: RestoreArgs>(&self, step: u64, args: R) -> Result<R::Item> {
        restore_from(&self.reader(step)?, args)
    }

    /// [`restore`](CheckpointManager::restore) of the last step.
    ///
    /// # Errors
    /// As [`restore`](CheckpointManager::restore); and if there is no step.
    pub fn restore_latest<R: RestoreArgs>(&self, args: R) -> Result<R::Item> {
        match self.latest_step() {
            Some(step) => self.restore(step, args),
            None => Err(Error::format(
                &self.root,
                "there is no step to restore\n  help: ask for `latest_step` before, where a run may begin anew",
            )),
        }
    }

    /// Restores a step of another folder, of the same names.
    ///
    /// # Errors
    /// As [`restore`](CheckpointManager::restore).
    pub fn restore_from<R: RestoreArgs>(
        &self,
        folder: impl AsRef<Path>,
        step: u64,
        args: R,
    ) -> Result<R::Item> {
        let reader = reader(folder.as_ref(), &self.options.names, step)?;
        restore_from(&reader, args)
    }

    /// The files of a step.
    ///
    /// # Errors
    /// If there is no such step, or its manifest is damaged.
    pub fn reader(&self, step: u64) -> Result<ItemReader> {
        if self.saver.is_saving_in_progress() && self.latest_step() == Some(step) {
            self.wait_until_finished()?;
        }
        reader(&self.root, &self.options.names, step)
    }

    /// Compares all files of a step with what was written.
    ///
    /// # Errors
    /// If there is no such step, or a file is missing, damaged or cannot be read.
    pub fn verify(&self, step: u64) -> Result<()> {
        self.reader(step)?.verify_all()
    }
}

fn reader(root: &Path, names: &StepNames, step: u64) -> Result<ItemReader> {
    expect_folder(root)?;
    if let Some(path) = steps::find(root, names, step)? {
        return ItemReader::open(path);
    }
    if let Some(damage) = steps::damage(root, names, step)? {
        return Err(damage);
    }
    let steps = steps::committed(root, names)?;
    let last = steps.iter().rev().take(10);
    let there: Vec<String> = last.map(|(step, _)| step.to_string()).collect();
    let there = match (there.len(), steps.len()) {
        (0, _) => "there is none".to_owned(),
        (n, m) if n < m => format!("the last ones are {}", there.join(", ")),
        _ => format!("there are {}", there.join(", ")),
    };
    Err(Error::NoStep {
        folder: root.to_owned(),
        step,
        there,
    })
}

fn restore_from<R: RestoreArgs>(reader: &ItemReader, args: R) -> Result<R::Item> {
    if args.names().is_some() {
        return args.restore(reader);
    }
    let item = reader.subfolder(DEFAULT_ITEM)?;
    if item.folder().is_dir() {
        return restore_checked(args, &item);
    }
    let help = "items that have names are restored with a `Composite`";
    Err(missing(reader, DEFAULT_ITEM, help))
}

/// Waiting and ending.
impl CheckpointManager {
    /// Waits until the step that is being saved is on the disk, and what is no longer kept
    /// is deleted.
    ///
    /// # Errors
    /// What failed in the background: [`Error::Save`], or the deletion of a step.
    pub fn wait_until_finished(&self) -> Result<()> {
        self.saver.wait_until_finished()?;
        lock(&self.deleter).check_for_errors()
    }

    /// Returns what failed in the background since the last call, without waiting.
    ///
    /// # Errors
    /// As [`wait_until_finished`](CheckpointManager::wait_until_finished).
    pub fn check_for_errors(&self) -> Result<()> {
        self.saver.check_for_errors()?;
        match self.saver.is_saving_in_progress() {
            // The deleter is in use, and what it finds is returned later.
            true => Ok(()),
            false => lock(&self.deleter).check_for_errors(),
        }
    }

    /// Whether a step is being saved.
    pub fn is_saving_in_progress(&self) -> bool {
        self.saver.is_saving_in_progress()
    }

    /// How long the last step took that was committed.
    pub fn last_report(&self) -> Option<SaveReport> {
        self.saver.last_report()
    }

    /// Whether the program is to save and end at this step, because
    /// [somebody asked for it](crate::preemption).
    ///
    /// Of several processes all ask at the same steps, as
    /// [`save`](CheckpointManager::save) does by itself, and all get the same answer; one
    /// of them being asked is enough.
    pub fn reached_preemption(&self, step: u64) -> bool {
        self.preempted.reached(step)
    }

    /// Waits for everything that goes on in the background, and ends it.
    ///
    /// # Errors
    /// What failed in the background.
    pub fn close(self) -> Result<()> {
        let saved = self.saver.wait_until_finished();
        let deleted = lock(&self.deleter).close();
        saved.and(deleted)
    }
}

impl std::fmt::Debug for CheckpointManager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CheckpointManager")
            .field("directory", &self.root)
            .field("steps", &self.all_steps())
            .field("is_saving_in_progress", &self.is_saving_in_progress())
            .finish_non_exhaustive()
    }
}
