//! Checkpoints of a run: its state, the position in the data, and the progress of the trainer.

use crate::monitor::Observed;
use crate::number::Number;
use crate::{Result, Resume};
use ramie_checkpoint::items::{Composite, IteratorRestore, IteratorSave, JsonRestore, JsonSave};
use ramie_checkpoint::manager::{CheckpointManager, CheckpointManagerOptions};
use ramie_checkpoint::pytree::{StandardRestore, StandardSave};
use ramie_core::Tree;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::path::Path;

/// The progress of a trainer, beside the state and the position in the data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Saved {
    /// Whether the run has ended, so that another one starts from the beginning.
    pub finished: bool,
    /// The current epoch.
    pub epoch: usize,
    /// Sums of the metrics of this epoch, and their number.
    pub sums: Vec<Number>,
    pub count: u64,
    pub stopping: Observed,
    pub best: Observed,
    /// The states of the callbacks.
    pub callbacks: Vec<Value>,
}

/// A restored checkpoint.
pub(crate) struct Restored<P> {
    pub step: u64,
    pub position: P,
    pub saved: Saved,
}

pub(crate) struct Checkpoints {
    manager: CheckpointManager,
    /// Whether existing checkpoints belong to this run.
    ours: bool,
}

impl Checkpoints {
    pub fn open(folder: &Path, keep: usize) -> Result<Checkpoints> {
        let options = CheckpointManagerOptions::new()
            .max_to_keep(keep)
            // Partial checkpoints of a killed run.
            .cleanup_tmp_directories(true);
        let manager = CheckpointManager::new(folder.join("checkpoints"), options)?;
        Ok(Checkpoints {
            manager,
            ours: false,
        })
    }

    /// Replaces the state with that of the last checkpoint, if that run should be resumed.
    pub fn restore<S: Tree, P: DeserializeOwned>(
        &mut self,
        state: &mut S,
        resume: Resume,
    ) -> Result<Option<Restored<P>>> {
        let (Some(step), false) = (self.manager.latest_step(), resume == Resume::Never) else {
            return Ok(None);
        };
        let trainer = Composite::new().item("trainer", JsonRestore::<Saved>::new());
        let (saved,) = self.manager.restore(step, trainer)?;
        if saved.finished && resume == Resume::Unfinished {
            return Ok(None);
        }
        let items = Composite::new()
            .item("state", StandardRestore::new(&*state))
            .item("data", IteratorRestore::<P>::new());
        let (restored, position) = self.manager.restore(step, items)?;
        *state = restored;
        self.ours = true;
        Ok(Some(Restored {
            step,
            position,
            saved,
        }))
    }

    /// Saves a checkpoint; its files are written while training continues.
    pub fn save<S: Tree>(
        &mut self,
        step: u64,
        state: &S,
        position: &impl Serialize,
        saved: &Saved,
    ) -> Result {
        if !self.ours {
            for step in self.manager.all_steps() {
                self.manager.delete(step)?;
            }
            self.ours = true;
        }
        let items = Composite::new()
            .item("state", StandardSave::new(state))
            .item("data", IteratorSave::new(position))
            .item("trainer", JsonSave::new(saved));
        self.manager.save(step, &items)?;
        Ok(())
    }

    /// Returns whether the program should save and exit after this step. All processes get the same
    /// answer.
    pub fn reached_preemption(&self, step: u64) -> bool {
        self.manager.reached_preemption(step)
    }

    /// Waits until everything is written.
    pub fn wait(&self) -> Result {
        Ok(self.manager.wait_until_finished()?)
    }
}

/// The best state of a run, in the folder `best`.
pub(crate) struct Best {
    manager: CheckpointManager,
}

impl Best {
    pub fn open(folder: &Path) -> Result<Best> {
        let options = CheckpointManagerOptions::new()
            .max_to_keep(1)
            .cleanup_tmp_directories(true);
        let manager = CheckpointManager::new(folder.join("best"), options)?;
        Ok(Best { manager })
    }

    /// Removes the states of earlier runs, and of steps after this one.
    pub fn remove_after(&self, step: Option<u64>) -> Result {
        for other in self.manager.all_steps() {
            if step.is_none_or(|step| other > step) {
                self.manager.delete(other)?;
            }
        }
        Ok(())
    }

    pub fn save<S: Tree>(&self, step: u64, state: &S) -> Result {
        Ok(self
            .manager
            .save(step, &StandardSave::new(state))
            .map(drop)?)
    }

    /// Waits until everything is written.
    pub fn wait(&self) -> Result {
        Ok(self.manager.wait_until_finished()?)
    }

    /// Replaces the state with the best one. Returns its step.
    pub fn restore<S: Tree>(&self, state: &mut S) -> Result<Option<u64>> {
        self.manager.wait_until_finished()?;
        let Some(step) = self.manager.latest_step() else {
            return Ok(None);
        };
        *state = self.manager.restore(step, StandardRestore::new(&*state))?;
        Ok(Some(step))
    }
}
