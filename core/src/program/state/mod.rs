//! `State`: a flat map from paths to arrays.

mod layout;
mod mismatch;

use crate::base::text::listed;
use crate::program::tree::{self, Key, Tree, Visitor};
use crate::{Array, DType};
use layout::{Entry, Layout};
use std::fmt;
use std::sync::Arc;

pub use mismatch::StateMismatch;

/// Arrays by path, in order: the untyped form of a [`Tree`].
///
/// Gradients, optimizer moments, variable collections and checkpoints are states, so that
/// operations on them are written once. Paths are dotted, as in [`tree::paths`]. Each leaf also
/// stores its kind (`"param"`, …) if it has one. States derived from each other share their list
/// of paths.
///
/// A state is itself a tree. Its paths and kinds are static.
///
/// ```
/// use ramie_core::{Array, DType, State};
/// let model = (Array::scalar(1.0, DType::F32), vec![Array::scalar(2.0, DType::F32)]);
/// let state = State::of(&model);
/// assert_eq!(state.paths().collect::<Vec<_>>(), ["0", "1.0"]);
/// assert_eq!(state.get("1.0").map(|a| a.item::<f32>()), Some(2.0));
/// ```
#[derive(Clone, Default)]
pub struct State {
    layout: Arc<Layout>,
    arrays: Vec<Array>,
}

impl State {
    /// Creates a state without arrays.
    pub fn new() -> State {
        State::default()
    }

    /// Creates a state of the arrays of a tree, in order.
    ///
    /// # Panics
    /// Panics if two leaves have the same path, which can happen if the keys of a map contain
    /// dots.
    #[track_caller]
    pub fn of<T: Tree>(tree: &T) -> State {
        let (mut entries, mut arrays) = (Vec::new(), Vec::new());
        tree::for_each_with_path(tree, |path, kind, array| {
            entries.push(Entry::new(path, kind));
            arrays.push(array.clone());
        });
        match Layout::new(entries) {
            Ok(layout) => State {
                layout: Arc::new(layout),
                arrays,
            },
            Err(path) => panic!(
                "State::of: two leaves of the tree have the path `{path}`\n  help: rename map \
                 keys that contain dots"
            ),
        }
    }

    /// Returns the number of arrays.
    pub fn len(&self) -> usize {
        self.arrays.len()
    }

    /// Returns `true` if there are no arrays.
    pub fn is_empty(&self) -> bool {
        self.arrays.is_empty()
    }

    /// Returns the array at a path.
    pub fn get(&self, path: &str) -> Option<&Array> {
        self.layout.position(path).map(|i| &self.arrays[i])
    }

