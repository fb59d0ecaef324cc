//! When a checkpoint is saved, and which are kept.
//!
//! A [`SaveDecisionPolicy`] decides before a save, a [`PreservationPolicy`] after it.
//! Both see the steps that there are, as [`CheckpointInfo`]s in order.

mod preservation;
mod save_decision;

pub use preservation::{
    AnyPreservationPolicy, BestMode, BestN, CustomSteps, EveryNSeconds, EveryNSteps,
    EveryNStepsClosest, LatestDuration, LatestN, PreservationPolicy, PreserveAll,
};
pub use save_decision::{
    AnySavePolicy, ContinuousCheckpointingPolicy, DecisionContext, FixedIntervalPolicy,
    InitialSavePolicy, PreemptionCheckpointingPolicy, SaveDecisionPolicy, ShouldSave,
    SpecificStepsPolicy,
};

pub(crate) use preservation::worse_first;

use super::Metrics;
use std::time::SystemTime;

/// What policies know of a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckpointInfo {
    /// The step.
    pub step: u64,
    /// About when it was saved.
    pub time: SystemTime,
    /// What was measured at the step, if anything was.
    pub metrics: Option<Metrics>,
}
