//! Arguments with fewer options: whole trees and single arrays.

use super::{LeafSave, PyTreeRestore, PyTreeSave};
use crate::Result;
use crate::commit::{ItemReader, Process, RestoreArgs, SaveArgs, Snapshot};
use ramie_core::sharding::Sharding;
use ramie_core::{Array, State, Tree};
use serde_json::Value;

/// Arguments of saving a tree with default options: `orbax.checkpoint.args.StandardSave`. See
/// [`PyTreeSave`] for more options.
///
/// Arrays, numbers, booleans and strings are stored. Hyperparameters are not: fields marked with
/// `#[tree(fixed)]`, and the numbers and strings of types that derive `Module`. Orbax reads
/// strings with `PyTreeRestore`; its own `StandardSave` rejects them.
///
/// ```
/// use ramie_checkpoint::commit::{restore_item, save_item};
/// use ramie_checkpoint::pytree::{StandardRestore, StandardSave};
/// use ramie_core::{Array, DType};
/// # fn main() -> ramie_checkpoint::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("run");
/// let run = (Array::ones(&[2], DType::F32), 7u32, "warmup".to_string());
/// save_item(&path, &StandardSave::new(&run))?;
/// let target = (Array::zeros(&[2], DType::F32), 0u32, String::new());
/// let restored = restore_item(&path, StandardRestore::new(&target))?;
/// assert_eq!(restored.0.to_vec::<f32>(), [1.0, 1.0]);
/// assert_eq!((restored.1, restored.2.as_str()), (7, "warmup"));
/// # Ok(())
/// # }
/// ```
pub struct StandardSave<'a, T>(PyTreeSave<'a, T>);

impl<'a, T: Tree> StandardSave<'a, T> {
    /// Creates arguments that save this tree.
    pub fn new(tree: &'a T) -> StandardSave<'a, T> {
        let mut save = PyTreeSave::new(tree);
        save.handler = "orbax.checkpoint._src.handlers.standard_checkpoint_handler.\
                        StandardCheckpointHandler";
        StandardSave(save)
    }

    /// Sets the storage of each array, by path (`save_args`); see [`PyTreeSave::leaves`].
    #[doc(alias = "save_args")]
    pub fn leaves(self, leaves: impl Fn(&str, &Array) -> LeafSave + 'a) -> Self {
        StandardSave(self.0.leaves(leaves))
    }

    /// Sets custom metadata of the tree.
    pub fn custom_metadata(self, value: Value) -> Self {
        StandardSave(self.0.custom_metadata(value))
    }
}

impl<T: Tree> SaveArgs for StandardSave<'_, T> {
    fn handler(&self) -> &str {
        self.0.handler()
    }
    fn snapshot(&self, process: Process) -> Result<Box<dyn Snapshot>> {
        self.0.snapshot(process)
    }
}

/// Arguments of restoring a tree of arrays: `orbax.checkpoint.args.StandardRestore`. See
/// [`PyTreeRestore`] for more options.
pub struct StandardRestore<'a, T>(PyTreeRestore<'a, T>);

impl<'a, T: Tree> StandardRestore<'a, T> {
    /// Creates arguments that restore a tree with the structure, dtypes and placement of `target`.
    pub fn new(target: &'a T) -> StandardRestore<'a, T> {
        StandardRestore(PyTreeRestore::new(target))
    }

    /// Sets whether shapes must match. Defaults to `true`. If `false`, arrays are truncated or
    /// padded with zeros; the number of axes must still match.
    pub fn strict(self, strict: bool) -> Self {
        StandardRestore(self.0.strict(strict))
    }

    /// Sets the sharding of each array, by path and shape (`fallback_sharding`); see
    /// [`PyTreeRestore::place`].
    #[doc(alias = "fallback_sharding")]
    pub fn place(self, place: impl Fn(&str, &[usize]) -> Option<Sharding> + 'a) -> Self {
        StandardRestore(self.0.place(place))
    }

    /// Sets whether arrays are converted to the target's dtypes even if values change; see
    /// [`PyTreeRestore::allow_lossy_casts`].
    pub fn allow_lossy_casts(self, allow: bool) -> Self {
        StandardRestore(self.0.allow_lossy_casts(allow))
    }
}

impl StandardRestore<'_, State> {
    /// Creates arguments that restore all arrays and numbers by dotted path.
    pub fn state() -> StandardRestore<'static, State> {
        StandardRestore(PyTreeRestore::state())
    }
}

