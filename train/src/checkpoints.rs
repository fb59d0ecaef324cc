//! Checkpoints of a run: its state, the position in the data, and the progress of the trainer.

use crate::folder::{BEST, CHECKPOINTS};
use crate::monitor::Observed;
use crate::number::Number;
use crate::{Error, Result, Resume};
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
    /// Whether the run has ended, so that only `Resume::Always` continues it.
    pub finished: bool,
    /// The current epoch.
    pub epoch: usize,
    /// Sums of the metrics of this epoch, weighted by rows, and the number of rows.
    pub sums: Vec<Number>,
    pub rows: u64,
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
}

/// Returns whether a folder contains a run that has finished, which a trainer refuses to replace by
/// default.
///
/// ```
/// use ramie_train::is_finished;
/// assert!(!is_finished("out/none")?);
/// # Ok::<(), ramie_train::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the last checkpoint cannot be read.
pub fn is_finished(folder: impl AsRef<Path>) -> Result<bool> {
    let folder = folder.as_ref();
    if !folder.join(CHECKPOINTS).exists() {
        return Ok(false);
    }
    let options = CheckpointManagerOptions::new().read_only(true);
    let manager = CheckpointManager::new(folder.join(CHECKPOINTS), options)?;
    Ok(latest(&manager)?.is_some_and(|(_, saved)| saved.finished))
}

/// Returns the step and the progress of the last checkpoint, if there is one.
fn latest(manager: &CheckpointManager) -> Result<Option<(u64, Saved)>> {
    let Some(step) = manager.latest_step() else {
        return Ok(None);
    };
    let trainer = Composite::new().item("trainer", JsonRestore::<Saved>::new());
    let (saved,) = manager.restore(step, trainer)?;
    Ok(Some((step, saved)))
}

impl Checkpoints {
    pub fn open(folder: &Path, keep: usize) -> Result<Checkpoints> {
        let options = CheckpointManagerOptions::new()
            .max_to_keep(keep)
            // Partial checkpoints of a killed run.
            .cleanup_tmp_directories(true);
        let manager = CheckpointManager::new(folder.join(CHECKPOINTS), options)?;
        Ok(Checkpoints { manager })
    }

    /// Replaces the state with that of the last checkpoint, if there is one.
    ///
    /// # Errors
    /// Returns an error if the run has finished and only an unfinished one should be resumed.
    pub fn restore<S: Tree, P: DeserializeOwned>(
        &self,
        folder: &Path,
        state: &mut S,
        resume: Resume,
    ) -> Result<Option<Restored<P>>> {
        let Some((step, saved)) = latest(&self.manager)? else {
            return Ok(None);
        };
        if saved.finished && resume == Resume::Unfinished {
            return Err(Error::Finished {
                folder: folder.to_owned(),
                step,
            });
        }
        let items = Composite::new()
            .item("state", StandardRestore::new(&*state))
            .item("data", IteratorRestore::<P>::new());
        let (restored, position) = self.manager.restore(step, items)?;
        *state = restored;
        Ok(Some(Restored {
            step,
            position,
            saved,
        }))
    }

    /// Saves a checkpoint; its files are written while training continues.
    pub fn save<S: Tree>(
        &self,
        step: u64,
        state: &S,
        position: &impl Serialize,
        saved: &Saved,
    ) -> Result {
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
    /// The step that a resumed run continues. Later states belong to steps that it computes again.
    resumed: u64,
    /// Whether later states may exist.
    later: bool,
}

impl Best {
    /// Opens the folder of a run that continues after a step, 0 for a new one.
    pub fn open(folder: &Path, resumed: u64) -> Result<Best> {
        let options = CheckpointManagerOptions::new()
            .max_to_keep(1)
            .cleanup_tmp_directories(true);
        let manager = CheckpointManager::new(folder.join(BEST), options)?;
        Ok(Best {
            manager,
            resumed,
            later: true,
        })
    }

    /// Removes the states of steps after the resumed one. A run that is killed before it has another
    /// best state leaves them.
    fn remove_later(&mut self) -> Result {
        if std::mem::take(&mut self.later) {
            for step in self.manager.all_steps() {
                if step > self.resumed {
                    self.manager.delete(step)?;
                }
            }
        }
        Ok(())
    }

    pub fn save<S: Tree>(&mut self, step: u64, state: &S) -> Result {
        self.remove_later()?;
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
    pub fn restore<S: Tree>(&mut self, state: &mut S) -> Result<Option<u64>> {
        self.remove_later()?;
        self.manager.wait_until_finished()?;
        let Some(step) = self.manager.latest_step() else {
            return Ok(None);
        };
        *state = self.manager.restore(step, StandardRestore::new(&*state))?;
        Ok(Some(step))
    }
}
