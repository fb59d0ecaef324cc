//! Saving and deleting steps.

use super::policies::{CheckpointInfo, DecisionContext};
use super::steps::Steps;
use super::{CheckpointManager, DEFAULT_ITEM, Deleter, Metrics, StepNames, steps};
use crate::commit::SaveOptions;
use crate::items::metrics::METRICS;
use crate::items::{Composite, JsonText, Named, SaveArgs};
use crate::{Error, Result};
use ramie_core::files::Message;
use ramie_core::lock::lock;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime};

/// Options of saving a step: metrics, metadata, and whether to skip the policies.
///
/// ```
/// use ramie_checkpoint::manager::StepOptions;
/// let options = StepOptions::new().metrics([("loss", 0.25)]).force(true);
/// # let _ = options;
/// ```
#[derive(Clone, Debug, Default)]
pub struct StepOptions {
    metrics: Option<Metrics>,
    force: bool,
    custom_metadata: Map<String, Value>,
}

impl StepOptions {
    /// Creates default options: no metrics, no metadata, and policies decide.
    pub fn new() -> StepOptions {
        StepOptions::default()
    }

    /// Sets the metrics of the step. They are written only if the manager has a `best_fn`.
    pub fn metrics(mut self, metrics: impl Into<Metrics>) -> StepOptions {
        self.metrics = Some(metrics.into());
        self
    }

    /// Sets whether to save regardless of the policies. Defaults to `false`. An existing step is
    /// never replaced.
    pub fn force(mut self, force: bool) -> StepOptions {
        self.force = force;
        self
    }

    /// Sets custom metadata, which is stored in the step's file `_CHECKPOINT_METADATA`.
    pub fn custom_metadata(mut self, metadata: Map<String, Value>) -> StepOptions {
        self.custom_metadata = metadata;
        self
    }
}

impl CheckpointManager {
    /// Returns whether [`save`](CheckpointManager::save) would save this step: it must be later
    /// than the last step, and the policy must agree.
    ///
    /// # Errors
    /// Returns an error if another process cannot be reached.
    pub fn should_save(&self, step: u64) -> Result<bool> {
        if self.options.read_only || self.latest_step().is_some_and(|last| last >= step) {
            return Ok(false);
        }
        let info = CheckpointInfo {
            step,
            time: SystemTime::now(),
            metrics: None,
        };
        let context =
            DecisionContext::new(self.is_saving_in_progress(), self.reached_preemption(step));
        let decide = || {
            let previous = self.steps.all();
            self.save_decision.should_save(&info, &previous, &context)
        };
        if self.save_decision.same_everywhere() {
            return Ok(decide());
        }
        let mine = [u8::from(self.caller.process().is_primary() && decide())];
        Ok(self.caller.broadcast("should_save", &mine)? == [1])
    }

    /// Saves a step if the policies agree: one item, or the items of a [`Composite`]. Returns
    /// whether the step is saved.
    ///
    /// Returns once the snapshot is taken. The background save then writes it and deletes the
    /// steps that are no longer kept. If another save is still running, this waits for it first.
    /// In a multi-process program, all processes must call this.
    ///
    /// # Errors
    /// Returns the error of earlier background work, if any; this step is then not saved. Returns
    /// an error if the step already exists or the snapshot fails. Without asynchronous saving,
    /// also returns an error if something cannot be written.
    ///
    /// # Panics
    /// Panics like [`save_with`](CheckpointManager::save_with).
    #[track_caller]
    pub fn save(&self, step: u64, args: &dyn SaveArgs) -> Result<bool> {
        self.save_with(step, args, StepOptions::new())
    }

