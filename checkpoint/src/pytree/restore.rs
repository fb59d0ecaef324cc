//! Restoring trees.

use super::layout::{Layout, bytes_of};
use super::metadata::ValueKind;
use super::read::{Request, read};
use super::sharding::or_default;
use super::source::Source;
use super::transform::{From, Transform, below, join};
use super::walk::{self, Value};
use crate::commit::ItemReader;
use crate::items::RestoreArgs;
use crate::nodes::Leaf;
use crate::optimizer::OptimizerDifference;
use crate::{Error, Result, cast};
use ramie_core::{Array, Aval, DType, Sharding, State, Tree, device_put, tree};
use std::collections::HashSet;
use std::fmt::Write;

type Place<'a> = Box<dyn Fn(&str, &[usize]) -> Option<Sharding> + 'a>;
type Cast<'a> = Box<dyn Fn(&str, DType) -> DType + 'a>;

/// Arguments of restoring a tree of arrays that [`PyTreeSave`](super::PyTreeSave) or Orbax saved:
/// `orbax.checkpoint.args.PyTreeRestore`.
///
/// The target determines which arrays to restore, their dtypes and their placement. Its elements
/// do not matter, and [`Array::shape_dtype_struct`] has none. Saved arrays are converted to the
/// target's dtypes. A conversion must preserve every value unless
/// [`allow_lossy_casts`](PyTreeRestore::allow_lossy_casts) or [`cast`](PyTreeRestore::cast)
/// requests it; Orbax converts any dtype to any other, even floats to integers. A tree can thus be
/// restored onto other devices, another mesh or another sharding than it was saved from: each
/// process reads only what its devices need.
///
/// ```
/// use ramie_checkpoint::commit::{restore_item, save_item};
/// use ramie_checkpoint::pytree::{PyTreeRestore, PyTreeSave, Transform};
/// use ramie_core::{Array, DType, State};
/// # fn main() -> ramie_checkpoint::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("weights");
/// let old = State::from_iter([("enc.w", Array::ones(&[2, 3], DType::F32))]);
/// save_item(&path, &PyTreeSave::new(&old))?;
/// // The new model has other names, another dtype, and one more array.
/// let target = State::from_iter([
///     ("encoder.w", Array::shape_dtype_struct(&[2, 3], DType::BF16)),
///     ("head.w", Array::zeros(&[3], DType::BF16)),
/// ]);
/// let new = restore_item(
///     &path,
///     PyTreeRestore::new(&target)
///         .transform("encoder", Transform::original("enc"))
///         .transform("head", Transform::fallback())
///         .allow_lossy_casts(true),
/// )?;
/// assert_eq!(new["encoder.w"].dtype(), DType::BF16);
/// # Ok(())
/// # }
/// ```
pub struct PyTreeRestore<'a, T> {
    target: Option<&'a T>,
    transforms: Vec<(String, Transform)>,
    default_to_original: bool,
    partial: bool,
    strict: bool,
    skipped: Vec<String>,
    place: Option<Place<'a>>,
    cast: Option<Cast<'a>>,
    lossy: bool,
}

