//! Checkpoints of a run: the state of training, and where the data stood.
//!
//! This is the one place of the examples that knows how they are kept.

use super::Result;
use ramie::Tree;
use ramie::checkpoint::items::{Composite, IteratorRestore, IteratorSave};
use ramie::checkpoint::manager::{CheckpointManager, CheckpointManagerOptions};
use ramie::checkpoint::pytree::{StandardRestore, StandardSave};
use serde::{Serialize, de::DeserializeOwned};
use std::path::Path;

/// How many checkpoints are kept.
const KEPT: usize = 2;

/// The checkpoints of a run.
pub struct Checkpoints {
    manager: CheckpointManager,
    /// Whether those that are there are of this run.
    ours: bool,
}

impl Checkpoints {
    /// Those of a folder; a run that is not resumed begins without any.
    pub fn open(folder: &Path, resume: bool) -> Result<Checkpoints> {
        let options = CheckpointManagerOptions::new()
            .max_to_keep(KEPT)
            // What a killed run left half written.
            .cleanup_tmp_directories(true);
        Ok(Checkpoints {
            manager: CheckpointManager::new(folder, options)?,
            ours: resume,
        })
    }

    /// Saves the state after a step. It is written while training goes on.
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

    /// Replaces a state by that of the last checkpoint, and says after which step
    /// it was saved and where the data stood; nothing if there is none.
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
