//! How a manager saves, names and keeps its steps.

use super::policies::{
    AnyPreservationPolicy, AnySavePolicy, BestMode, BestN, EveryNSeconds, EveryNSteps,
    FixedIntervalPolicy, InitialSavePolicy, LatestN, PreemptionCheckpointingPolicy,
    PreservationPolicy, SaveDecisionPolicy, ShouldSave, SpecificStepsPolicy,
};
use super::{Metrics, StepNames};
use crate::commit::{Atomicity, MultiprocessingOptions, SaverOptions};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub(super) type BestFn = Arc<dyn Fn(&Metrics) -> f64 + Send + Sync>;

/// How a [`CheckpointManager`](super::CheckpointManager) works:
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
#[derive(Clone)]
pub struct CheckpointManagerOptions {
    save_interval_steps: u64,
    save_on_steps: BTreeSet<u64>,
    should_save: Option<ShouldSave>,
    save_decision_policy: Option<Arc<dyn SaveDecisionPolicy>>,
    max_to_keep: Option<usize>,
    keep_time_interval: Option<Duration>,
    keep_period: Option<u64>,
    preservation_policy: Option<Arc<dyn PreservationPolicy>>,
    pub(super) best_fn: Option<BestFn>,
    pub(super) best_mode: BestMode,
    keep_checkpoints_without_metrics: bool,
    pub(super) prevent_write_metrics: bool,
    pub(super) names: StepNames,
    pub(super) create: bool,
    pub(super) cleanup_tmp_directories: bool,
    pub(super) read_only: bool,
    pub(super) save_root_metadata: bool,
    pub(super) lightweight_initialize: bool,
    pub(super) saving_in_progress_check: bool,
    pub(super) single_host_load_and_broadcast: bool,
    pub(super) todelete: Option<ToDelete>,
    pub(super) enable_background_delete: bool,
    pub(super) num_deletion_threads: Option<usize>,
    pub(super) saver: SaverOptions,
}

/// Where steps go instead of being deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ToDelete {
    /// A folder in that of the manager.
    Subdirectory(String),
    /// Another folder.
    Path(PathBuf),
}

impl Default for CheckpointManagerOptions {
    fn default() -> CheckpointManagerOptions {
        CheckpointManagerOptions {
            save_interval_steps: 1,
            save_on_steps: BTreeSet::new(),
            should_save: None,
            save_decision_policy: None,
            max_to_keep: None,
            keep_time_interval: None,
            keep_period: None,
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
            lightweight_initialize: false,
            saving_in_progress_check: true,
            single_host_load_and_broadcast: false,
            todelete: None,
            enable_background_delete: false,
            num_deletion_threads: None,
            saver: SaverOptions::default(),
        }
    }
}

impl CheckpointManagerOptions {
    /// Orbax's defaults: every step is saved, in the background, and all are kept.
    pub fn new() -> CheckpointManagerOptions {
        CheckpointManagerOptions::default()
    }
}

/// Which steps are saved.
impl CheckpointManagerOptions {
    /// Saves the steps that this number divides; 1 if not set. The first step that comes
    /// is saved in any case, and so is one at which the program is to
    /// [end](crate::preemption).
    ///
    /// # Panics
    /// If it is 0.
    #[track_caller]
    pub fn save_interval_steps(mut self, interval: u64) -> Self {
        assert!(
            interval > 0,
            "CheckpointManagerOptions::save_interval_steps: every 0 steps\n  help: give 1 at least; a \
             manager that does not save is `read_only`"
        );
        self.save_interval_steps = interval;
        self
    }

    /// Saves these steps, too.
    pub fn save_on_steps(mut self, steps: impl IntoIterator<Item = u64>) -> Self {
        self.save_on_steps = steps.into_iter().collect();
        self
    }

    /// Saves as a function says, of the step and the last one that was saved; the interval
    /// and the steps that are set do not count then.
    pub fn should_save_fn(
        mut self,
        f: impl Fn(u64, Option<u64>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.should_save = Some(ShouldSave::new(f));
        self
    }

    /// Saves as a policy says; nothing else counts then.
    pub fn save_decision_policy(mut self, policy: impl SaveDecisionPolicy + 'static) -> Self {
        self.save_decision_policy = Some(Arc::new(policy));
        self
    }

    /// Whether policies are told that a save goes on; they are, if not set. If not, they
    /// are told that none does.
    pub fn enable_should_save_is_saving_in_progress_check(mut self, enable: bool) -> Self {
        self.saving_in_progress_check = enable;
        self
    }

    pub(super) fn save_decision(&self) -> Arc<dyn SaveDecisionPolicy> {
        if let Some(policy) = &self.save_decision_policy {
            return policy.clone();
        }
        let mut policies: Vec<Arc<dyn SaveDecisionPolicy>> = Vec::new();
        if let Some(should_save) = &self.should_save {
            policies.push(Arc::new(should_save.clone()));
            policies.push(Arc::new(PreemptionCheckpointingPolicy));
        } else {
            policies.push(Arc::new(FixedIntervalPolicy::new(self.save_interval_steps)));
            let steps = SpecificStepsPolicy::new(self.save_on_steps.iter().copied());
            policies.push(Arc::new(steps));
            policies.push(Arc::new(PreemptionCheckpointingPolicy));
            policies.push(Arc::new(InitialSavePolicy));
        }
        Arc::new(AnySavePolicy::new(policies))
    }
}

/// Which steps are kept.
impl CheckpointManagerOptions {
    /// Keeps the last `n` steps, or the best, if there is a [`best_fn`]; all, if not set.
    ///
    /// [`best_fn`]: CheckpointManagerOptions::best_fn
    ///
    /// # Panics
    /// If it is 0: not even the step would be kept that is saved.
    #[track_caller]
    pub fn max_to_keep(mut self, n: usize) -> Self {
        assert!(
            n > 0,
            "CheckpointManagerOptions::max_to_keep: 0 would not keep the step that is saved\n  help: keep \
             1 at least"
        );
        self.max_to_keep = Some(n);
        self
    }

