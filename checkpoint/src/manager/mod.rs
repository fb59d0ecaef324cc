//! Manages the checkpoints of a run: one directory per step.
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
//! The layout is Orbax's: `<step>/<item>/…`, with `_CHECKPOINT_METADATA` and `commit_success.txt`.
//! Metrics are stored in the item `metrics`, and metadata of the whole run in
//! `metadata/_ROOT_METADATA`. Ramie also writes `_RAMIE_MANIFEST`, a list of a step's files with
//! their checksums, which are verified on restore.
//!
//! A directory counts as a step if its name is that of a step and Ramie or Orbax has committed it.
//! An interrupted save leaves a temporary directory, which is ignored.

mod delete;
#[cfg(test)]
mod fault_tests;
mod names;
mod options;
mod options_data;
pub mod policies;
mod preempted;
#[cfg(test)]
mod process_tests;
mod root_metadata;
mod save;
mod steps;
mod wait;

pub use crate::items::metrics::Metrics;
pub use names::StepNames;
pub use options::CheckpointManagerOptions;
pub use save::StepOptions;
pub use wait::{CheckpointsIterator, WaitOptions, checkpoints_iterator, wait_for_new_checkpoint};

use crate::commit::{
    Checkpointer, Group, ItemReader, RestoreArgs, SaveReport, StepMetadata, TEMPORARY, make_folder,
    remove_folder, restore_checked,
};
use crate::file::expect_folder;
use crate::items::metrics::METRICS;
use crate::items::{AnyItem, AnyRestore, items, missing, tree_metadata};
use crate::pytree::TreeMetadata;
use crate::{Error, Result};
use delete::{DELETED, Deleter};
use policies::{PreservationPolicy, SaveDecisionPolicy, worse_first};
use preempted::Preempted;
use ramie_core::files::Message;
use ramie_core::lock::lock;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use steps::Steps;

/// Orbax's name for an item that was saved without a name.
const DEFAULT_ITEM: &str = "default";

/// Saves, retains and restores the steps of a run: `orbax.checkpoint.CheckpointManager`.
///
/// [`save`](CheckpointManager::save) returns once it has taken a snapshot; a background thread
/// writes it, and the next save waits for that thread. If a background save fails, the next call
/// of [`save`](CheckpointManager::save),
/// [`wait_until_finished`](CheckpointManager::wait_until_finished),
/// [`check_for_errors`](CheckpointManager::check_for_errors) or
/// [`close`](CheckpointManager::close) returns its error. Earlier steps are unaffected. Dropping a
/// manager waits for pending saves.
///
/// In a multi-process program, every process creates a manager and makes the same calls that save,
/// delete and restore.
pub struct CheckpointManager {
    root: PathBuf,
    options: CheckpointManagerOptions,
    save_decision: Arc<dyn SaveDecisionPolicy>,
    preservation: Arc<dyn PreservationPolicy>,
    metadata: Map<String, Value>,
    /// All steps, including the one that is being saved.
    steps: Steps,
    deleter: Arc<Mutex<Deleter>>,
    checkpointer: Checkpointer,
    saving: Mutex<()>,
    preempted: Preempted,
    /// Synchronizes the processes in calls that block the caller.
    caller: Group,
    /// Synchronizes the processes in background saves.
    background: Arc<Group>,
}

/// Construction.
impl CheckpointManager {
    /// Creates a manager for the steps in a directory.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be created or read.
    ///
    /// # Panics
    /// Panics if options contradict each other.
    #[track_caller]
    pub fn new(
        folder: impl Into<PathBuf>,
        options: CheckpointManagerOptions,
    ) -> Result<CheckpointManager> {
        CheckpointManager::open(folder.into(), options, None)
    }

