//! Saving to and restoring from a single path, without steps.

use super::{PyTreeRestore, PyTreeSave, StandardRestore, StandardSave, TreeMetadata, metadata};
use crate::Result;
use crate::commit::{SaveOptions, SaveReport, Saver, SaverOptions, restore_item};
use crate::items::{RestoreArgs, SaveArgs};
use ramie_core::{State, Tree};
use std::path::Path;

/// Saves one item to a path and waits until it is written (`orbax.checkpoint.Checkpointer`).
///
/// The checkpoint appears atomically, once all files are on disk. For the checkpoints of a run's
/// steps, use [`CheckpointManager`](crate::manager::CheckpointManager).
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
    /// Creates a checkpointer with default options.
    pub fn new() -> Checkpointer {
        Checkpointer::with_options(SaverOptions::new())
    }

    /// Creates a checkpointer with these options; `asynchronous` is ignored.
    pub fn with_options(options: SaverOptions) -> Checkpointer {
        Checkpointer(AsyncCheckpointer(Saver::new(options.asynchronous(false))))
    }

    /// Saves an item, or a composite of several.
    ///
    /// # Errors
    /// Returns an error if the path already exists or something cannot be written; then nothing
    /// has changed.
    pub fn save(&self, path: impl AsRef<Path>, args: &dyn SaveArgs) -> Result<()> {
        self.0.save(path, args)
    }

    /// Saves an item like [`save`](Checkpointer::save), with options to add metadata or to replace
    /// an existing checkpoint.
    ///
    /// # Errors
    /// Same as [`save`](Checkpointer::save), except that `force` allows an existing checkpoint. On
    /// error, that checkpoint is unchanged.
    pub fn save_with(
        &self,
        path: impl AsRef<Path>,
        args: &dyn SaveArgs,
        options: SaveOptions,
    ) -> Result<()> {
        self.0.save_with(path, args, options)
    }

    /// Restores an item.
    ///
    /// # Errors
    /// Returns an error if a file is missing, damaged, unreadable, or of another kind.
    pub fn restore<R: RestoreArgs>(&self, path: impl AsRef<Path>, args: R) -> Result<R::Item> {
        restore_item(path, args)
    }

    /// Returns the timings of the last committed save.
    pub fn last_report(&self) -> Option<SaveReport> {
        self.0.last_report()
    }
}

impl Default for Checkpointer {
    fn default() -> Self {
        Checkpointer::new()
    }
}

/// Saves one item to a path in the background (`orbax.checkpoint.AsyncCheckpointer`).
///
/// A save returns as soon as the caller may change the saved values. On CPUs that is immediately,
/// because a training step copies arrays that are still being written; on accelerators it is after
/// the copy to the host. The next save waits for the last one. The error of a background save is
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
    /// Creates a checkpointer with default options.
    pub fn new() -> AsyncCheckpointer {
        AsyncCheckpointer::with_options(SaverOptions::new())
    }

    /// Creates a checkpointer with these options.
    pub fn with_options(options: SaverOptions) -> AsyncCheckpointer {
        AsyncCheckpointer(Saver::new(options))
    }

    /// Saves an item, or a composite of several.
    ///
    /// # Errors
    /// Returns the previous save's error, if it failed; nothing is then saved. Also returns an
    /// error if the path already exists or the values cannot be read.
    pub fn save(&self, path: impl AsRef<Path>, args: &dyn SaveArgs) -> Result<()> {
        self.save_with(path, args, SaveOptions::new())
    }

    /// Saves an item like [`save`](AsyncCheckpointer::save), with options to add metadata or to
    /// replace an existing checkpoint.
    ///
    /// # Errors
    /// Same as [`save`](AsyncCheckpointer::save).
    pub fn save_with(
        &self,
        path: impl AsRef<Path>,
        args: &dyn SaveArgs,
        options: SaveOptions,
    ) -> Result<()> {
        self.0.save(path.as_ref(), args, options)
    }

    /// Restores an item after waiting for the running save.
    ///
    /// # Errors
    /// Returns the error of that save. Also returns an error if a file is missing, damaged,
    /// unreadable, or of another kind.
    pub fn restore<R: RestoreArgs>(&self, path: impl AsRef<Path>, args: R) -> Result<R::Item> {
        self.wait_until_finished()?;
        restore_item(path, args)
    }

    /// Waits until the running save is complete.
    ///
    /// # Errors
    /// Returns the error of that save.
    pub fn wait_until_finished(&self) -> Result<()> {
        self.0.wait_until_finished()
    }

    /// Returns the background error since the last call, if any, without waiting.
    ///
    /// # Errors
    /// Returns the error of the last save.
    pub fn check_for_errors(&self) -> Result<()> {
        self.0.check_for_errors()
    }

    /// Returns whether a save is running.
    pub fn is_saving_in_progress(&self) -> bool {
        self.0.is_saving_in_progress()
    }

    /// Returns the timings of the last committed save.
    pub fn last_report(&self) -> Option<SaveReport> {
        self.0.last_report()
    }
}

