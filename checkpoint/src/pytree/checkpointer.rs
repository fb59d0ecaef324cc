//! Saving to and restoring from one path, without steps.

use super::{PyTreeRestore, PyTreeSave, StandardRestore, StandardSave, TreeMetadata, metadata};
use crate::Result;
use crate::commit::{SaveOptions, SaveReport, Saver, SaverOptions, restore_item};
use crate::items::{RestoreArgs, SaveArgs};
use ramie_core::{State, Tree};
use std::path::Path;

/// Saves one item to a path, and waits for the end (`orbax.checkpoint.Checkpointer`).
///
/// What is there appears at once, when everything is on the disk. For checkpoints of a
/// run's steps there is [`CheckpointManager`](crate::manager::CheckpointManager).
///
/// ```
/// use ramie_checkpoint::items::{JsonRestore, JsonSave};
/// use ramie_checkpoint::pytree::Checkpointer;
/// # fn main() -> ramie_checkpoint::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("settings");
/// let checkpointer = Checkpointer::new();
/// checkpointer.save(&path, &JsonSave::new(&[1, 2, 3]))?;
/// assert_eq!(checkpointer.restore(&path, JsonRestore::<Vec<u32>>::new())?, [1, 2, 3]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Checkpointer(AsyncCheckpointer);

impl Checkpointer {
    /// One with the usual options.
    pub fn new() -> Checkpointer {
        Checkpointer::with_options(SaverOptions::new())
    }

    /// One with these options, whatever they say of the background.
    pub fn with_options(options: SaverOptions) -> Checkpointer {
        Checkpointer(AsyncCheckpointer(Saver::new(options.asynchronous(false))))
    }

    /// Saves an item, or a composite of several.
    ///
    /// # Errors
    /// If the path is taken, or something cannot be written; then nothing has changed.
    pub fn save(&self, path: impl AsRef<Path>, args: &dyn SaveArgs) -> Result<()> {
        self.0.save(path, args)
    }

    /// [`save`](Checkpointer::save), which may replace what is there.
    ///
    /// # Errors
    /// If something cannot be written; what was there is then as it was.
    pub fn save_with(
        &self,
        path: impl AsRef<Path>,
        args: &dyn SaveArgs,
        options: SaveOptions,
    ) -> Result<()> {
        self.0.save_with(path, args, options)
    }

    /// Restores what was saved.
    ///
    /// # Errors
    /// If a file is missing, damaged, cannot be read, or holds something else.
    pub fn restore<R: RestoreArgs>(&self, path: impl AsRef<Path>, args: R) -> Result<R::Item> {
        restore_item(path, args)
    }

    /// How long the last save took.
    pub fn last_report(&self) -> Option<SaveReport> {
        self.0.last_report()
    }
}

impl Default for Checkpointer {
    fn default() -> Self {
        Checkpointer::new()
    }
}

/// Saves one item to a path, in the background (`orbax.checkpoint.AsyncCheckpointer`).
///
/// A save returns when what it saves can change: on CPUs at once, since a step copies
/// the arrays that are still being written, on accelerators when they are copied to
/// the host. The next save waits for the last. What fails in the background is
/// returned by the next call.
///
/// ```
/// use ramie_checkpoint::pytree::{AsyncCheckpointer, StandardRestore, StandardSave};
/// use ramie_core::{Array, DType, State};
/// # fn main() -> ramie_checkpoint::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("weights");
/// let params = State::from_iter([("w", Array::ones(&[1000], DType::F32))]);
/// let checkpointer = AsyncCheckpointer::new();
/// checkpointer.save(&path, &StandardSave::new(&params))?;
/// // … training goes on …
/// checkpointer.wait_until_finished()?;
/// println!("{}", checkpointer.last_report().unwrap());
/// let params = checkpointer.restore(&path, StandardRestore::new(&params))?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct AsyncCheckpointer(Saver);

impl AsyncCheckpointer {
    /// One with the usual options.
    pub fn new() -> AsyncCheckpointer {
        AsyncCheckpointer::with_options(SaverOptions::new())
    }

    /// One with these options.
    pub fn with_options(options: SaverOptions) -> AsyncCheckpointer {
        AsyncCheckpointer(Saver::new(options))
    }

    /// Saves an item, or a composite of several.
    ///
    /// # Errors
    /// The failure of the save before this one, and then nothing is saved; if the path is
    /// taken; and if the values cannot be read.
    pub fn save(&self, path: impl AsRef<Path>, args: &dyn SaveArgs) -> Result<()> {
        self.save_with(path, args, SaveOptions::new())
    }

    /// [`save`](AsyncCheckpointer::save), which may replace what is there.
    ///
    /// # Errors
    /// Those of [`save`](AsyncCheckpointer::save).
    pub fn save_with(
        &self,
        path: impl AsRef<Path>,
        args: &dyn SaveArgs,
        options: SaveOptions,
    ) -> Result<()> {
        self.0.save(path.as_ref(), args, options)
    }

    /// Restores what was saved, when the save that is going on is at its end.
    ///
    /// # Errors
    /// The failure of that save. If a file is missing, damaged, cannot be read, or
    /// holds something else.
    pub fn restore<R: RestoreArgs>(&self, path: impl AsRef<Path>, args: R) -> Result<R::Item> {
        self.wait_until_finished()?;
        restore_item(path, args)
    }

    /// Waits for the end of the save that is going on.
    ///
    /// # Errors
    /// Its failure.
    pub fn wait_until_finished(&self) -> Result<()> {
        self.0.wait_until_finished()
    }

