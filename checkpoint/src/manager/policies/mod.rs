//! Policies that decide when to save a checkpoint and which ones to keep.
//!
//! A [`SaveDecisionPolicy`] decides before a save, a [`PreservationPolicy`] after it. Both receive
//! the existing steps as [`CheckpointInfo`]s in ascending order.

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

/// Information about a checkpoint, passed to policies.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckpointInfo {
    /// Step number.
    pub step: u64,
    /// Approximate time of the save.
    pub time: SystemTime,
    /// Metrics of the step, if any.
    pub metrics: Option<Metrics>,
}