    /// Creates a manager like [`new`](CheckpointManager::new), with metadata of the whole run. The
    /// metadata is written only if the run has none; existing metadata is kept.
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
    /// Returns an error if the directory cannot be created or read, or the metadata cannot be
    /// written.
    ///
    /// # Panics
    /// Panics if options contradict each other.
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
            Group::new(
                &name,
                &options.checkpointer.multiprocessing,
                options.checkpointer.timeout,
            )
        };
        // Two groups, so that a save on its thread and calls of the program cannot take each
        // other's barriers.
        let (caller, background) = (group("manager")?, Arc::new(group("save")?));
        let prepared = if caller.process().is_primary() {
            prepare(&root, &options, metadata.as_ref())
        } else {
            Ok(())
        };
        // The others read the directory only after the primary process has prepared it.
        caller.agree("prepare", prepared)?;
        // What a run saved first remains; metadata of a later call does not replace it.
        let metadata = root_metadata::read(&root)?.or(metadata).unwrap_or_default();
        let deleter = Deleter::new(
            &root,
            options.todelete.clone(),
            options.checkpointer.threads,
            options.enable_background_delete && !options.read_only,
        )?;
        Ok(CheckpointManager {
            steps: Steps::new(steps::load(&root, &options, &caller)?),
            deleter: Arc::new(Mutex::new(deleter)),
            checkpointer: Checkpointer::with_options(options.checkpointer.clone()),
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

/// Returns the error of a directory without steps.
fn nothing_to_restore(root: &Path) -> Error {
    if let Err(error) = expect_folder(root) {
        return error;
    }
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let unfinished = match names.find(|name| name.contains(TEMPORARY) && !name.contains(DELETED)) {
        Some(name) => format!(", only the unfinished save `{name}`"),
        None => String::new(),
    };
    Error::format(
        root,
        Message::new(format!("there is no step to restore{unfinished}"))
            .help("check the path; if `latest_step()` is `None`, start a new run"),
    )
}

/// Prepares the directory; called in the primary process.
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
            Message::new("the directory does not exist")
                .help("create it, or use `create(true)`, the default"),
        ));
    }
    if options.cleanup_tmp_directories {
        // A process that is killed while it saves leaves a temporary directory.
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

/// Steps.
impl CheckpointManager {
    /// Returns the directory of the run.
    pub fn directory(&self) -> &Path {
        &self.root
    }

    /// Returns the options.
    pub fn options(&self) -> &CheckpointManagerOptions {
        &self.options
    }

    /// Returns the steps in ascending order, including the one that is being saved. Changes by
    /// other programs are visible only after a [`reload`](CheckpointManager::reload).
    pub fn all_steps(&self) -> Vec<u64> {
        let mut steps: Vec<u64> = self.steps.all().iter().map(|info| info.step).collect();
        steps.sort_unstable();
        steps
    }

    /// Returns the step that this manager saved last or, if it has saved none, the greatest step.
    /// Returns `None` if there are no steps.
    pub fn latest_step(&self) -> Option<u64> {
        self.steps.all().last().map(|info| info.step)
    }

    /// Returns the step with the best metrics according to `best_fn` and `best_mode`, or the last
    /// step if `best_fn` is not set. Returns `None` if there are no steps, or none with metrics.
    ///
    /// # Errors
    /// Returns an error if the metrics of any step cannot be read, since that step might be the
    /// best.
    pub fn best_step(&self) -> Result<Option<u64>> {
        let Some(best_fn) = &self.options.best_fn else {
            return Ok(self.latest_step());
        };
        let mut metrics = Vec::new();
        for info in self.steps.all().iter() {
            // Retry metrics that could not be read earlier.
            let own = match &info.metrics {
                Some(own) => Some(own.clone()),
                None => Metrics::of(self.step_path(info.step))?,
            };
            metrics.extend(own.map(|own| (info.step, best_fn(&own))));
        }
        let mode = self.options.best_mode;
        let best = metrics
            .into_iter()
            .max_by(|a, b| worse_first(a.1, b.1, mode));
        Ok(best.map(|(step, _)| step))
    }

    /// Reads the list of steps from the directory again.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be listed.
    pub fn reload(&self) -> Result<()> {
        let steps = steps::load(&self.root, &self.options, &self.caller)?;
        self.steps.set(steps);
        Ok(())
    }

    /// Returns the directory of a step, or the one where it would be saved.
    pub fn step_path(&self, step: u64) -> PathBuf {
        let found = steps::find(&self.root, &self.options.names, step);
        let path = || self.root.join(self.options.names.name(step));
        found.ok().flatten().unwrap_or_else(path)
    }

    /// Returns the metrics of a step, or `None` if it has none.
    ///
    /// # Errors
    /// Returns an error if the step does not exist or its metrics are damaged.
    pub fn metrics(&self, step: u64) -> Result<Option<Metrics>> {
        self.metrics_in(&self.reader(step)?, step)
    }

    fn metrics_in(&self, reader: &ItemReader, step: u64) -> Result<Option<Metrics>> {
        let metrics = Metrics::of_item(&reader.subfolder(METRICS)?)?;
        Ok(metrics.or_else(|| self.steps.get(step).and_then(|info| info.metrics)))
    }

    /// Returns the metadata of a step, including its metrics.
    ///
    /// # Errors
    /// Returns an error if the step does not exist or its metadata is damaged.
    pub fn metadata(&self, step: u64) -> Result<StepMetadata> {
        let reader = self.reader(step)?;
        let mut metadata = StepMetadata::read(&reader)?.unwrap_or_default();
        if let Some(metrics) = self.metrics_in(&reader, step)? {
            metadata.metrics = metrics.into_map();
        }
        Ok(metadata)
    }

    /// Returns the metadata of the whole run.
    pub fn root_metadata(&self) -> &Map<String, Value> {
        &self.metadata
    }

    /// Returns the sorted names of a step's items, including `metrics` if it has any.
    ///
    /// # Errors
    /// Returns an error if the step does not exist.
    pub fn item_names(&self, step: u64) -> Result<Vec<String>> {
        self.reader(step)?.subfolders()
    }
}

/// Restoring.
impl CheckpointManager {
    /// Restores a step: its single unnamed item, or the items of a
    /// [`Composite`](crate::items::Composite).
    ///
    /// Files are verified against their checksums. If the step is still being saved, this waits
    /// for the save.
    ///
    /// # Errors
    /// Returns an error if the step or one of the items does not exist, or if a file is missing,
    /// damaged ([`Error::Damaged`]), unreadable or of another kind. Also returns the error of a
    /// pending save of this step.
    pub fn restore<R: RestoreArgs>(&self, step: u64, args: R) -> Result<R::Item> {
        restore_from(&self.reader(step)?, args)
    }

    /// Restores all items of a step without naming their types (Orbax: `restore(step)`): trees,
    /// JSON, random keys and metrics by name. An item that was saved without a name is `default`.
    ///
    /// ```
    /// use ramie_checkpoint::items::JsonSave;
    /// use ramie_checkpoint::manager::{CheckpointManager, CheckpointManagerOptions};
    /// # fn main() -> ramie_checkpoint::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// let options = CheckpointManagerOptions::new();
    /// let manager = CheckpointManager::new(folder.path(), options)?;
    /// manager.save(3, &JsonSave::new(&[1, 2]))?;
    /// let items = manager.restore_all(3)?;
    /// assert_eq!(items["default"].json(), Some(&vec![1, 2].into()));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Same as [`restore`](CheckpointManager::restore). Also returns an error if an item is of a
    /// kind that [`AnyRestore`] does not know.
    #[doc(alias = "restore")]
    pub fn restore_all(&self, step: u64) -> Result<BTreeMap<String, AnyItem>> {
        items(&self.reader(step)?, |item| AnyRestore.restore(item))
    }

    /// Returns the metadata of a step's items by name, without reading their arrays: names, shapes,
    /// dtypes and shardings of trees. The value is `None` for items that are not trees.
    ///
    /// # Errors
    /// Returns an error if the step does not exist or the metadata of an item is damaged.
    pub fn item_metadata(&self, step: u64) -> Result<BTreeMap<String, Option<TreeMetadata>>> {
        items(&self.reader(step)?, tree_metadata)
    }

    /// Restores the last step, like [`restore`](CheckpointManager::restore).
    ///
    /// # Errors
    /// Same as [`restore`](CheckpointManager::restore). Also returns an error if there are no
    /// steps.
    pub fn restore_latest<R: RestoreArgs>(&self, args: R) -> Result<R::Item> {
        match self.latest_step() {
            Some(step) => self.restore(step, args),
            None => Err(nothing_to_restore(&self.root)),
        }
    }

    /// Restores a step from another directory that uses the same step names.
    ///
    /// # Errors
    /// Same as [`restore`](CheckpointManager::restore).
    pub fn restore_from<R: RestoreArgs>(
        &self,
        folder: impl AsRef<Path>,
        step: u64,
        args: R,
    ) -> Result<R::Item> {
        let reader = reader(folder.as_ref(), &self.options.names, step)?;
        restore_from(&reader, args)
    }

    /// Returns a reader of a step's files.
    ///
    /// # Errors
    /// Returns an error if the step does not exist or its manifest is damaged.
    pub fn reader(&self, step: u64) -> Result<ItemReader> {
        // A step counts as soon as its save begins, but its files appear at the commit.
        if self.checkpointer.is_saving_in_progress() && self.latest_step() == Some(step) {
            self.wait_until_finished()?;
        }
        reader(&self.root, &self.options.names, step)
    }

    /// Verifies all files of a step against their checksums.
    ///
    /// # Errors
    /// Returns an error if the step does not exist, or a file is missing, damaged or unreadable.
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
        (0, _) => "there are no steps".to_owned(),
        (n, m) if n < m => format!("the last steps are {}", there.join(", ")),
        _ => format!("the steps are {}", there.join(", ")),
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
    let help = "use a `Composite` to restore named items";
    Err(missing(reader, DEFAULT_ITEM, help))
}

/// Waiting and closing.
impl CheckpointManager {
    /// Waits until the pending save is on disk and the steps that are no longer kept are deleted.
    /// With `enable_background_delete`, does not wait for the deletion.
    ///
    /// # Errors
    /// Returns the background error of a save ([`Error::Save`]) or of the deletion of a step.
    pub fn wait_until_finished(&self) -> Result<()> {
        self.checkpointer.wait_until_finished()?;
        lock(&self.deleter).check_for_errors()
    }

    /// Returns the background error since the last call, if any, without waiting.
    ///
    /// # Errors
    /// Same as [`wait_until_finished`](CheckpointManager::wait_until_finished).
    pub fn check_for_errors(&self) -> Result<()> {
        self.checkpointer.check_for_errors()?;
        if self.checkpointer.is_saving_in_progress() {
            Ok(())
        } else {
            lock(&self.deleter).check_for_errors()
        }
    }

    /// Returns whether a step is being saved.
    pub fn is_saving_in_progress(&self) -> bool {
        self.checkpointer.is_saving_in_progress()
    }

    /// Returns the timings of the last committed save.
    pub fn last_report(&self) -> Option<SaveReport> {
        self.checkpointer.last_report()
    }

    /// Returns whether the program should save and exit at this step because of a
    /// [preemption](crate::preemption) request. The answer to a step remains the same, so that a
    /// program never exits at a step that [`save`](CheckpointManager::save) skipped before the
    /// request.
    ///
    /// In a multi-process program, all processes must call this at the same steps, as
    /// [`save`](CheckpointManager::save) does; all of them get the same answer. A request to one
    /// process is enough.
    #[doc(alias = "reached_preemption_sync_point")]
    pub fn reached_preemption(&self, step: u64) -> bool {
        self.preempted.reached(step)
    }

    /// Waits for all background work, then closes the manager.
    ///
    /// # Errors
    /// Returns the error of background work that failed.
    pub fn close(self) -> Result<()> {
        // Close the deleter even if the save failed; the error of the save comes first.
        let saved = self.checkpointer.wait_until_finished();
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