    /// Saves a step like [`save`](CheckpointManager::save), with metrics, metadata or `force`.
    ///
    /// ```
    /// use ramie_checkpoint::items::JsonSave;
    /// use ramie_checkpoint::manager::{CheckpointManager, CheckpointManagerOptions, StepOptions};
    /// # fn main() -> ramie_checkpoint::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let run = folder.path().join("run");
    /// let options = CheckpointManagerOptions::new()
    ///     .best_fn(|metrics| metrics.get("accuracy").unwrap_or(f64::NAN))
    ///     .max_to_keep(1);
    /// let manager = CheckpointManager::new(&run, options)?;
    /// for (step, accuracy) in [(0, 0.1), (1, 0.9), (2, 0.8)] {
    ///     let options = StepOptions::new().metrics([("accuracy", accuracy)]);
    ///     manager.save_with(step, &JsonSave::new("state"), options)?;
    /// }
    /// manager.wait_until_finished()?;
    /// assert_eq!(manager.best_step()?, Some(1));
    /// assert_eq!(manager.all_steps(), [1]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Same as [`save`](CheckpointManager::save).
    ///
    /// # Panics
    /// Panics if an item is named `metrics` and metrics have to be written, or if a preservation
    /// policy does not return one answer per checkpoint.
    #[track_caller]
    pub fn save_with(&self, step: u64, args: &dyn SaveArgs, options: StepOptions) -> Result<bool> {
        let begun = Instant::now();
        // Only one thread saves at a time.
        let _saving = lock(&self.saving);
        // Processes see the end of a save at different times, but all of them wait for it below.
        if self.caller.process().count() == 1 {
            self.check_for_errors()?;
        }
        if self.options.read_only || !(options.force || self.should_save(step)?) {
            return Ok(false);
        }
        let tracks_best = self.options.best_fn.is_some();
        if tracks_best && options.metrics.is_none() {
            tracing::warn!(
                step,
                "a step is saved without metrics, but `best_fn` needs them to rank steps"
            );
        }
        let written = options.metrics.as_ref().filter(|_| tracks_best);
        let metrics = written
            .filter(|_| !self.options.prevent_write_metrics)
            .map(|metrics| JsonText::new(METRICS, metrics.to_json().into()));
        let items = step_items(args, metrics.as_ref());
        let waiting = Instant::now();
        // Only the primary process deletes steps, but all processes return the error.
        let finished = self.wait_until_finished();
        self.caller.agree("finished", finished)?;
        let waited = waiting.elapsed();
        if self.steps.get(step).is_some() {
            let path = self.step_path(step);
            return Err(Error::format(
                &path,
                Message::new("the step already exists; nothing was saved")
                    .help("save a later step, or delete this one first"),
            ));
        }
        let change = self.change(step, options.metrics)?;
        let undo = change.clone();
        let save = SaveOptions::new()
            .custom_metadata(options.custom_metadata)
            .begun(begun, waited)
            .then(move |committed| change.finish(committed));
        let path = self.root.join(self.options.names.name(step));
        let saved = self
            .checkpointer
            .save_in(self.background.clone(), &path, &items, save);
        // The change was finished or undone if the save reached its end.
        if saved.is_err() && !undo.finished.load(Ordering::SeqCst) {
            undo.undo();
        }
        saved.map(|()| true)
    }

    /// Adds a step to the list and removes the steps that it displaces.
    #[track_caller]
    fn change(&self, step: u64, metrics: Option<Metrics>) -> Result<Change> {
        let mut after = self.steps.all().to_vec();
        after.push(CheckpointInfo {
            step,
            time: SystemTime::now(),
            metrics,
        });
        let kept = self.preservation.should_preserve(&after);
        assert!(
            kept.len() == after.len(),
            "PreservationPolicy::should_preserve: returned {} answers for {} checkpoints\n  help: \
             return one `bool` per checkpoint",
            kept.len(),
            after.len()
        );
        let remove = after.iter().zip(&kept).filter(|(_, keep)| !**keep);
        let remove: Vec<String> = remove.map(|(info, _)| info.step.to_string()).collect();
        // Clocks differ between processes, so the primary one decides which steps to remove.
        let remove = self
            .caller
            .broadcast("remove", remove.join(" ").as_bytes())?;
        let remove = String::from_utf8_lossy(&remove).into_owned();
        let remove: Vec<u64> = remove.split(' ').filter_map(|s| s.parse().ok()).collect();
        let (removed, after) = after
            .into_iter()
            .partition(|info| remove.contains(&info.step));
        self.steps.set(after);
        Ok(Change {
            step,
            removed,
            steps: self.steps.clone(),
            deleter: self.deleter.clone(),
            root: self.root.clone(),
            names: self.options.names.clone(),
            primary: self.caller.process().is_primary(),
            finished: Arc::default(),
        })
    }