impl Default for AsyncCheckpointer {
    fn default() -> Self {
        AsyncCheckpointer::new()
    }
}

/// Saves trees of arrays in the background with default options
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
    /// Creates a checkpointer with default options.
    pub fn new() -> StandardCheckpointer {
        StandardCheckpointer::default()
    }

    /// Saves a tree.
    ///
    /// # Errors
    /// Same as [`AsyncCheckpointer::save`].
    pub fn save<T: Tree>(&self, path: impl AsRef<Path>, tree: &T) -> Result<()> {
        self.0.save(path, &StandardSave::new(tree))
    }

    /// Saves a tree like [`save`](StandardCheckpointer::save), with options to add metadata or to
    /// replace an existing checkpoint.
    ///
    /// # Errors
    /// Same as [`AsyncCheckpointer::save`].
    pub fn save_with<T: Tree>(
        &self,
        path: impl AsRef<Path>,
        tree: &T,
        options: SaveOptions,
    ) -> Result<()> {
        self.0.save_with(path, &StandardSave::new(tree), options)
    }

    /// Restores a tree with the structure, dtypes and placement of the target.
    ///
    /// # Errors
    /// Same as [`AsyncCheckpointer::restore`].
    pub fn restore<T: Tree>(&self, path: impl AsRef<Path>, target: &T) -> Result<T> {
        self.0.restore(path, StandardRestore::new(target))
    }

    /// Restores all arrays by dotted path.
    ///
    /// # Errors
    /// Same as [`AsyncCheckpointer::restore`].
    pub fn restore_state(&self, path: impl AsRef<Path>) -> Result<State> {
        self.0.restore(path, StandardRestore::state())
    }

    /// Returns the metadata of a saved tree without reading its arrays.
    ///
    /// # Errors
    /// Same as [`metadata`]. Also returns the error of the running save.
    pub fn metadata(&self, path: impl AsRef<Path>) -> Result<TreeMetadata> {
        self.0.wait_until_finished()?;
        metadata(path)
    }

    /// Waits until the running save is complete.
    ///
    /// # Errors
    /// Returns the error of that save.
    pub fn wait_until_finished(&self) -> Result<()> {
        self.0.wait_until_finished()
    }

    /// Returns the timings of the last committed save.
    pub fn last_report(&self) -> Option<SaveReport> {
        self.0.last_report()
    }
}

/// Saves trees of arrays and waits until they are written (`orbax.checkpoint.PyTreeCheckpointer`).
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
    /// Creates a checkpointer with default options.
    pub fn new() -> PyTreeCheckpointer {
        PyTreeCheckpointer::default()
    }

    /// Saves a tree.
    ///
    /// # Errors
    /// Same as [`Checkpointer::save`].
    pub fn save<T: Tree>(&self, path: impl AsRef<Path>, args: &PyTreeSave<'_, T>) -> Result<()> {
        self.0.save(path, args)
    }

    /// Restores a tree.
    ///
    /// # Errors
    /// Same as [`Checkpointer::restore`].
    pub fn restore<T: Tree>(
        &self,
        path: impl AsRef<Path>,
        args: PyTreeRestore<'_, T>,
    ) -> Result<T> {
        self.0.restore(path, args)
    }

    /// Returns the metadata of a saved tree without reading its arrays.
    ///
    /// # Errors
    /// Same as [`metadata`].
    pub fn metadata(&self, path: impl AsRef<Path>) -> Result<TreeMetadata> {
        metadata(path)
    }
}
