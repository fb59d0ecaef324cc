//! Trees as flat maps with joined keys, and back.

use super::{Key, Tree, Visitor};
use crate::{Array, State};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Returns the arrays of a tree by their paths, whose keys are joined by `separator`
/// (`flax.traverse_util.flatten_dict` with `sep`). The dotted paths of a [`State`] are split.
///
/// ```
/// use ramie_core::{Array, tree};
/// use std::collections::BTreeMap;
/// let dense = BTreeMap::from([("kernel", Array::from(1.0f32)), ("bias", Array::from(0.0f32))]);
/// let flat = tree::flatten_dict(&BTreeMap::from([("dense", dense)]), "/");
/// assert_eq!(flat.keys().collect::<Vec<_>>(), ["dense/bias", "dense/kernel"]);
/// let state = tree::unflatten_dict(flat, "/");
/// assert_eq!(state["dense.kernel"].item::<f32>(), 1.0);
/// ```
///
/// # Panics
/// Panics if two leaves have the same path.
#[track_caller]
pub fn flatten_dict<T: Tree>(tree: &T, separator: &str) -> BTreeMap<String, Array> {
    let flat = flatten_dict_keep_empty(tree, separator).into_iter();
    flat.filter_map(|(path, array)| Some((path, array?)))
        .collect()
}

/// Same as [`flatten_dict`], but also returns the paths of empty maps and lists, with `None`
/// (`flax.traverse_util.flatten_dict` with `keep_empty_nodes`).
///
/// # Panics
/// Panics if two leaves have the same path.
#[doc(alias = "empty_node")]
#[track_caller]
pub fn flatten_dict_keep_empty<T: Tree>(
    tree: &T,
    separator: &str,
) -> BTreeMap<String, Option<Array>> {
    let mut flat = Flat {
        separator,
        path: String::new(),
        open: vec![(0, false)],
        found: Vec::new(),
    };
    tree.walk(&mut flat);
    let mut map = BTreeMap::new();
    for (path, array) in flat.found {
        if map.contains_key(&path) {
            panic!(
                "tree::flatten_dict: two leaves have the path `{path}`\n  help: use a separator \
                 that the keys do not contain"
            );
        }
        map.insert(path, array);
    }
    map
}

struct Flat<'a> {
    separator: &'a str,
    path: String,
    /// For each open node the length of the path above it, and whether it has content.
    open: Vec<(usize, bool)>,
    found: Vec<(String, Option<Array>)>,
}

impl Flat<'_> {
    fn fill(&mut self) {
        if let Some((_, filled)) = self.open.last_mut() {
            *filled = true;
        }
    }
}

impl Visitor for Flat<'_> {
    fn leaf(&mut self, array: &Array) {
        self.fill();
        self.found.push((self.path.clone(), Some(array.clone())));
    }
    fn value(&mut self, _: &dyn super::Fixed) {
        self.fill();
    }
    fn none(&mut self) {
        self.fill();
    }
    fn enter(&mut self, key: Key<'_>) {
        self.fill();
        self.open.push((self.path.len(), false));
        let between = if self.path.is_empty() {
            ""
        } else {
            self.separator
        };
        let key = match key {
            Key::Name(name) => name.replace('.', self.separator),
            key => key.to_string(),
        };
        let _ = write!(self.path, "{between}{key}");
    }
    fn exit(&mut self) {
        let Some((length, filled)) = self.open.pop() else {
            return;
        };
        if !filled {
            self.found.push((self.path.clone(), None));
        }
        self.path.truncate(length);
    }
}

/// Creates a state from arrays by paths whose keys are joined by `separator`
/// (`flax.traverse_util.unflatten_dict` with `sep`). `None` is an empty part.
///
/// # Panics
/// Panics if a path is a prefix of another one.
#[track_caller]
pub fn unflatten_dict<P: AsRef<str>, V: Into<Option<Array>>>(
    flat: impl IntoIterator<Item = (P, V)>,
    separator: &str,
) -> State {
    let mut state = State::new();
    let mut paths = BTreeSet::new();
    for (path, array) in flat {
        let path = if separator.is_empty() {
            path.as_ref().to_owned()
        } else {
            path.as_ref().replace(separator, ".")
        };
        match array.into() {
            Some(array) => drop(state.insert(&path, array)),
            None => state.insert_empty(&path),
        }
        paths.insert(path);
    }
    for path in &paths {
        let mut above = path.match_indices('.').map(|(end, _)| &path[..end]);
        if let Some(above) = above.find(|above| paths.contains(*above)) {
            panic!(
                "tree::unflatten_dict: `{above}` is an array and a prefix of `{path}`\n  help: a \
                 path leads either to an array or to further keys"
            );
        }
    }
    state
}
