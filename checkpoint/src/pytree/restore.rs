//! Restoring trees.

use super::differences::{Differences, LeafKind};
use super::layout::Layout;
use super::metadata::ValueKind;
use super::read::{Request, read};
use super::sharding::or_default;
use super::source::Source;
use super::transform::{From, Transform, below, join};
use super::walk::{self, Value};
use crate::commit::{ItemReader, RestoreArgs};
use crate::nodes::{HostLeaf, HostValues, Leaf, set_host_values};
use crate::optimizer::OptimizerDifference;
use crate::{Error, Result, cast, nodes};
use ramie_core::files::Message;
use ramie_core::sharding::Sharding;
use ramie_core::tree::HostValue;
use ramie_core::{Array, DType, State, Tree, device_put, tree};
use std::collections::HashSet;

type Place<'a> = Box<dyn Fn(&str, &[usize]) -> Option<Sharding> + 'a>;
type Cast<'a> = Box<dyn Fn(&str, DType) -> DType + 'a>;

/// Arguments of restoring a tree of arrays that [`PyTreeSave`](super::PyTreeSave) or Orbax saved:
/// `orbax.checkpoint.args.PyTreeRestore`.
///
/// The target determines which arrays, numbers and strings to restore, and the dtypes and placement
/// of arrays. Their values do not matter, and [`Array::shape_dtype_struct`] has no elements. A
/// saved number must be in the range of the target's type. Hyperparameters keep the target's
/// values. Saved arrays are converted to the
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
#[doc(alias("ArrayRestoreArgs", "construct_restore_args"))]
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
    #[doc(alias = "apply_transformations")]
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
    /// end of each axis or padded with zeros; the number of axes must still match.
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Keeps the target's value of the array at a dotted path, or of all arrays below it
    /// (`PLACEHOLDER`).
    #[doc(alias = "PLACEHOLDER")]
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
        if self.default_to_original {
            From::Original(name.to_owned(), None)
        } else {
            From::Fallback
        }
    }
}

impl PyTreeRestore<'_, State> {
    /// Creates arguments that restore all arrays by dotted path: onto their original devices if
    /// available, otherwise onto the default device. Numbers become arrays; strings are omitted,
    /// and [`DictRestore`](super::DictRestore) returns them. Nodes without arrays become [empty
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
    // A downcast stands in for specialization; the `Option` lets the state be moved out.
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
                    "only a `State` can be restored without a target\n  help: pass a tree of the \
                     saved structure: `PyTreeRestore::new(&target)`",
                )
            });
        };
        let Restored { arrays, values } = self.like_target(&source, target)?;
        let mut restored = tree::with_leaves(target, arrays);
        set_host_values(&mut restored, values)?;
        Ok(restored)
    }

    fn reads_checked(&self) -> bool {
        true
    }
}

/// Leaf of the target: an array, or a number with an array of its value.
struct Wanted {
    name: String,
    leaf: Leaf,
    /// The dtype of the number, if it is one.
    number: Option<DType>,
}

impl Wanted {
    fn has(&self) -> LeafKind {
        match self.number {
            Some(dtype) => LeafKind::Number(dtype),
            None => LeafKind::Array(self.leaf.array.aval()),
        }
    }
}

/// Returns the arrays of a target in order, followed by its numbers; and its strings with their
/// indices among the numbers and strings.
fn wanted<T: Tree>(target: &T) -> Result<(Vec<Wanted>, Vec<(String, usize)>)> {
    let parts = walk::parts(target).map_err(|(path, trouble)| {
        let help = "rename one of the two, or use `ArrayRestore` to restore a single array";
        let message = Message::new(format!("the target's `{path}` {trouble}")).help(help);
        Error::tree(None, message)
    })?;
    let (mut arrays, mut numbers, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let name = part.path.to_string();
        match part.value {
            Value::Array(leaf) => arrays.push(Wanted {
                name,
                leaf,
                number: None,
            }),
            Value::Host(HostLeaf { at, value }) => match value {
                HostValue::Number(number, dtype) => numbers.push(Wanted {
                    name,
                    leaf: Leaf {
                        at,
                        array: Array::scalar(number, dtype),
                        key_impl: None,
                    },
                    number: Some(dtype),
                }),
                HostValue::Text(_) => texts.push((name, at)),
            },
            Value::Empty(_) => {}
        }
    }
    // `with_leaves` takes arrays in tree order, but `parts` groups them by name: `a.x`, `b`,
    // `a.y` come as `a.x`, `a.y`, `b`.
    arrays.sort_by_key(|wanted| wanted.leaf.at);
    arrays.append(&mut numbers);
    Ok((arrays, texts))
}

/// The leaves of a restored tree.
struct Restored {
    arrays: Vec<Array>,
    values: HostValues,
}

/// The arrays that a restore reads, and the differences that prevent it.
struct Plan<'a> {
    requests: Vec<Request>,
    /// Names of the saved arrays that are read.
    used: HashSet<String>,
    differences: Differences<'a>,
}

impl Plan<'_> {
    /// Adds a request and returns its index.
    fn add(&mut self, request: Request) -> usize {
        self.requests.push(request);
        self.requests.len() - 1
    }
}

/// Source of an array of the target.
enum ArraySource {
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

