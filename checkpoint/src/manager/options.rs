//! Options of a manager: when it saves, how it names steps, and which it keeps.

use super::policies::{
    AnyPreservationPolicy, AnySavePolicy, BestMode, BestN, EveryNSeconds, EveryNSteps,
    FixedIntervalPolicy, InitialSavePolicy, LatestN, PreemptionCheckpointingPolicy,
    PreservationPolicy, SaveDecisionPolicy, ShouldSave, SpecificStepsPolicy,
};
use super::{Metrics, StepNames};
use crate::commit::CheckpointerOptions;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub(super) type BestFn = Arc<dyn Fn(&Metrics) -> f64 + Send + Sync>;

/// Options of a [`CheckpointManager`](super::CheckpointManager):
/// `orbax.checkpoint.CheckpointManagerOptions`.
///
/// ```
/// use ramie_checkpoint::manager::CheckpointManagerOptions;
/// use ramie_checkpoint::manager::policies::BestMode;
/// // Every 100 steps, the three best by their loss, and all multiples of 1000.
/// let options = CheckpointManagerOptions::new()
///     .save_interval_steps(100)
///     .max_to_keep(3)
///     .keep_period(1000)
///     .best_fn(|metrics| metrics.get("loss").unwrap_or(f64::NAN))
///     .best_mode(BestMode::Min);
/// # let _ = options;
/// ```
///
/// A configuration file contains the options that are data, by their names; durations in seconds.
/// Set functions and policies after reading it: options with any of them are not written.
///
/// ```
/// use ramie_checkpoint::manager::CheckpointManagerOptions;
/// let text = r#"{"save_interval_steps": 100, "max_to_keep": 3}"#;
/// let options: CheckpointManagerOptions = serde_json::from_str(text)?;
/// assert_eq!(serde_json::to_string(&options)?, r#"{"save_interval_steps":100,"max_to_keep":3}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct CheckpointManagerOptions {
    pub(super) save_interval_steps: u64,
    pub(super) save_on_steps: BTreeSet<u64>,
    pub(super) should_save_fn: Option<Arc<dyn SaveDecisionPolicy>>,
    pub(super) save_decision_policy: Option<Arc<dyn SaveDecisionPolicy>>,
    pub(super) max_to_keep: Option<usize>,
    pub(super) keep_period: Option<u64>,
    pub(super) keep_time_interval: Option<Duration>,
    pub(super) preservation_policy: Option<Arc<dyn PreservationPolicy>>,
    pub(super) best_fn: Option<BestFn>,
    pub(super) best_mode: BestMode,
    pub(super) keep_checkpoints_without_metrics: bool,
    pub(super) prevent_write_metrics: bool,
    pub(super) names: StepNames,
    pub(super) create: bool,
    pub(super) cleanup_tmp_directories: bool,
    pub(super) read_only: bool,
    pub(super) save_root_metadata: bool,
    pub(super) single_host_load_and_broadcast: bool,
    pub(super) todelete: Option<ToDelete>,
    pub(super) enable_background_delete: bool,
    pub(super) checkpointer: CheckpointerOptions,
}

/// Destination of steps that are moved instead of deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ToDelete {
    /// Subdirectory of the manager's directory.
    Subdirectory(String),
    /// Any other directory.
    Path(PathBuf),
}

impl Default for CheckpointManagerOptions {
    fn default() -> CheckpointManagerOptions {
        CheckpointManagerOptions {
            save_interval_steps: 1,
            save_on_steps: BTreeSet::new(),
            should_save_fn: None,
            save_decision_policy: None,
            max_to_keep: None,
            keep_period: None,
            keep_time_interval: None,
            preservation_policy: None,
            best_fn: None,
            best_mode: BestMode::default(),
            keep_checkpoints_without_metrics: true,
            prevent_write_metrics: false,
            names: StepNames::new(),
            create: true,
            cleanup_tmp_directories: false,
            read_only: false,
            save_root_metadata: true,
            single_host_load_and_broadcast: false,
            todelete: None,
            enable_background_delete: false,
            checkpointer: CheckpointerOptions::default(),
        }
    }
}