    /// Returns what failed in the background since the last call, without waiting.
    ///
    /// # Errors
    /// That failure.
    pub fn check_for_errors(&self) -> Result<()> {
        self.0.check_for_errors()
    }

    /// Whether a save is going on.
    pub fn is_saving_in_progress(&self) -> bool {
        self.0.is_saving_in_progress()
    }

    /// How long the last save took that was committed.
    pub fn last_report(&self) -> Option<SaveReport> {
        self.0.last_report()
    }
}

impl Default for AsyncCheckpointer {
    fn default() -> Self {
        AsyncCheckpointer::new()
    }
}

/// Saves trees of arrays in the background, with the usual options
/// (`orbax.checkpoint.StandardCheckpointer`).
///
/// ```
/// use ramie_checkpoint::pytree::StandardCheckpointer;
/// use ramie_core::{Array, DType};
/// # fn main() -> ramie_checkpoint::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("pair");
/// let pair = (Array::ones(&[2], DType::F32), Array::zeros(&[3], DType::I32));
/// let checkpointer = StandardCheckpointer::new();
/// checkpointer.save(&path, &pair)?;
/// let restored = checkpointer.restore(&path, &pair)?;
/// assert_eq!(restored.0.to_vec::<f32>(), [1.0, 1.0]);
/// assert_eq!(checkpointer.restore_state(&path)?["1"].shape(), [3]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct StandardCheckpointer(AsyncCheckpointer);

impl StandardCheckpointer {
    /// One with the usual options.
    pub fn new() -> StandardCheckpointer {
        StandardCheckpointer::default()
    }

    /// Saves a tree.
    ///
    /// # Errors
    /// Those of [`AsyncCheckpointer::save`].
    pub fn save<T: Tree>(&self, path: impl AsRef<Path>, tree: &T) -> Result<()> {
        self.0.save(path, &StandardSave::new(tree))
    }

    /// [`save`](StandardCheckpointer::save), which may replace what is there.
    ///
    /// # Errors
    /// Those of [`AsyncCheckpointer::save`].
    pub fn save_with<T: Tree>(
        &self,
        path: impl AsRef<Path>,
        tree: &T,
        options: SaveOptions,
    ) -> Result<()> {
        self.0.save_with(path, &StandardSave::new(tree), options)
    }

    /// Restores a tree like the target.
    ///
    /// # Errors
    /// Those of [`AsyncCheckpointer::restore`].
    pub fn restore<T: Tree>(&self, path: impl AsRef<Path>, target: &T) -> Result<T> {
        self.0.restore(path, StandardRestore::new(target))
    }

    /// Restores everything there is, by dotted names.
    ///
    /// # Errors
    /// Those of [`AsyncCheckpointer::restore`].
    pub fn restore_state(&self, path: impl AsRef<Path>) -> Result<State> {
        self.0.restore(path, StandardRestore::state())
    }

    /// What is known of a saved tree without reading its arrays.
    ///
    /// # Errors
    /// Those of [`metadata`].
    pub fn metadata(&self, path: impl AsRef<Path>) -> Result<TreeMetadata> {
        self.0.wait_until_finished()?;
        metadata(path)
    }

    /// Waits for the end of the save that is going on.
    ///
    /// # Errors
    /// Its failure.
    pub fn wait_until_finished(&self) -> Result<()> {
        self.0.wait_until_finished()
    }

    /// How long the last save took that was committed.
    pub fn last_report(&self) -> Option<SaveReport> {
        self.0.last_report()
    }
}

/// Saves trees of arrays, and waits for the end
/// (`orbax.checkpoint.PyTreeCheckpointer`).
///
/// ```
/// use ramie_checkpoint::pytree::{PyTreeCheckpointer, PyTreeRestore, PyTreeSave, Zarr};
/// use ramie_core::{Array, DType};
/// # fn main() -> ramie_checkpoint::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("pair");
/// let pair = (Array::ones(&[2], DType::F32), Array::zeros(&[3], DType::I32));
/// let checkpointer = PyTreeCheckpointer::new();
/// checkpointer.save(&path, &PyTreeSave::new(&pair).zarr(Zarr::V3))?;
/// let restored = checkpointer.restore(&path, PyTreeRestore::new(&pair))?;
/// assert_eq!(restored.1.to_vec::<i32>(), [0, 0, 0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct PyTreeCheckpointer(Checkpointer);

impl PyTreeCheckpointer {
    /// One with the usual options.
    pub fn new() -> PyTreeCheckpointer {
        PyTreeCheckpointer::default()
    }

    /// Saves a tree.
    ///
    /// # Errors
    /// Those of [`Checkpointer::save`].
    pub fn save<T: Tree>(&self, path: impl AsRef<Path>, args: &PyTreeSave<'_, T>) -> Result<()> {
        self.0.save(path, args)
    }

    /// Restores a tree.
    ///
    /// # Errors
    /// Those of [`Checkpointer::restore`].
    pub fn restore<T: Tree>(
        &self,
        path: impl AsRef<Path>,
        args: PyTreeRestore<'_, T>,
    ) -> Result<T> {
        self.0.restore(path, args)
    }

    /// What is known of a saved tree without reading its arrays.
    ///
    /// # Errors
    /// Those of [`metadata`].
    pub fn metadata(&self, path: impl AsRef<Path>) -> Result<TreeMetadata> {
        metadata(path)
    }
}