impl<'a, T: Tree> PyTreeRestore<'a, T> {
    /// Creates arguments that restore a tree like `target`.
    pub fn new(target: &'a T) -> PyTreeRestore<'a, T> {
        PyTreeRestore::with(Some(target))
    }

    fn with(target: Option<&'a T>) -> PyTreeRestore<'a, T> {
        PyTreeRestore {
            target,
            transforms: Vec::new(),
            default_to_original: true,
            partial: false,
            strict: true,
            skipped: Vec::new(),
            place: None,
            cast: None,
            lossy: false,
        }
    }

    /// Sets the source of the array at a dotted path of the target, or of all arrays below it. If
    /// several transforms match, the first one is used. With transforms, saved arrays may remain
    /// unused.
    pub fn transform(mut self, name: impl Into<String>, transform: Transform) -> Self {
        self.transforms.push((name.into(), transform));
        self
    }

    /// Sets whether arrays without a transform are restored from their own names. Defaults to
    /// `true`. If `false`, they keep the target's values (`transforms_default_to_original`).
    pub fn transforms_default_to_original(mut self, original: bool) -> Self {
        self.default_to_original = original;
        self
    }

    /// Sets whether the checkpoint may contain arrays that the target does not have
    /// (`partial_restore`). Defaults to `false`.
    pub fn partial_restore(mut self, partial: bool) -> Self {
        self.partial = partial;
        self
    }

    /// Sets whether shapes must match. Defaults to `true`. If `false`, arrays are truncated at the
    /// end of each axis or padded with zeros.
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Keeps the target's value of the array at a dotted path, or of all arrays below it
    /// (`PLACEHOLDER`).
    pub fn placeholder(mut self, name: impl Into<String>) -> Self {
        self.skipped.push(name.into());
        self
    }

    /// Sets the placement of arrays as a function of their names and shapes. For `None`, the
    /// target's placement is used.
    pub fn place(mut self, place: impl Fn(&str, &[usize]) -> Option<Sharding> + 'a) -> Self {
        self.place = Some(Box::new(place));
        self
    }

    /// Sets whether arrays are converted to the target's dtypes even if that loses precision,
    /// range or fractional parts. Defaults to `false`.
    pub fn allow_lossy_casts(mut self, allow: bool) -> Self {
        self.lossy = allow;
        self
    }

    /// Sets the dtypes of arrays as a function of their names and the dtypes that they would have.
    /// If the function returns another dtype, the array is converted to it even if values change.
    pub fn cast(mut self, cast: impl Fn(&str, DType) -> DType + 'a) -> Self {
        self.cast = Some(Box::new(cast));
        self
    }

    fn dtype(&self, name: &str, dtype: DType) -> DType {
        self.cast.as_ref().map_or(dtype, |cast| cast(name, dtype))
    }

    /// Returns the dtype of an array of the target, and whether a saved array of dtype `saved` may
    /// be converted to it.
    fn target_dtype(&self, name: &str, target: DType, saved: DType) -> (DType, bool) {
        let dtype = self.dtype(name, target);
        let asked_for = self.lossy || dtype != target;
        (dtype, asked_for || cast::keeps_values(saved, dtype))
    }

    fn placed(&self, name: &str, shape: &[usize]) -> Option<Sharding> {
        self.place.as_ref().and_then(|place| place(name, shape))
    }

    fn is_skipped(&self, name: &str) -> bool {
        self.skipped.iter().any(|root| below(name, root).is_some())
    }

    /// Returns the source of the array at a path of the target.
    fn origin(&self, name: &str) -> From {
        if self.is_skipped(name) {
            return From::Fallback;
        }
        for (root, Transform(from)) in &self.transforms {
            let Some(rest) = below(name, root) else {
                continue;
            };
            return match from {
                From::Original(original, f) => From::Original(join(original, rest), f.clone()),
                other => other.clone(),
            };
        }
        match self.default_to_original {
            true => From::Original(name.to_owned(), None),
            false => From::Fallback,
        }
    }
}

impl PyTreeRestore<'_, State> {
    /// Creates arguments that restore all arrays by dotted path: onto their original devices if
    /// available, otherwise onto the default device. Nodes without arrays become [empty
    /// parts](State::insert_empty).
    pub fn state() -> PyTreeRestore<'static, State> {
        PyTreeRestore::with(None)
    }
}

/// Restores all arrays of a tree by dotted path, with its empty parts.
pub(super) fn everything(source: &Source) -> Result<State> {
    PyTreeRestore::state().everything(source)
}

/// Converts the state to `T`, which must be `State` if there is no target.
fn as_tree<T: Tree>(state: State) -> Option<T> {
    let mut state: Box<dyn std::any::Any> = Box::new(Some(state));
    state.downcast_mut::<Option<T>>().and_then(Option::take)
}

