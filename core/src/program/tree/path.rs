//! Paths of leaves as values.

use super::{Key, Tree, Visitor};
use crate::Array;
use std::fmt;

/// One step of a [`KeyPath`], the owned form of [`Key`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyEntry {
    /// The key of a map (`jax.tree_util.DictKey`).
    DictKey(String),
    /// An index of a tuple, array or list (`jax.tree_util.SequenceKey`).
    SequenceKey(usize),
    /// A field of a struct (`jax.tree_util.GetAttrKey`).
    GetAttrKey(&'static str),
}

impl KeyEntry {
    pub(super) fn of(key: Key<'_>) -> KeyEntry {
        match key {
            Key::Field(name) => KeyEntry::GetAttrKey(name),
            Key::Index(i) => KeyEntry::SequenceKey(i),
            Key::Name(name) => KeyEntry::DictKey(name.to_owned()),
        }
    }

    /// Returns the key itself, without brackets, quotes or a dot.
    fn simple(&self) -> String {
        match self {
            KeyEntry::DictKey(name) => name.clone(),
            KeyEntry::SequenceKey(i) => i.to_string(),
            KeyEntry::GetAttrKey(name) => (*name).to_owned(),
        }
    }
}

/// Formats the step as Python code that reads the child: `['a']`, `[0]` or `.a`.
impl fmt::Display for KeyEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyEntry::DictKey(name) => {
                let quote = if name.contains('\'') && !name.contains('"') {
                    '"'
                } else {
                    '\''
                };
                let name = name.replace('\\', "\\\\");
                let name = match quote {
                    '\'' => name.replace('\'', "\\'"),
                    _ => name,
                };
                write!(f, "[{quote}{name}{quote}]")
            }
            KeyEntry::SequenceKey(i) => write!(f, "[{i}]"),
            KeyEntry::GetAttrKey(name) => write!(f, ".{name}"),
        }
    }
}

/// The steps from the root of a tree to a leaf (`jax.tree_util.KeyPath`).
pub type KeyPath = Vec<KeyEntry>;

/// Formats a path (`jax.tree_util.keystr`).
///
/// ```
/// use ramie_core::{Array, tree};
/// use std::collections::BTreeMap;
/// let params = BTreeMap::from([("dense", vec![Array::from(1.0f32)])]);
/// let (path, _) = &tree::leaves_with_path(&params)[0];
/// assert_eq!(tree::keystr(path), "['dense'][0]");
/// assert_eq!(tree::keystr_simple(path, "/"), "dense/0");
/// ```
pub fn keystr(path: &[KeyEntry]) -> String {
    path.iter().map(KeyEntry::to_string).collect()
}

/// Formats a path as its keys, joined by a separator (`jax.tree_util.keystr` with `simple=True`).
pub fn keystr_simple(path: &[KeyEntry], separator: &str) -> String {
    let keys: Vec<String> = path.iter().map(KeyEntry::simple).collect();
    keys.join(separator)
}

/// Returns the path and the array of each leaf (`jax.tree.leaves_with_path`).
#[doc(alias = "tree_leaves_with_path")]
pub fn leaves_with_path<T: Tree>(tree: &T) -> Vec<(KeyPath, Array)> {
    #[derive(Default)]
    struct Paths {
        path: KeyPath,
        leaves: Vec<(KeyPath, Array)>,
    }
    impl Visitor for Paths {
        fn leaf(&mut self, array: &Array) {
            self.leaves.push((self.path.clone(), array.clone()));
        }
        fn enter(&mut self, key: Key<'_>) {
            self.path.push(KeyEntry::of(key));
        }
        fn exit(&mut self) {
            self.path.pop();
        }
    }
    let mut paths = Paths::default();
    tree.walk(&mut paths);
    paths.leaves
}