impl CheckpointManagerOptions {
    /// Creates options with Orbax's defaults: saves every step in the background and keeps all of
    /// them.
    pub fn new() -> CheckpointManagerOptions {
        CheckpointManagerOptions::default()
    }
}

/// Options that decide when to save.
impl CheckpointManagerOptions {
    /// Sets the save interval: steps that are multiples of `interval` are saved. Defaults to 1.
    /// The first step is always saved, and so is the step at which a
    /// [preemption](crate::preemption) request takes effect.
    ///
    /// # Panics
    /// Panics if `interval` is 0.
    #[track_caller]
    pub fn save_interval_steps(mut self, interval: u64) -> Self {
        assert!(
            interval > 0,
            "CheckpointManagerOptions::save_interval_steps: `interval` is 0\n  help: pass at least \
             1, or use `read_only(true)` to save nothing"
        );
        self.save_interval_steps = interval;
        self
    }

    /// Saves these steps in addition to those of the interval.
    pub fn save_on_steps(mut self, steps: impl IntoIterator<Item = u64>) -> Self {
        self.save_on_steps = steps.into_iter().collect();
        self
    }

    /// Sets a function of the step and the last saved step that decides whether to save. It
    /// replaces `save_interval_steps` and `save_on_steps`.
    pub fn should_save_fn(
        mut self,
        f: impl Fn(u64, Option<u64>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.should_save_fn = Some(Arc::new(ShouldSave::new(f)));
        self
    }

    /// Sets the policy that decides whether to save. It replaces all other options of this group.
    pub fn save_decision_policy(mut self, policy: impl SaveDecisionPolicy + 'static) -> Self {
        self.save_decision_policy = Some(Arc::new(policy));
        self
    }

    pub(super) fn save_decision(&self) -> Arc<dyn SaveDecisionPolicy> {
        if let Some(policy) = &self.save_decision_policy {
            return policy.clone();
        }
        let mut policies: Vec<Arc<dyn SaveDecisionPolicy>> = Vec::new();
        match &self.should_save_fn {
            Some(should_save) => policies.push(should_save.clone()),
            None => {
                let interval = FixedIntervalPolicy::new(self.save_interval_steps);
                let steps = SpecificStepsPolicy::new(self.save_on_steps.iter().copied());
                policies.push(Arc::new(interval));
                policies.push(Arc::new(steps));
                policies.push(Arc::new(InitialSavePolicy));
            }
        }
        policies.push(Arc::new(PreemptionCheckpointingPolicy));
        Arc::new(AnySavePolicy::new(policies))
    }
}

/// Options that decide which steps to keep.
impl CheckpointManagerOptions {
    /// Sets the number of steps to keep: the last `n`, or the best `n` if [`best_fn`] is set. By
    /// default, all steps are kept.
    ///
    /// [`best_fn`]: CheckpointManagerOptions::best_fn
    ///
    /// # Panics
    /// Panics if `n` is 0, since the step that is being saved would not be kept.
    #[track_caller]
    pub fn max_to_keep(mut self, n: usize) -> Self {
        assert!(
            n > 0,
            "CheckpointManagerOptions::max_to_keep: `n` is 0, so the saved step would be \
             deleted\n  help: pass at least 1"
        );
        self.max_to_keep = Some(n);
        self
    }

    /// Keeps steps that are multiples of `steps`, in addition to the last or best ones.
    ///
    /// # Panics
    /// Panics if `steps` is 0.
    #[track_caller]
    pub fn keep_period(mut self, steps: u64) -> Self {
        assert!(
            steps > 0,
            "CheckpointManagerOptions::keep_period: `steps` is 0\n  help: pass at least 1; without \
             `max_to_keep`, all steps are kept"
        );
        self.keep_period = Some(steps);
        self
    }