impl<T: Tree> RestoreArgs for PyTreeRestore<'_, T> {
    type Item = T;

    fn restore(self, reader: &ItemReader) -> Result<T> {
        let source = Source::open(reader)?;
        let Some(target) = self.target else {
            let state = self.everything(&source)?;
            return as_tree(state).ok_or_else(|| {
                Error::tree(
                    Some(reader.folder()),
                    "only a `State` can be restored \
                                                                   without a target",
                )
            });
        };
        let arrays = self.like_target(&source, target)?;
        Ok(tree::with_leaves(target, arrays))
    }

    fn reads_checked(&self) -> bool {
        true
    }
}

/// Source of an array of the target.
enum Made {
    /// The target's own value.
    Kept,
    /// The request with this index.
    Read(usize),
    /// The result of a function of these requests.
    Of(std::ops::Range<usize>, Transform),
}

impl<T: Tree> PyTreeRestore<'_, T> {
    fn everything(&self, source: &Source) -> Result<State> {
        let shardings = source.shardings()?;
        // Names in order, and whether each is an array.
        let mut names = Vec::new();
        let mut requests = Vec::new();
        for entry in &source.tree.entries {
            let name = entry.path.to_string();
            if self.is_skipped(&name) || !(entry.is_array() || entry.kind.is_empty()) {
                continue;
            }
            names.push((name.clone(), entry.is_array()));
            if !entry.is_array() {
                continue;
            }
            let layout = source.layout(&name)?;
            let placed = self.placed(&name, &layout.shape);
            let sharding =
                placed.or_else(|| source.saved_sharding(&shardings, &name, &layout.shape));
            requests.push(Request {
                shape: layout.shape.clone(),
                dtype: self.dtype(&name, layout.dtype),
                name: name.clone(),
                layout,
                sharding: or_default(sharding)?,
                expected: false,
                is_number: false,
            });
        }
        let all_chunks = source.tree.writes_all_chunks;
        let arrays = read(&source.reader, &source.store, requests, all_chunks)?;
        let (mut state, mut arrays) = (State::new(), arrays.into_iter());
        for (name, is_array) in names {
            match is_array.then(|| arrays.next()).flatten() {
                Some(array) => drop(state.insert(&name, array)),
                None => state.insert_empty(&name),
            }
        }
        Ok(state)
    }

    fn like_target(&self, source: &Source, target: &T) -> Result<Vec<Array>> {
        let folder = source.reader.folder();
        let parts = walk::parts(target).map_err(|(path, trouble)| {
            Error::tree(None, format!("the target's `{path}` {trouble}"))
        })?;
        let mut leaves: Vec<(String, Leaf)> = Vec::new();
        for part in parts {
            if let Value::Array(leaf) = part.value {
                leaves.push((part.path.to_string(), leaf));
            }
        }
        leaves.sort_by_key(|(_, leaf)| leaf.at);
        let saved: Vec<String> = source.arrays().map(|e| e.path.to_string()).collect();
        let mut differences = Differences {
            optimizer: OptimizerDifference::of(
                saved.iter().map(String::as_str),
                leaves.iter().map(|(name, _)| name.as_str()),
            ),
            ..Differences::default()
        };
        let mut requests: Vec<Request> = Vec::new();
        let mut made = Vec::with_capacity(leaves.len());
        let mut used: HashSet<String> = HashSet::new();
        for (name, leaf) in &leaves {
            match self.origin(name) {
                From::Fallback => made.push(Made::Kept),
                From::Original(original, f) => {
                    used.insert(original.clone());
                    let entry = source.entry(&original).filter(|e| e.is_array());
                    let Some(entry) = entry else {
                        differences.missing(name, &original, leaf.array.aval());
                        made.push(Made::Kept);
                        continue;
                    };
                    let is_number = entry.kind == ValueKind::Scalar;
                    let layout = source.layout(&original)?;
                    made.push(match f {
                        None => {
                            let mut request = self.request(name, original, layout, leaf)?;
                            let (target, saved) = (leaf.array.dtype(), request.layout.dtype);
                            let keeps = self.target_dtype(name, target, saved).1;
                            // Whether a Python number fits is checked when its value is read.
                            request.is_number = is_number && !keeps;
                            if self.strict && request.shape != request.layout.shape {
                                differences.shape(name, &request, leaf.array.aval());
                            } else if !keeps && !is_number {
                                differences.lossy(name, &request, leaf.array.aval());
                            }
                            requests.push(request);
                            Made::Read(requests.len() - 1)
                        }
                        Some(f) => {
                            requests.push(as_saved(original, layout)?);
                            let of = requests.len() - 1..requests.len();
                            Made::Of(of, Transform(From::Original(String::new(), Some(f))))
                        }
                    });
                }
                From::Several(originals, f) => {
                    let first = requests.len();
                    for original in originals {
                        used.insert(original.clone());
                        if source.entry(&original).is_some_and(|e| e.is_array()) {
                            let layout = source.layout(&original)?;
                            requests.push(as_saved(original, layout)?);
                        } else {
                            differences.missing(name, &original, leaf.array.aval());
                        }
                    }
                    let of = first..requests.len();
                    made.push(Made::Of(of, Transform(From::Several(Vec::new(), f))));
                }
            }
        }
        if !self.partial && self.transforms.is_empty() {
            for entry in source.arrays() {
                let name = entry.path.to_string();
                if !self.is_skipped(&name) && !used.contains(&name) {
                    differences.unexpected(&name, &source.layout(&name)?);
                }
            }
        }
        differences.checked(folder)?;
        let all_chunks = source.tree.writes_all_chunks;
        let arrays = read(&source.reader, &source.store, requests, all_chunks)?;
        let finish = |((name, leaf), made): (&(String, Leaf), Made)| match made {
            Made::Kept => Ok(leaf.array.clone()),
            Made::Read(i) => Ok(arrays[i].clone()),
            Made::Of(of, Transform(from)) => {
                let value = match from {
                    From::Original(_, Some(f)) => f(&arrays[of.start]),
                    From::Several(_, f) => f(&arrays[of]),
                    _ => leaf.array.clone(),
                };
                self.fitted(folder, name, leaf, value)
            }
        };
        leaves.iter().zip(made).map(finish).collect()
    }

    /// Creates the request for an array of the target.
    fn request(
        &self,
        name: &str,
        original: String,
        layout: Layout,
        leaf: &Leaf,
    ) -> Result<Request> {
        let shape = leaf.array.shape();
        let sharding = self.placed(name, shape).or(leaf.array.sharding());
        Ok(Request {
            name: original,
            layout,
            shape: shape.to_vec(),
            dtype: self.dtype(name, leaf.array.dtype()),
            sharding: or_default(sharding)?,
            expected: true,
            is_number: false,
        })
    }

    /// Converts and places the result of a transform like the target.
    fn fitted(
        &self,
        folder: &std::path::Path,
        name: &str,
        leaf: &Leaf,
        value: Array,
    ) -> Result<Array> {
        let expected = leaf.array.aval().strong();
        if value.shape() != leaf.array.shape() {
            let got = value.aval().strong();
            return Err(Error::tree(
                Some(folder),
                format!(
                    "`{name}`: the transform returned {got}, but the tree has {expected}\n  help: \
                     return an array of the target's shape from the transform"
                ),
            ));
        }
        let (dtype, keeps) = self.target_dtype(name, leaf.array.dtype(), value.dtype());
        if !keeps {
            let got = value.aval().strong();
            return Err(Error::tree(
                Some(folder),
                format!(
                    "`{name}`: the transform returned {got}, which cannot be converted to \
                     {expected} without loss\n  help: convert it in the transform with `astype`, \
                     or use `allow_lossy_casts(true)`"
                ),
            ));
        }
        let value = value.astype(dtype);
        let sharding = self.placed(name, leaf.array.shape());
        Ok(match sharding.or(leaf.array.sharding()) {
            Some(sharding) => device_put(&value, sharding),
            None => value,
        })
    }
}

