//! When a checkpoint is saved.

use super::CheckpointInfo;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// What a [`SaveDecisionPolicy`] knows besides the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecisionContext {
    /// Whether a save goes on in the background.
    pub is_saving_in_progress: bool,
    /// Whether the program is to [save and end](crate::preemption).
    pub reached_preemption: bool,
}

impl DecisionContext {
    /// Of these answers.
    pub fn new(is_saving_in_progress: bool, reached_preemption: bool) -> DecisionContext {
        DecisionContext {
            is_saving_in_progress,
            reached_preemption,
        }
    }
}

/// Says whether a step is saved.
pub trait SaveDecisionPolicy: Send + Sync {
    /// Whether this step is saved, after these, which are in order. The time of the step
    /// is now, and it has no metrics yet.
    fn should_save(
        &self,
        step: &CheckpointInfo,
        previous: &[CheckpointInfo],
        context: &DecisionContext,
    ) -> bool;

    /// Whether every process decides alike for sure. If not, as with times, the primary
    /// one decides for all.
    fn same_everywhere(&self) -> bool {
        false
    }
}

/// Saves the steps that a number divides.
#[derive(Clone, Copy, Debug)]
pub struct FixedIntervalPolicy(u64);

impl FixedIntervalPolicy {
    /// Saves the multiples of this number.
    ///
    /// # Panics
    /// If it is 0.
    #[track_caller]
    pub fn new(interval: u64) -> FixedIntervalPolicy {
        assert!(
            interval > 0,
            "FixedIntervalPolicy: every 0 steps\n  help: give 1 at least"
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

/// Saves certain steps.
#[derive(Clone, Debug, Default)]
pub struct SpecificStepsPolicy(BTreeSet<u64>);

impl SpecificStepsPolicy {
    /// Saves these.
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

/// Saves as often as it can: whenever no save goes on, and some time has gone by since
/// the last.
#[derive(Clone, Copy, Debug, Default)]
pub struct ContinuousCheckpointingPolicy {
    /// The least time between two saves.
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

/// Saves when the program is to end.
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

/// Saves the first step, if there is none yet.
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

/// Saves what any of several policies saves.
#[derive(Clone)]
pub struct AnySavePolicy(Vec<Arc<dyn SaveDecisionPolicy>>);

impl AnySavePolicy {
    /// Saves what any of these saves.
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

/// Saves as a function says, of the step and the last one that was saved.
#[derive(Clone)]
pub struct ShouldSave(pub(crate) Arc<dyn Fn(u64, Option<u64>) -> bool + Send + Sync>);

impl ShouldSave {
    /// Saves as this function says.
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
