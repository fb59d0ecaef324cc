//! The batches that a loader makes, as lists of indices.

use super::batch_sampler::{Batches, Plan};
use super::state::LoaderState;
use crate::Result;
use crate::rows::Rows;

/// The number of epochs of an endless iteration.
pub(super) const ENDLESS: usize = usize::MAX;

/// The description of one batch.
pub(super) struct Task {
    pub epoch: usize,
    /// The indices of the elements, for the rows of this process.
    pub indices: Vec<usize>,
    /// Mask of the rows that count; empty if batches are not masked.
    pub counts: Vec<bool>,
}

/// The tasks of a range of epochs, in order.
pub(super) struct Tasks {
    plan: Plan,
    rows: Rows,
    /// The minimum number of rows, if batches are masked.
    fill: Option<usize>,
    end: usize,
    epoch: usize,
    position: usize,
    batches: Batches,
    fingerprint: u64,
}

impl Tasks {
    /// Creates the tasks of the epochs from `epoch` up to, but not including, `end`.
    pub(super) fn new(
        plan: Plan,
        rows: Rows,
        fill: Option<usize>,
        epoch: usize,
        end: usize,
    ) -> Tasks {
        let batches = plan.epoch(epoch);
        Tasks {
            fingerprint: batches.fingerprint(),
            plan,
            rows,
            fill,
            end,
            epoch,
            position: 0,
            batches,
        }
    }

    /// Returns the number of elements of the first epoch if all of them are dropped.
    pub(super) fn all_dropped(&self) -> Option<usize> {
        self.batches.all_dropped()
    }

    /// Continues from a state of this epoch.
    pub(super) fn resume(&mut self, state: &LoaderState) -> Result<()> {
        self.position = state.check(self.batches.len(), self.fingerprint)?;
        Ok(())
    }

    /// Moves to a batch of this epoch, or to its end.
    pub(super) fn skip(&mut self, batch: usize) {
        self.position = self.batches.position(batch);
    }

    /// Returns the position of the next task.
    pub(super) fn state(&self) -> LoaderState {
        LoaderState::new(
            self.epoch,
            self.position,
            self.batches.len(),
            self.fingerprint,
        )
    }

    /// Returns the number of tasks that are left, if this epoch is the last one and not endless.
    pub(super) fn remaining(&self) -> Option<usize> {
        let count = self.batches.count_from(self.position);
        (self.epoch + 1 == self.end && count < usize::MAX).then_some(count)
    }

    pub(super) fn next(&mut self) -> Option<Task> {
        let (len, behind) = loop {
            if self.epoch >= self.end {
                return None;
            }
            if let Some(batch) = self.batches.at(self.position) {
                break batch;
            }
            // Without batches, an endless iteration would search forever.
            let nothing = self.end == ENDLESS && self.position == 0;
            if nothing || self.epoch + 1 == self.end {
                return None;
            }
            self.epoch += 1;
            self.position = 0;
            self.batches = self.plan.epoch(self.epoch);
            self.fingerprint = self.batches.fingerprint();
        };
        let rows = len.max(self.fill.unwrap_or(0));
        let rows = rows.next_multiple_of(self.rows.tiles);
        let places = || self.rows.places(rows);
        let task = Task {
            epoch: self.epoch,
            indices: places()
                .map(|place| self.batches.index(self.position, len, place))
                .collect(),
            counts: match self.fill {
                Some(_) => places().map(|place| place < len).collect(),
                None => Vec::new(),
            },
        };
        self.position = behind;
        Some(task)
    }
}