impl<T: Tree> RestoreArgs for StandardRestore<'_, T> {
    type Item = T;
    fn restore(self, reader: &ItemReader) -> Result<T> {
        self.0.restore(reader)
    }
    fn reads_checked(&self) -> bool {
        self.0.reads_checked()
    }
}

/// Orbax's name of the array in an item that is a single array.
pub(crate) const ARRAY: &str = "checkpoint";

/// Arguments of saving a single array: `orbax.checkpoint.args.ArraySave`.
///
/// ```
/// use ramie_checkpoint::commit::{restore_item, save_item};
/// use ramie_checkpoint::pytree::{ArrayRestore, ArraySave};
/// use ramie_core::Array;
/// # fn main() -> ramie_checkpoint::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("array");
/// save_item(&path, &ArraySave::new(&Array::from([1, 2, 3])))?;
/// let array = restore_item(&path, ArrayRestore::new())?;
/// assert_eq!(array.to_vec::<i32>(), [1, 2, 3]);
/// # Ok(())
/// # }
/// ```
pub struct ArraySave {
    tree: State,
}

impl ArraySave {
    /// Creates arguments that save this array.
    pub fn new(array: &Array) -> ArraySave {
        ArraySave {
            tree: State::from_iter([(ARRAY, array.clone())]),
        }
    }
}

impl SaveArgs for ArraySave {
    fn handler(&self) -> &str {
        "orbax.checkpoint._src.handlers.array_checkpoint_handler.ArrayCheckpointHandler"
    }
    fn snapshot(&self, process: Process) -> Result<Box<dyn Snapshot>> {
        PyTreeSave::new(&self.tree).snapshot(process)
    }
}

/// Arguments of restoring a single array: `orbax.checkpoint.args.ArrayRestore`.
#[derive(Default)]
pub struct ArrayRestore {
    target: Option<State>,
    sharding: Option<Sharding>,
    lossy: bool,
}

impl ArrayRestore {
    /// Creates arguments that restore the array as it was saved.
    pub fn new() -> ArrayRestore {
        ArrayRestore::default()
    }

    /// Creates arguments that restore an array with the shape, dtype and placement of `target`.
    pub fn like(target: &Array) -> ArrayRestore {
        ArrayRestore {
            target: Some(State::from_iter([(ARRAY, target.clone())])),
            ..ArrayRestore::default()
        }
    }

    /// Sets whether the array is converted to the target's dtype even if values change; see
    /// [`PyTreeRestore::allow_lossy_casts`].
    pub fn allow_lossy_casts(mut self, allow: bool) -> Self {
        self.lossy = allow;
        self
    }

    /// Sets the placement of the array.
    pub fn sharding(mut self, sharding: impl Into<Sharding>) -> Self {
        self.sharding = Some(sharding.into());
        self
    }
}

impl RestoreArgs for ArrayRestore {
    type Item = Array;
    fn restore(self, reader: &ItemReader) -> Result<Array> {
        let place = move |_: &str, _: &[usize]| self.sharding;
        let restore = match &self.target {
            Some(target) => PyTreeRestore::new(target),
            None => PyTreeRestore::state(),
        };
        let restore = restore.place(place).allow_lossy_casts(self.lossy);
        let state = restore.restore(reader)?;
        match state.get(ARRAY) {
            Some(array) => Ok(array.clone()),
            None => Err(crate::Error::tree(
                Some(reader.folder()),
                format!(
                    "the checkpoint has no array `{ARRAY}`, so it is not that of a single \
                     array\n  help: use `StandardRestore` to restore a tree"
                ),
            )),
        }
    }
    fn reads_checked(&self) -> bool {
        true
    }
}