    /// Deletes a step, or moves it according to the options. In a multi-process program, all
    /// processes must call this.
    ///
    /// # Errors
    /// Returns an error if the step does not exist or cannot be deleted.
    pub fn delete(&self, step: u64) -> Result<()> {
        if self.options.read_only {
            return Ok(());
        }
        let finished = if self.latest_step() == Some(step) {
            self.wait_until_finished()
        } else {
            Ok(())
        };
        let known = self.steps.get(step).is_some();
        let path = self.step_path(step);
        let deleted = finished.and_then(|()| {
            if self.caller.process().is_primary() && known {
                lock(&self.deleter).delete(&path)
            } else {
                Ok(())
            }
        });
        self.caller.agree("delete", deleted)?;
        if !known {
            return Err(self.reader(step).err().unwrap_or_else(|| {
                Error::format(
                    &path,
                    Message::new("the manager does not know this step")
                        .help("use `reload` to read the steps again"),
                )
            }));
        }
        self.steps
            .change(|steps| steps.retain(|info| info.step != step));
        Ok(())
    }
}

/// Changes that a save makes to the list of steps.
#[derive(Clone)]
struct Change {
    step: u64,
    removed: Vec<CheckpointInfo>,
    steps: Steps,
    deleter: Arc<Mutex<Deleter>>,
    root: PathBuf,
    names: StepNames,
    primary: bool,
    /// Whether the save has ended.
    finished: Arc<AtomicBool>,
}

impl Change {
    /// After a commit, deletes the steps that are no longer kept. After a failure, reverts the
    /// change.
    fn finish(&self, committed: bool) -> Result<()> {
        self.finished.store(true, Ordering::SeqCst);
        if !committed {
            self.undo();
            return Ok(());
        }
        if !self.primary || self.removed.is_empty() {
            return Ok(());
        }
        let removed = |step| self.removed.iter().any(|info| info.step == step);
        let there = steps::committed_of(&self.root, &self.names, removed)?;
        let mut result = Ok(());
        for info in &self.removed {
            let Some((_, path)) = there.iter().find(|(step, _)| *step == info.step) else {
                continue;
            };
            let deleted = lock(&self.deleter).delete(path);
            if deleted.is_err() && path.is_dir() {
                self.put_back(info);
            }
            result = result.and(deleted);
        }
        result
    }

    fn undo(&self) {
        let step = self.step;
        self.steps
            .change(|steps| steps.retain(|info| info.step != step));
        for info in self.removed.iter().filter(|info| info.step != self.step) {
            self.put_back(info);
        }
    }

    fn put_back(&self, info: &CheckpointInfo) {
        self.steps.change(|steps| {
            if steps.iter().all(|other| other.step != info.step) {
                steps.push(info.clone());
                steps.sort_by_key(|info| info.step);
            }
        });
    }
}

/// Returns the items of a step: those of a composite, or the unnamed one, plus the metrics.
#[track_caller]
fn step_items<'a>(
    args: &'a dyn SaveArgs,
    metrics: Option<&'a JsonText>,
) -> Composite<Vec<Named<&'a dyn SaveArgs>>> {
    let mut items = args.items().unwrap_or_else(|| vec![(DEFAULT_ITEM, args)]);
    if let Some(metrics) = metrics {
        assert!(
            items.iter().all(|(name, _)| *name != METRICS),
            "CheckpointManager::save: the item name `{}` is reserved for the metrics of the \
             step\n  help: use another name for the item",
            METRICS
        );
        items.push((METRICS, metrics));
    }
    Composite::of(items)
}