    fn like_target(&self, source: &Source, target: &T) -> Result<Restored> {
        let folder = source.reader.folder();
        let (wanted, texts) = wanted(target)?;
        let saved: Vec<String> = source.arrays().map(|e| e.path.to_string()).collect();
        let mut plan = Plan {
            differences: Differences::new(OptimizerDifference::of(
                saved.iter().map(String::as_str),
                wanted.iter().map(|wanted| wanted.name.as_str()),
            )),
            requests: Vec::new(),
            used: HashSet::new(),
        };
        let made = wanted
            .iter()
            .map(|wanted| self.made(source, wanted, &mut plan));
        let made: Vec<ArraySource> = made.collect::<Result<_>>()?;
        let mut values = self.texts(source, &texts, &mut plan)?;
        let Plan {
            mut differences,
            requests,
            used,
        } = plan;
        if !self.partial && self.transforms.is_empty() {
            for name in saved.iter().filter(|name| !used.contains(*name)) {
                if !self.is_skipped(name) {
                    differences.unexpected(name, &source.layout(name)?);
                }
            }
        }
        // Report all differences at once, before anything is read.
        differences.checked(folder)?;
        let all_chunks = source.tree.writes_all_chunks;
        let read = read(&source.reader, &source.store, requests, all_chunks)?;
        let mut arrays = Vec::with_capacity(wanted.len());
        for (Wanted { name, leaf, number }, made) in wanted.iter().zip(made) {
            let array = match made {
                ArraySource::Kept => leaf.array.clone(),
                ArraySource::Read(i) => read[i].clone(),
                ArraySource::Of(of, Transform(from)) => {
                    let value = match from {
                        From::Original(_, Some(f)) => f(&read[of.start]),
                        From::Several(_, f) => f(&read[of]),
                        _ => leaf.array.clone(),
                    };
                    self.fitted(folder, name, leaf, value)?
                }
            };
            match number {
                None => arrays.push(array),
                Some(dtype) => {
                    let number = HostValue::Number(nodes::number(&array), *dtype);
                    values.insert(leaf.at, number);
                }
            }
        }
        Ok(Restored { arrays, values })
    }

    /// Plans how to make an array or a number of the target.
    fn made(&self, source: &Source, wanted: &Wanted, plan: &mut Plan<'_>) -> Result<ArraySource> {
        let Wanted { name, leaf, number } = wanted;
        let has = wanted.has();
        match self.origin(name) {
            From::Fallback => Ok(ArraySource::Kept),
            From::Original(original, f) => {
                plan.used.insert(original.clone());
                let entry = source.entry(&original);
                let Some(array) = entry.filter(|entry| entry.is_array()) else {
                    let saved = entry.map(|entry| &entry.kind);
                    // The difference fails the restore, so the value returned here is never used.
                    plan.differences.missing(name, &original, has, saved);
                    return Ok(ArraySource::Kept);
                };
                let layout = source.layout(&original)?;
                if let Some(f) = f {
                    let of = plan.add(as_saved(original, layout)?);
                    // Only the function is needed later: the request has the name.
                    let function = Transform(From::Original(String::new(), Some(f)));
                    return Ok(ArraySource::Of(of..of + 1, function));
                }
                let is_number = array.kind == ValueKind::Scalar || number.is_some();
                let mut request = self.request(name, original, layout, leaf)?;
                let (target, saved) = (leaf.array.dtype(), request.layout.dtype);
                let keeps = self.target_dtype(name, target, saved).1;
                // Whether a number fits is checked when its value is read.
                request.is_number = is_number && !keeps;
                // Truncating and padding work axis by axis, so they need equal ranks.
                let strict = self.strict || number.is_some() || !request.has_saved_rank();
                if strict && request.shape != request.layout.shape {
                    plan.differences.shape(name, &request, has);
                } else if !keeps && !is_number {
                    plan.differences.lossy(name, &request, has);
                }
                Ok(ArraySource::Read(plan.add(request)))
            }
            From::Several(originals, f) => {
                let first = plan.requests.len();
                for original in originals {
                    plan.used.insert(original.clone());
                    let entry = source.entry(&original);
                    if entry.is_some_and(|e| e.is_array()) {
                        let layout = source.layout(&original)?;
                        plan.add(as_saved(original, layout)?);
                    } else {
                        let saved = entry.map(|entry| &entry.kind);
                        plan.differences.missing(name, &original, has, saved);
                    }
                }
                let of = first..plan.requests.len();
                Ok(ArraySource::Of(of, Transform(From::Several(Vec::new(), f))))
            }
        }
    }

    /// Reads the strings of the target, by their indices among its numbers and strings.
    fn texts(
        &self,
        source: &Source,
        texts: &[(String, usize)],
        plan: &mut Plan<'_>,
    ) -> Result<HostValues> {
        let mut values = HostValues::new();
        // A tree without strings does not depend on the file of strings.
        let saved = if texts.is_empty() {
            Default::default()
        } else {
            source.strings()?
        };
        for (name, at) in texts {
            let original = match self.origin(name) {
                From::Fallback => continue,
                From::Original(original, None) => original,
                From::Original(_, Some(_)) | From::Several(..) => {
                    return Err(Error::tree(
                        None,
                        format!(
                            "`{name}` is a string, but its transform is a function of arrays\n  \
                             help: use `Transform::original` without `map`"
                        ),
                    ));
                }
            };
            plan.used.insert(original.clone());
            let entry = source.entry(&original);
            match entry.filter(|entry| entry.kind == ValueKind::String) {
                Some(_) => {
                    let text = saved.get(&original).cloned();
                    let text = text.ok_or_else(|| source.lacks_string(&original))?;
                    values.insert(*at, HostValue::Text(text.into()));
                }
                None => {
                    let saved = entry.map(|entry| &entry.kind);
                    plan.differences
                        .missing(name, &original, LeafKind::Text, saved);
                }
            }
        }
        Ok(values)
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