    /// Keeps the steps that this number divides, too.
    ///
    /// # Panics
    /// If it is 0.
    #[track_caller]
    pub fn keep_period(mut self, steps: u64) -> Self {
        assert!(
            steps > 0,
            "CheckpointManagerOptions::keep_period: every 0 steps\n  help: give 1 at least; without \
             `max_to_keep` all steps are kept"
        );
        self.keep_period = Some(steps);
        self
    }

    /// Keeps one for each such time, too.
    pub fn keep_time_interval(mut self, interval: Duration) -> Self {
        self.keep_time_interval = Some(interval);
        self
    }

    /// Judges steps by a number that this function makes of their metrics: those that are
    /// kept are the best ones, and there is a
    /// [`best_step`](super::CheckpointManager::best_step). Metrics are written only then.
    pub fn best_fn(mut self, f: impl Fn(&Metrics) -> f64 + Send + Sync + 'static) -> Self {
        self.best_fn = Some(Arc::new(f));
        self
    }

    /// Whether the greatest or the smallest number is the best; the greatest, if not set.
    pub fn best_mode(mut self, mode: BestMode) -> Self {
        self.best_mode = mode;
        self
    }

    /// Whether steps without metrics are kept, where the best are; they are, if not set.
    pub fn keep_checkpoints_without_metrics(mut self, keep: bool) -> Self {
        self.keep_checkpoints_without_metrics = keep;
        self
    }

    /// Whether metrics are kept in memory only; they are written, if not set.
    pub fn prevent_write_metrics(mut self, prevent: bool) -> Self {
        self.prevent_write_metrics = prevent;
        self
    }

    /// Keeps what a policy says; it cannot be combined with `max_to_keep`, `keep_period`
    /// and `keep_time_interval`.
    pub fn preservation_policy(mut self, policy: impl PreservationPolicy + 'static) -> Self {
        self.preservation_policy = Some(Arc::new(policy));
        self
    }

    #[track_caller]
    pub(super) fn preservation(&self) -> Arc<dyn PreservationPolicy> {
        if let Some(policy) = &self.preservation_policy {
            let rules = [
                ("max_to_keep", self.max_to_keep.is_some()),
                ("keep_period", self.keep_period.is_some()),
                ("keep_time_interval", self.keep_time_interval.is_some()),
            ];
            let set = rules.iter().find(|(_, set)| *set);
            assert!(
                set.is_none(),
                "CheckpointManagerOptions: `preservation_policy` and `{}` are both set\n  help: put the \
                 rule into the policy, with `AnyPreservationPolicy`",
                set.map_or("", |(name, _)| name)
            );
            return policy.clone();
        }
        let mut policies: Vec<Arc<dyn PreservationPolicy>> = Vec::new();
        if let Some(period) = self.keep_period {
            policies.push(Arc::new(EveryNSteps::new(period)));
        }
        if let Some(interval) = self.keep_time_interval {
            // Orbax counts whole seconds.
            let seconds = Duration::from_secs(interval.as_secs());
            policies.push(Arc::new(EveryNSeconds(seconds)));
        }
        match &self.best_fn {
            Some(best_fn) => {
                let mut best = BestN::of(best_fn.clone())
                    .mode(self.best_mode)
                    .keep_checkpoints_without_metrics(self.keep_checkpoints_without_metrics);
                if let Some(n) = self.max_to_keep {
                    best = best.n(n);
                }
                policies.push(Arc::new(best));
            }
            None => policies.push(Arc::new(LatestN(self.max_to_keep))),
        }
        Arc::new(AnyPreservationPolicy::new(policies))
    }
}

/// Names and folders.
impl CheckpointManagerOptions {
    /// A text and an underscore before the number in the names of steps.
    ///
    /// # Panics
    /// As [`StepNames::prefix`].
    #[track_caller]
    pub fn step_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.names = self.names.prefix(prefix);
        self
    }

    /// Zeros before the number in the names of steps, to this many digits.
    ///
    /// # Panics
    /// As [`StepNames::fixed_length`].
    #[track_caller]
    pub fn step_format_fixed_length(mut self, digits: usize) -> Self {
        self.names = self.names.fixed_length(digits);
        self
    }

