//! Checkpoints of a run: training state and data position.

use super::Result;
use ramie::Tree;
use ramie::checkpoint::items::{Composite, IteratorRestore, IteratorSave};
use ramie::checkpoint::manager::{CheckpointManager, CheckpointManagerOptions};
use ramie::checkpoint::pytree::{StandardRestore, StandardSave};
use serde::{Serialize, de::DeserializeOwned};
use std::path::Path;

/// Number of checkpoints to keep.
const KEPT: usize = 2;

/// Checkpoints of a run.
pub struct Checkpoints {
    manager: CheckpointManager,
    /// Whether existing checkpoints belong to this run.
    ours: bool,
}

impl Checkpoints {
    /// Opens the checkpoints in a directory. A run that is not resumed ignores existing ones.
    pub fn open(folder: &Path, resume: bool) -> Result<Checkpoints> {
        let options = CheckpointManagerOptions::new()
            .max_to_keep(KEPT)
            // Remove partial checkpoints of a killed run.
            .cleanup_tmp_directories(true);
        Ok(Checkpoints {
            manager: CheckpointManager::new(folder, options)?,
            ours: resume,
        })
    }

    /// Saves the state after a step; the checkpoint is written while training continues.
    pub fn save<T: Tree>(&mut self, step: u64, state: &T, data: &impl Serialize) -> Result {
        if !self.ours {
            for step in self.manager.all_steps() {
                self.manager.delete(step)?;
            }
            self.ours = true;
        }
        let items = Composite::new()
            .item("state", StandardSave::new(state))
            .item("data", IteratorSave::new(data));
        self.manager.save(step, &items)?;
        Ok(())
    }

    /// Replaces a state with that of the last checkpoint. Returns its step and data position, or
    /// `None` if there is no checkpoint.
    pub fn restore<T: Tree, D: DeserializeOwned>(&self, state: &mut T) -> Result<Option<(u64, D)>> {
        let Some(step) = self.manager.latest_step() else {
            return Ok(None);
        };
        let items = Composite::new()
            .item("state", StandardRestore::new(&*state))
            .item("data", IteratorRestore::<D>::new());
        let (restored, data) = self.manager.restore(step, items)?;
        *state = restored;
        Ok(Some((step, data)))
    }

    /// Waits until everything is written.
    pub fn finish(&self) -> Result {
        Ok(self.manager.wait_until_finished()?)
    }
}