/// Creates the request for an array that is passed to a transform.
fn as_saved(name: String, layout: Layout) -> Result<Request> {
    Ok(Request {
        name,
        shape: layout.shape.clone(),
        dtype: layout.dtype,
        layout,
        sharding: or_default(None)?,
        expected: false,
        is_number: false,
    })
}

/// Differences between a checkpoint and a tree.
#[derive(Default)]
struct Differences<'a> {
    optimizer: Option<OptimizerDifference<'a>>,
    /// Whether arrays are missing on one side because the optimizers differ.
    optimizers: bool,
    lines: Vec<String>,
    missing: bool,
    shapes: bool,
    lossy: bool,
}

impl Differences<'_> {
    /// Returns whether the optimizers explain why an array is missing on one side.
    fn is_explained(&mut self, name: &str) -> bool {
        let explained = self.optimizer.as_ref().is_some_and(|o| o.explains(name));
        self.optimizers |= explained;
        explained
    }

    fn missing(&mut self, name: &str, original: &str, tree: Aval) {
        if self.is_explained(name) {
            return;
        }
        let named = match name == original {
            true => String::new(),
            false => format!(" at `{original}`"),
        };
        let tree = tree.strong();
        let line = format!("`{name}`: the tree has {tree}, the checkpoint has nothing{named}");
        self.lines.push(line);
        self.missing = true;
    }

    fn unexpected(&mut self, name: &str, layout: &Layout) {
        if self.is_explained(name) {
            return;
        }
        let saved = described(layout);
        let line = format!("`{name}`: the tree has nothing, the checkpoint has {saved}");
        self.lines.push(line);
        self.missing = true;
    }

    fn shape(&mut self, name: &str, request: &Request, tree: Aval) {
        let (saved, tree) = (described(&request.layout), tree.strong());
        let line = format!("`{name}`: the tree has {tree}, the checkpoint has {saved}");
        self.lines.push(line);
        self.shapes = true;
    }

    fn lossy(&mut self, name: &str, request: &Request, tree: Aval) {
        let (saved, tree) = (described(&request.layout), tree.strong());
        let line = format!(
            "`{name}`: the tree has {tree}, the checkpoint has {saved}, which cannot be converted \
             without loss"
        );
        self.lines.push(line);
        self.lossy = true;
    }

    fn checked(self, folder: &std::path::Path) -> Result<()> {
        if self.lines.is_empty() && !self.optimizers {
            return Ok(());
        }
        let mut message = String::from("the checkpoint does not match the tree");
        if let Some(optimizer) = self.optimizer.filter(|_| self.optimizers) {
            message.push_str(&optimizer.lines());
        }
        for line in &self.lines {
            let _ = write!(message, "\n  {line}");
        }
        let helps = [
            (
                self.optimizers,
                "to continue with another optimizer, keep the tree's optimizer state: \
                 `PyTreeRestore::new(&target).placeholder(\"opt_state\")`",
            ),
            (
                self.missing,
                "use `partial_restore(true)` to ignore arrays that the tree does not have, or \
                 `transform` to read arrays from other names or keep the tree's",
            ),
            (
                self.lossy,
                "use `allow_lossy_casts(true)` or `cast` to convert dtypes with loss",
            ),
            (
                self.shapes,
                "use `strict(false)` to truncate arrays or pad them with zeros",
            ),
        ];
        let helps: Vec<&str> = helps.iter().filter(|h| h.0).map(|h| h.1).collect();
        let _ = write!(message, "\n  help: {}", helps.join("; "));
        Err(Error::tree(Some(folder), message))
    }
}

/// Formats the type of a stored array, as in `f32[2,3]`.
fn described(layout: &Layout) -> String {
    match bytes_of(&layout.shape, layout.dtype) {
        Some(_) => Aval::new(&layout.shape, layout.dtype).to_string(),
        None => format!("{}{:?}", layout.dtype, layout.shape),
    }
}