    /// How steps are called, in place of prefix and length.
    pub fn step_name_format(mut self, names: StepNames) -> Self {
        self.names = names;
        self
    }

    /// Whether the folder is made if it is not there; it is, if not set.
    pub fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// Whether what is left of saves that did not end is removed when the manager is made.
    /// It is no checkpoint in any case, and a save of the same step replaces it.
    pub fn cleanup_tmp_directories(mut self, cleanup: bool) -> Self {
        self.cleanup_tmp_directories = cleanup;
        self
    }

    /// Whether nothing is written and removed: saves are passed over.
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// Whether the metadata of the run are written; they are, if not set.
    pub fn save_root_metadata(mut self, save: bool) -> Self {
        self.save_root_metadata = save;
        self
    }

    /// Whether times and metrics of the steps that are there are not read when the manager
    /// is made: it is quicker then if there are thousands of them.
    pub fn lightweight_initialize(mut self, lightweight: bool) -> Self {
        self.lightweight_initialize = lightweight;
        self
    }

    /// Whether only the primary process lists the steps, and tells the others.
    pub fn single_host_load_and_broadcast(mut self, single: bool) -> Self {
        self.single_host_load_and_broadcast = single;
        self
    }
}

/// Deletion.
impl CheckpointManagerOptions {
    /// Steps are moved to a folder of this name, in that of the manager, instead of being
    /// deleted.
    ///
    /// # Panics
    /// If there is a path set already.
    #[track_caller]
    pub fn todelete_subdir(mut self, name: impl Into<String>) -> Self {
        self.set_todelete(ToDelete::Subdirectory(name.into()));
        self
    }

    /// Steps are moved to this folder, on the same file system, instead of being deleted.
    /// They get the time of the deletion behind their names there.
    ///
    /// # Panics
    /// If there is a subfolder set already.
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
            "CheckpointManagerOptions: `todelete_subdir` and `todelete_full_path` are both set\n  help: a \
             step goes to one place; set one of them"
        );
        self.todelete = Some(todelete);
    }

    /// Whether steps are deleted by a thread of its own, so that the next save does not
    /// wait for it. [`close`](super::CheckpointManager::close) waits.
    pub fn enable_background_delete(mut self, enable: bool) -> Self {
        self.enable_background_delete = enable;
        self
    }

    /// How many threads delete the files of a step; as many as write, if not set.
    ///
    /// # Panics
    /// If it is 0.
    #[track_caller]
    pub fn num_deletion_threads(mut self, threads: usize) -> Self {
        assert!(
            threads > 0,
            "CheckpointManagerOptions::num_deletion_threads: 0 threads delete nothing\n  help: give 1 at \
             least"
        );
        self.num_deletion_threads = Some(threads);
        self
    }
}

/// Writing.
impl CheckpointManagerOptions {
    /// Whether a save goes on in the background when its caller has its snapshot; it does,
    /// if not set.
    pub fn enable_async_checkpointing(mut self, enable: bool) -> Self {
        self.saver = self.saver.asynchronous(enable);
        self
    }

    /// How many threads write; between 4 and 16, as there are cores, if not set.
    ///
    /// # Panics
    /// If it is 0.
    #[track_caller]
    pub fn threads(mut self, threads: usize) -> Self {
        self.saver = self.saver.threads(threads);
        self
    }

    /// How long processes wait for each other; 20 minutes, if not set (`AsyncOptions`).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.saver = self.saver.timeout(timeout);
        self
    }

    /// A function that is called when a step is committed, from the thread that wrote it
    /// (`AsyncOptions`).
    pub fn post_finalization_callback(mut self, f: impl Fn() + Send + Sync + 'static) -> Self {
        self.saver = self.saver.post_finalization_callback(f);
        self
    }

    /// How a step becomes a checkpoint (`AtomicityOptions`).
    pub fn atomicity(mut self, atomicity: Atomicity) -> Self {
        self.saver = self.saver.atomicity(atomicity);
        self
    }

    /// The permissions of the folders of steps, as a number of Unix such as `0o750`
    /// (`FileOptions`).
    pub fn path_permission_mode(mut self, mode: u32) -> Self {
        self.saver = self.saver.path_permission_mode(mode);
        self
    }

    /// How the processes find each other that save together.
    pub fn multiprocessing_options(mut self, options: MultiprocessingOptions) -> Self {
        self.saver = self.saver.multiprocessing(options);
        self
    }
}

impl std::fmt::Debug for CheckpointManagerOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CheckpointManagerOptions")
            .field("save_interval_steps", &self.save_interval_steps)
            .field("max_to_keep", &self.max_to_keep)
            .field("keep_period", &self.keep_period)
            .field("best_mode", &self.best_fn.as_ref().map(|_| self.best_mode))
            .field("names", &self.names)
            .field("read_only", &self.read_only)
            .field("saver", &self.saver)
            .finish_non_exhaustive()
    }
}