    /// Keeps one step per time interval, in addition to the last or best ones. The interval is
    /// rounded down to whole seconds.
    pub fn keep_time_interval(mut self, interval: Duration) -> Self {
        // Orbax truncates to whole seconds.
        self.keep_time_interval = Some(Duration::from_secs(interval.as_secs()));
        self
    }

    /// Sets a function that ranks steps by their metrics. The best steps are kept, and
    /// [`best_step`](super::CheckpointManager::best_step) returns the best one. Metrics are
    /// written only if this is set.
    pub fn best_fn(mut self, f: impl Fn(&Metrics) -> f64 + Send + Sync + 'static) -> Self {
        self.best_fn = Some(Arc::new(f));
        self
    }

    /// Sets whether the greatest or the smallest value of `best_fn` is best. Defaults to the
    /// greatest.
    pub fn best_mode(mut self, mode: BestMode) -> Self {
        self.best_mode = mode;
        self
    }

    /// Sets whether steps without metrics are kept when `best_fn` is set. Defaults to `true`.
    pub fn keep_checkpoints_without_metrics(mut self, keep: bool) -> Self {
        self.keep_checkpoints_without_metrics = keep;
        self
    }

    /// Sets whether to keep metrics in memory only. Defaults to `false`: metrics are written to
    /// disk.
    pub fn prevent_write_metrics(mut self, prevent: bool) -> Self {
        self.prevent_write_metrics = prevent;
        self
    }

    /// Sets the policy that decides which steps are kept. It cannot be combined with
    /// `max_to_keep`, `keep_period` or `keep_time_interval`.
    pub fn preservation_policy(mut self, policy: impl PreservationPolicy + 'static) -> Self {
        self.preservation_policy = Some(Arc::new(policy));
        self
    }

    #[track_caller]
    pub(super) fn preservation(&self) -> Arc<dyn PreservationPolicy> {
        if let Some(policy) = &self.preservation_policy {
            let others = [
                ("max_to_keep", self.max_to_keep.is_some()),
                ("keep_period", self.keep_period.is_some()),
                ("keep_time_interval", self.keep_time_interval.is_some()),
            ];
            if let Some((other, _)) = others.iter().find(|(_, is_set)| *is_set) {
                panic!(
                    "CheckpointManagerOptions: `preservation_policy` and `{other}` are both set\n  \
                     help: set only the policy; use `AnyPreservationPolicy` to combine rules"
                );
            }
            return policy.clone();
        }
        let last_or_best: Arc<dyn PreservationPolicy> = match &self.best_fn {
            Some(best_fn) => {
                let best = BestN::of(best_fn.clone())
                    .mode(self.best_mode)
                    .keep_checkpoints_without_metrics(self.keep_checkpoints_without_metrics);
                Arc::new(match self.max_to_keep {
                    Some(n) => best.n(n),
                    None => best,
                })
            }
            None => Arc::new(LatestN(self.max_to_keep)),
        };
        let mut policies = vec![last_or_best];
        if let Some(steps) = self.keep_period {
            policies.push(Arc::new(EveryNSteps::new(steps)));
        }
        if let Some(interval) = self.keep_time_interval {
            policies.push(Arc::new(EveryNSeconds(interval)));
        }
        Arc::new(AnyPreservationPolicy::new(policies))
    }
}

/// Names and directories.
impl CheckpointManagerOptions {
    /// Sets a prefix for step names, separated from the number by an underscore.
    ///
    /// # Panics
    /// Panics like [`StepNames::prefix`].
    #[track_caller]
    pub fn step_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.names = self.names.prefix(prefix);
        self
    }

    /// Sets the minimum number of digits in step names; shorter numbers are padded with zeros.
    ///
    /// # Panics
    /// Panics like [`StepNames::fixed_length`].
    #[track_caller]
    pub fn step_format_fixed_length(mut self, digits: usize) -> Self {
        self.names = self.names.fixed_length(digits);
        self
    }

    /// Sets the format of step names, replacing prefix and length.
    pub fn step_name_format(mut self, names: StepNames) -> Self {
        self.names = names;
        self
    }

