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

/// Implements [`SaveDecisionPolicy`] by a function of the policy and of the arguments of
/// `should_save`. `everywhere` is the result of `same_everywhere`.
macro_rules! decides {
    ($name:ident, everywhere: $same:literal, |$policy:ident, $step:ident, $previous:ident, $context:ident| $body:expr) => {
        impl SaveDecisionPolicy for $name {
            fn should_save(
                &self,
                $step: &CheckpointInfo,
                $previous: &[CheckpointInfo],
                $context: &DecisionContext,
            ) -> bool {
                let $policy = self;
                $body
            }

            fn same_everywhere(&self) -> bool {
                $same
            }
        }
    };
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

decides! { FixedIntervalPolicy, everywhere: true, |policy, step, _previous, _context| step.step.is_multiple_of(policy.0) }

/// Policy that saves a fixed set of steps.
#[derive(Clone, Debug, Default)]
pub struct SpecificStepsPolicy(BTreeSet<u64>);

impl SpecificStepsPolicy {
    /// Creates a policy that saves these steps.
    pub fn new(steps: impl IntoIterator<Item = u64>) -> SpecificStepsPolicy {
        SpecificStepsPolicy(steps.into_iter().collect())
    }
}

decides! { SpecificStepsPolicy, everywhere: true, |policy, step, _previous, _context| policy.0.contains(&step.step) }

/// Policy that saves as often as possible: whenever no save is running and a minimum time has
/// passed since the last one.
#[derive(Clone, Copy, Debug, Default)]
pub struct ContinuousCheckpointingPolicy {
    /// Minimum time between two saves.
    pub minimum_interval: Option<Duration>,
}

decides! { ContinuousCheckpointingPolicy, everywhere: false, |policy, step, previous, context| {
    let long_enough = match (previous.last(), policy.minimum_interval) {
        (Some(last), Some(interval)) => {
            let since = step.time.duration_since(last.time);
            since.is_ok_and(|d| d >= interval)
        }
        _ => true,
    };
    !context.is_saving_in_progress && long_enough
} }

/// Policy that saves on a preemption request.
#[derive(Clone, Copy, Debug, Default)]
pub struct PreemptionCheckpointingPolicy;

decides! { PreemptionCheckpointingPolicy, everywhere: true, |_policy, _step, _previous, context| context.reached_preemption }

/// Policy that saves if there is no checkpoint yet.
#[derive(Clone, Copy, Debug, Default)]
pub struct InitialSavePolicy;

decides! { InitialSavePolicy, everywhere: true, |_policy, _step, previous, _context| previous.is_empty() }

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

decides! { ShouldSave, everywhere: false, |policy, step, previous, _context| {
    (policy.0)(step.step, previous.last().map(|last| last.step))
} }
