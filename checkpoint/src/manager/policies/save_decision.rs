//! Policies that decide when to save a checkpoint.

use super::CheckpointInfo;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// State that a [`SaveDecisionPolicy`] sees in addition to the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecisionContext {
    /// Whether a save is running in the background.
    pub is_saving_in_progress: bool,
    /// Whether the program should [save and exit](crate::preemption).
    pub reached_preemption: bool,
}

impl DecisionContext {
    /// Creates a context from its two fields.
    pub fn new(is_saving_in_progress: bool, reached_preemption: bool) -> DecisionContext {
        DecisionContext {
            is_saving_in_progress,
            reached_preemption,
        }
    }
}

/// Decides whether a step is saved.
pub trait SaveDecisionPolicy: Send + Sync {
    /// Returns whether to save `step`, given the `previous` checkpoints in ascending order. The
    /// time of `step` is the current time, and it has no metrics yet.
    fn should_save(
        &self,
        step: &CheckpointInfo,
        previous: &[CheckpointInfo],
        context: &DecisionContext,
    ) -> bool;

    /// Returns whether every process is certain to make the same decision. If not, for example
    /// because clocks are involved, the primary process decides for all.
    fn same_everywhere(&self) -> bool {
        false
    }
}

/// Policy that saves the multiples of a number.
#[derive(Clone, Copy, Debug)]
pub struct FixedIntervalPolicy(u64);

impl FixedIntervalPolicy {
    /// Creates a policy that saves the multiples of `interval`.
    ///
    /// # Panics
    /// Panics if `interval` is 0.
    #[track_caller]
    pub fn new(interval: u64) -> FixedIntervalPolicy {
        assert!(
            interval > 0,
            "FixedIntervalPolicy: `interval` is 0\n  help: pass at least 1"
        );
        FixedIntervalPolicy(interval)
    }
}

impl SaveDecisionPolicy for FixedIntervalPolicy {
    fn should_save(
        &self,
        step: &CheckpointInfo,
        _: &[CheckpointInfo],
        _: &DecisionContext,
    ) -> bool {
        step.step.is_multiple_of(self.0)
    }

    fn same_everywhere(&self) -> bool {
        true
    }
}

/// Policy that saves a fixed set of steps.
#[derive(Clone, Debug, Default)]
pub struct SpecificStepsPolicy(BTreeSet<u64>);

impl SpecificStepsPolicy {
    /// Creates a policy that saves these steps.
    pub fn new(steps: impl IntoIterator<Item = u64>) -> SpecificStepsPolicy {
        SpecificStepsPolicy(steps.into_iter().collect())
    }
}

impl SaveDecisionPolicy for SpecificStepsPolicy {
    fn should_save(
        &self,
        step: &CheckpointInfo,
        _: &[CheckpointInfo],
        _: &DecisionContext,
    ) -> bool {
        self.0.contains(&step.step)
    }

    fn same_everywhere(&self) -> bool {
        true
    }
}

/// Policy that saves as often as possible: whenever no save is running and a minimum time has
/// passed since the last one.
#[derive(Clone, Copy, Debug, Default)]
pub struct ContinuousCheckpointingPolicy {
    /// Minimum time between two saves.
    pub minimum_interval: Option<Duration>,
}

impl SaveDecisionPolicy for ContinuousCheckpointingPolicy {
    fn should_save(
        &self,
        step: &CheckpointInfo,
        previous: &[CheckpointInfo],
        context: &DecisionContext,
    ) -> bool {
        if context.is_saving_in_progress {
            return false;
        }
        match (previous.last(), self.minimum_interval) {
            (Some(last), Some(interval)) => {
                let since = step.time.duration_since(last.time);
                since.is_ok_and(|d| d >= interval)
            }
            _ => true,
        }
    }
}

/// Policy that saves on a preemption request.
#[derive(Clone, Copy, Debug, Default)]
pub struct PreemptionCheckpointingPolicy;

impl SaveDecisionPolicy for PreemptionCheckpointingPolicy {
    fn should_save(
        &self,
        _: &CheckpointInfo,
        _: &[CheckpointInfo],
        context: &DecisionContext,
    ) -> bool {
        context.reached_preemption
    }

    fn same_everywhere(&self) -> bool {
        true
    }
}

/// Policy that saves if there is no checkpoint yet.
#[derive(Clone, Copy, Debug, Default)]
pub struct InitialSavePolicy;

impl SaveDecisionPolicy for InitialSavePolicy {
    fn should_save(
        &self,
        _: &CheckpointInfo,
        previous: &[CheckpointInfo],
        _: &DecisionContext,
    ) -> bool {
        previous.is_empty()
    }

    fn same_everywhere(&self) -> bool {
        true
    }
}

/// Policy that saves a step if any of several policies does.
#[derive(Clone)]
pub struct AnySavePolicy(Vec<Arc<dyn SaveDecisionPolicy>>);

impl AnySavePolicy {
    /// Creates a policy that saves what any of these policies saves.
    pub fn new(policies: Vec<Arc<dyn SaveDecisionPolicy>>) -> AnySavePolicy {
        AnySavePolicy(policies)
    }
}

impl SaveDecisionPolicy for AnySavePolicy {
    fn should_save(
        &self,
        step: &CheckpointInfo,
        previous: &[CheckpointInfo],
        context: &DecisionContext,
    ) -> bool {
        let mut policies = self.0.iter();
        policies.any(|policy| policy.should_save(step, previous, context))
    }

    fn same_everywhere(&self) -> bool {
        self.0.iter().all(|policy| policy.same_everywhere())
    }
}

/// Policy that calls a function with the step and the last saved step.
#[derive(Clone)]
pub struct ShouldSave(pub(crate) Arc<dyn Fn(u64, Option<u64>) -> bool + Send + Sync>);

impl ShouldSave {
    /// Creates a policy that saves if the function returns `true`.
    ///
    /// ```
    /// use ramie_checkpoint::manager::policies::ShouldSave;
    /// let policy = ShouldSave::new(|step, last| last.is_none_or(|last| step >= 2 * last));
    /// # let _ = policy;
    /// ```
    pub fn new(f: impl Fn(u64, Option<u64>) -> bool + Send + Sync + 'static) -> ShouldSave {
        ShouldSave(Arc::new(f))
    }
}

impl SaveDecisionPolicy for ShouldSave {
    fn should_save(
        &self,
        step: &CheckpointInfo,
        previous: &[CheckpointInfo],
        _: &DecisionContext,
    ) -> bool {
        (self.0)(step.step, previous.last().map(|last| last.step))
    }
}