    /// Sets whether to create the directory if it does not exist. Defaults to `true`.
    pub fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// Sets whether creating the manager removes the leftovers of interrupted saves. Defaults to
    /// `false`. Leftovers never count as checkpoints, and a save of the same step replaces them.
    pub fn cleanup_tmp_directories(mut self, cleanup: bool) -> Self {
        self.cleanup_tmp_directories = cleanup;
        self
    }

    /// Sets whether the manager is read-only: it writes and deletes nothing, and saves are
    /// skipped.
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// Sets whether the metadata of the run is written. Defaults to `true`.
    pub fn save_root_metadata(mut self, save: bool) -> Self {
        self.save_root_metadata = save;
        self
    }

    /// Sets whether only the primary process lists the steps and broadcasts them to the others.
    pub fn single_host_load_and_broadcast(mut self, single: bool) -> Self {
        self.single_host_load_and_broadcast = single;
        self
    }
}

/// Deletion.
impl CheckpointManagerOptions {
    /// Moves steps to this subdirectory of the manager's directory instead of deleting them.
    ///
    /// # Panics
    /// Panics if `todelete_full_path` is already set.
    #[track_caller]
    pub fn todelete_subdir(mut self, name: impl Into<String>) -> Self {
        self.set_todelete(ToDelete::Subdirectory(name.into()));
        self
    }

    /// Moves steps to this directory instead of deleting them, appending the time of the deletion
    /// to their names. The directory must be on the same file system.
    ///
    /// # Panics
    /// Panics if `todelete_subdir` is already set.
    #[track_caller]
    pub fn todelete_full_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.set_todelete(ToDelete::Path(path.into()));
        self
    }

    #[track_caller]
    fn set_todelete(&mut self, todelete: ToDelete) {
        let other = std::mem::discriminant(&todelete);
        let set = self.todelete.as_ref().map(std::mem::discriminant);
        assert!(
            set.is_none_or(|set| set == other),
            "CheckpointManagerOptions: `todelete_subdir` and `todelete_full_path` are both \
             set\n  help: set only one of them"
        );
        self.todelete = Some(todelete);
    }

    /// Sets whether a separate thread deletes steps, so that the next save does not wait for the
    /// deletion. [`close`](super::CheckpointManager::close) waits for it.
    pub fn enable_background_delete(mut self, enable: bool) -> Self {
        self.enable_background_delete = enable;
        self
    }
}

/// Writing.
impl CheckpointManagerOptions {
    /// Sets how steps are written: in the background or not (`enable_async_checkpointing`), by how
    /// many threads, with which permissions, and how processes synchronize (`async_options`,
    /// `file_options`, `multiprocessing_options`).
    ///
    /// ```
    /// use ramie_checkpoint::commit::CheckpointerOptions;
    /// use ramie_checkpoint::manager::CheckpointManagerOptions;
    /// let checkpointer = CheckpointerOptions::new()
    ///     .asynchronous(false)
    ///     .path_permission_mode(0o750);
    /// let options = CheckpointManagerOptions::new().checkpointer(checkpointer);
    /// # let _ = options;
    /// ```
    #[doc(alias = "async_options")]
    pub fn checkpointer(mut self, options: CheckpointerOptions) -> Self {
        self.checkpointer = options;
        self
    }
}

impl std::fmt::Debug for CheckpointManagerOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CheckpointManagerOptions")
            .field("save_interval_steps", &self.save_interval_steps)
            .field("save_on_steps", &self.save_on_steps)
            .field("keep_period", &self.keep_period)
            .field("keep_time_interval", &self.keep_time_interval)
            .field("max_to_keep", &self.max_to_keep)
            .field("best_mode", &self.best_fn.as_ref().map(|_| self.best_mode))
            .field("names", &self.names)
            .field("read_only", &self.read_only)
            .field("checkpointer", &self.checkpointer)
            .finish_non_exhaustive()
    }
}