    /// Returns the kind of the leaf at a path, if the leaf exists and has a kind.
    pub fn kind(&self, path: &str) -> Option<&'static str> {
        let at = self.layout.position(path)?;
        self.layout.entries()[at].kind
    }

    /// Sets the array at a path and returns the previous array. A new path is appended, without a
    /// kind.
    pub fn insert(&mut self, path: &str, array: Array) -> Option<Array> {
        self.insert_of_kind(path, None, array)
    }

    /// Same as [`insert`](State::insert), but a new path gets the given kind.
    pub fn insert_of_kind(
        &mut self,
        path: &str,
        kind: Option<&'static str>,
        array: Array,
    ) -> Option<Array> {
        if let Some(at) = self.layout.position(path) {
            return Some(std::mem::replace(&mut self.arrays[at], array));
        }
        // Copies the layout if other states share it.
        Arc::make_mut(&mut self.layout).push(Entry::new(path, kind));
        self.arrays.push(array);
        None
    }

    /// Adds an empty part at a new path, after all arrays. [`masked`](State::masked) creates
    /// empty parts, and restoring a checkpoint creates them for nodes without arrays, such as the
    /// state of a stateless optimizer. Saving the state writes these nodes again.
    ///
    /// ```
    /// use ramie_core::{Array, State};
    /// let mut state = State::from_iter([("0.trace", Array::from(1.0f32))]);
    /// state.insert_empty("1");
    /// assert_eq!((state.len(), state.empty_paths().collect::<Vec<_>>()), (1, vec!["1"]));
    /// ```
    pub fn insert_empty(&mut self, path: &str) {
        Arc::make_mut(&mut self.layout).push_hole(path);
    }

    /// Returns the paths of the empty parts in order.
    pub fn empty_paths(&self) -> impl ExactSizeIterator<Item = &str> {
        self.layout.holes().iter().map(|(_, path)| &**path)
    }

    /// Removes and returns the array at a path.
    pub fn remove(&mut self, path: &str) -> Option<Array> {
        let at = self.layout.position(path)?;
        Arc::make_mut(&mut self.layout).remove(at);
        Some(self.arrays.remove(at))
    }

    /// Returns the paths in order.
    pub fn paths(&self) -> impl ExactSizeIterator<Item = &str> {
        self.layout.entries().iter().map(|e| &*e.path)
    }

    /// Returns the arrays in order.
    pub fn arrays(&self) -> &[Array] {
        &self.arrays
    }

    /// Iterates over paths and arrays in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Array)> {
        self.paths().zip(&self.arrays)
    }

    /// Applies `f` to every array and returns the resulting state.
    pub fn map(&self, f: impl FnMut(&Array) -> Array) -> State {
        State {
            layout: self.layout.clone(),
            arrays: self.arrays.iter().map(f).collect(),
        }
    }

    /// Applies `f` to the path and value of every array and returns the resulting state.
    pub fn map_with_path(&self, mut f: impl FnMut(&str, &Array) -> Array) -> State {
        State {
            layout: self.layout.clone(),
            arrays: self.iter().map(|(path, a)| f(path, a)).collect(),
        }
    }

    /// Applies `f` to the arrays of two states at each path and returns the resulting state.
    ///
    /// # Panics
    /// Panics if the states have different paths. The message lists the paths that only one of
    /// them has.
    #[track_caller]
    pub fn zip(&self, other: &State, mut f: impl FnMut(&Array, &Array) -> Array) -> State {
        let others = self.aligned(other);
        let pairs = self.arrays.iter().zip(others);
        State {
            layout: self.layout.clone(),
            arrays: pairs.map(|(a, b)| f(a, b)).collect(),
        }
    }

    /// Returns the other state's arrays in the order of this state.
    #[track_caller]
    fn aligned<'a>(&self, other: &'a State) -> Vec<&'a Array> {
        // Gradients and moments usually have the layout of the parameters, and no path is looked
        // up.
        if self.layout.same_paths(&other.layout) {
            return other.arrays.iter().collect();
        }
        let found: Option<Vec<&Array>> = self.paths().map(|p| other.get(p)).collect();
        match found {
            Some(found) if self.len() == other.len() => found,
            _ => {
                let only = |a: &State, b: &State| listed(a.paths().filter(|p| b.get(p).is_none()));
                panic!(
                    "State::zip: the states have different paths\n  only in the first: {}\n  only \
                     in the second: {}\n  help: filter both states in the same way",
                    only(self, other),
                    only(other, self)
                )
            }
        }
    }

    /// Replaces every array by zeros.
    #[track_caller]
    pub fn zeros_like(&self) -> State {
        let mut out = self.clone();
        for a in &mut out.arrays {
            *a = a.zeros_like();
        }
        out
    }

    /// Converts every floating-point array to another dtype.
    #[track_caller]
    pub fn astype(&self, dtype: DType) -> State {
        let mut out = self.clone();
        for a in out.arrays.iter_mut().filter(|a| a.dtype().is_float()) {
            *a = a.astype(dtype);
        }
        out
    }

    /// Returns the leaves whose path and kind the predicate accepts, without empty parts.
    pub fn filter(&self, predicate: impl FnMut(&str, Option<&'static str>) -> bool) -> State {
        self.split(predicate).0
    }

    /// Returns the leaves whose path and array the predicate accepts. Each other leaf is replaced
    /// by an empty part: walking the state visits a child without arrays, as for Optax's
    /// `MaskedNode`. States derived by [`map`](State::map) and [`zip`](State::zip) keep the empty
    /// parts.
    ///
    /// ```
    /// use ramie_core::{Array, State};
    /// let state = State::from_iter([("a", Array::from(1.0f32)), ("b", Array::from(2.0f32))]);
    /// let masked = state.masked(|path, _| path == "b");
    /// assert_eq!(masked.paths().collect::<Vec<_>>(), ["b"]);
    /// ```
    pub fn masked(&self, mut predicate: impl FnMut(&str, &Array) -> bool) -> State {
        let accepts: Vec<bool> = self.iter().map(|(path, a)| predicate(path, a)).collect();
        let arrays = self.arrays.iter().zip(&accepts);
        State {
            layout: Arc::new(self.layout.masked(|i| accepts[i])),
            arrays: arrays
                .filter(|(_, yes)| **yes)
                .map(|(a, _)| a.clone())
                .collect(),
        }
    }

    /// Returns the leaves of one kind.
    pub fn of_kind(&self, kind: &str) -> State {
        self.filter(|_, k| k == Some(kind))
    }

    /// Splits the state into the leaves that the predicate accepts and the others.
    /// [`merge`](State::merge) is the inverse.
    pub fn split(
        &self,
        mut predicate: impl FnMut(&str, Option<&'static str>) -> bool,
    ) -> (State, State) {
        let (mut yes, mut no) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
        for (entry, array) in self.layout.entries().iter().zip(&self.arrays) {
            let side = if predicate(&entry.path, entry.kind) {
                &mut yes
            } else {
                &mut no
            };
            side.0.push(entry.clone());
            side.1.push(array.clone());
        }
        // The same state, which shares the layout, unless it has empty parts to drop.
        if no.1.is_empty() && self.layout.holes().is_empty() {
            return (self.clone(), State::new());
        }
        let state = |(entries, arrays)| State {
            layout: Arc::new(Layout::new(entries).expect("paths of one state differ")),
            arrays,
        };
        (state(yes), state(no))
    }

    /// Appends the leaves of another state.
    ///
    /// # Panics
    /// Panics if a path is in both states.
    #[track_caller]
    pub fn merge(self, other: State) -> State {
        let (own, others) = (&self.layout, &other.layout);
        if self.is_empty() && own.holes().is_empty() {
            return other;
        }
        let entries = own.entries().iter().chain(others.entries());
        // The index of an empty part counts the entries before it, which now include those of
        // `self`.
        let behind = others.holes().iter();
        let behind = behind.map(|(index, path)| (self.len() + index, path.clone()));
        let holes = own.holes().iter().cloned().chain(behind);
        let layout = match Layout::new(entries.cloned().collect()) {
            Ok(layout) => {
                // An array of the other state fills an empty part of the same path.
                let open = |(_, path): &(usize, Arc<str>)| layout.position(path).is_none();
                let holes = holes.filter(open).collect();
                Arc::new(layout.with_holes(holes))
            }
            Err(path) => panic!(
                "State::merge: both states have an array at `{path}`\n  help: use `insert` to \
                 replace an array, or filter one of the states"
            ),
        };
        let mut arrays = self.arrays;
        arrays.extend(other.arrays);
        State { layout, arrays }
    }

    /// Sets the kind of every leaf to `kind`.
    pub fn with_kind(&self, kind: Option<&'static str>) -> State {
        State {
            layout: self.layout.with_kind(kind),
            arrays: self.arrays.clone(),
        }
    }

    /// Returns the leaves below a path, with paths relative to it.
    ///
    /// ```
    /// use ramie_core::{Array, DType, State};
    /// let state = State::from_iter([("norm.mean", Array::scalar(0.0, DType::F32))]);
    /// assert!(state.subtree("norm").get("mean").is_some());
    /// ```
    pub fn subtree(&self, path: &str) -> State {
        let below = |p: &str| {
            p.strip_prefix(path)
                .and_then(|rest| rest.strip_prefix('.'))
                .map(str::to_owned)
        };
        let (mut entries, mut arrays, mut holes) = (Vec::new(), Vec::new(), Vec::new());
        let mut all = self.layout.holes().iter().peekable();
        // Empty parts that precede entry `upto` of this state follow `count` entries in the result.
        let mut pass = |upto: usize, count: usize| {
            while let Some((_, path)) = all.next_if(|(index, _)| *index <= upto) {
                holes.extend(below(path).map(|path| (count, path.into())));
            }
        };
        for (at, (entry, array)) in self.layout.entries().iter().zip(&self.arrays).enumerate() {
            pass(at, entries.len());
            if let Some(path) = below(&entry.path) {
                entries.push(Entry::new(&path, entry.kind));
                arrays.push(array.clone());
            }
        }
        pass(self.len(), entries.len());
        let layout = Layout::new(entries).expect("paths of one state differ");
        State {
            layout: Arc::new(layout.with_holes(holes)),
            arrays,
        }
    }

    /// Prefixes all paths with `path`. The inverse of [`subtree`](State::subtree).
    pub fn nested(&self, path: &str) -> State {
        let entries = self.layout.entries().iter();
        let entries = entries.map(|e| Entry::new(&layout::join(path, &e.path), e.kind));
        let layout = Layout::new(entries.collect()).expect("paths of one state differ");
        let holes = self.layout.holes().iter();
        let holes = holes.map(|(index, hole)| (*index, layout::join(path, hole).into()));
        State {
            layout: Arc::new(layout.with_holes(holes.collect())),
            arrays: self.arrays.clone(),
        }
    }

    /// Replaces all arrays of a tree by those of the state, by path.
    ///
    /// # Errors
    /// Returns an error, and leaves the tree unchanged, if the state lacks a leaf of the tree or
    /// has an additional leaf, or if a leaf differs in shape or dtype.
    pub fn apply_to<T: Tree>(&self, tree: &mut T) -> Result<(), StateMismatch> {
        self.put(tree, true)
    }

    /// Replaces those arrays of a tree that are in the state, by path.
    ///
    /// # Errors
    /// Returns an error, and leaves the tree unchanged, if the state has a leaf that the tree
    /// lacks, or if a leaf differs in shape or dtype.
    pub fn update<T: Tree>(&self, tree: &mut T) -> Result<(), StateMismatch> {
        self.put(tree, false)
    }

    fn put<T: Tree>(&self, tree: &mut T, all: bool) -> Result<(), StateMismatch> {
        let mut mismatch = StateMismatch::default();
        let mut used = vec![false; self.len()];
        // The arrays are collected first, so that the tree is unchanged if one does not fit.
        let mut new = Vec::new();
        tree::for_each_with_path(tree, |path, _, old| match self.layout.position(path) {
            Some(at) => {
                let array = &self.arrays[at];
                if old.aval().strong() != array.aval().strong() {
                    let expected = old.aval().strong();
                    mismatch.mistyped(path, expected, array.aval());
                }
                used[at] = true;
                new.push(Some(array.clone()));
            }
            None => {
                if all {
                    mismatch.missing.push(path.to_owned());
                }
                new.push(None);
            }
        });
        let unused = self.paths().zip(&used).filter(|(_, used)| !**used);
        mismatch.unexpected = unused.map(|(path, _)| path.to_owned()).collect();
        mismatch.checked()?;
        let mut new = new.into_iter();
        tree.walk_mut(&mut |leaf| {
            if let Some(array) = new.next().flatten() {
                *leaf = array;
            }
        });
        Ok(())
    }
}

/// Returns the array at a path.
///
/// # Panics
/// Panics if the path does not exist. The message lists some of the existing paths.
impl std::ops::Index<&str> for State {
    type Output = Array;
    #[track_caller]
    fn index(&self, path: &str) -> &Array {
        self.get(path).unwrap_or_else(|| {
            panic!(
                "State: no array at `{path}`, the paths are: {}\n  help: use a dotted path, as \
                 returned by tree::paths, or `get`, which returns an Option",
                listed(self.paths())
            )
        })
    }
}

impl Tree for State {
    fn walk(&self, visitor: &mut dyn Visitor) {
        visitor.fixed(&*self.layout);
        let empty = |visitor: &mut dyn Visitor, path: &str| {
            visitor.enter(Key::Name(path));
            visitor.exit();
        };
        let mut holes = self.layout.holes().iter().peekable();
        let entries = self.layout.entries().iter().zip(&self.arrays);
        for (i, (entry, array)) in entries.enumerate() {
            while let Some((_, path)) = holes.next_if(|(index, _)| *index <= i) {
                empty(visitor, path);
            }
            // The state of a tree that is a single leaf has the empty path, which is not a path
            // step.
            let step = !entry.path.is_empty();
            if step {
                visitor.enter(Key::Name(&entry.path));
            }
            if let Some(kind) = entry.kind {
                visitor.kind(kind);
            }
            visitor.leaf(array);
            if step {
                visitor.exit();
            }
        }
        for (_, path) in holes {
            empty(visitor, path);
        }
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        for array in &mut self.arrays {
            visit(array);
        }
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        State {
            layout: self.layout.clone(),
            arrays: self.arrays.iter().map(leaf).collect(),
        }
    }
}

/// Collects paths and arrays. If a path occurs several times, the last array is kept.
impl<P: AsRef<str>> FromIterator<(P, Array)> for State {
    fn from_iter<I: IntoIterator<Item = (P, Array)>>(items: I) -> State {
        let mut state = State::new();
        for (path, array) in items {
            state.insert(path.as_ref(), array);
        }
        state
    }
}

/// Lists the paths with the types of the arrays, one per line.
impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("State ")?;
        f.debug_map()
            .entries(self.iter().map(|(p, a)| (p, a.aval())))
            .finish()
    }
}
