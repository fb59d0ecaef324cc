//! From trees to state dicts.

use super::StateDict;
use ramie_core::Array;
use ramie_core::tree::{Fixed, Key, Tree, Visitor};
use std::collections::HashMap;

/// The state dict of a tree (`flax.serialization.to_state_dict`).
///
/// Structs, tuples, lists and maps become dictionaries, those without parts
/// empty ones; an option that is empty becomes `None`. The dotted paths of a
/// [`State`](ramie_core::State) become nested dictionaries. Fields that are
/// numbers or texts, and so are no arrays, are left out.
///
/// # Panics
/// If an array of a state or map has a path that goes on below another array, or
/// two arrays have one path.
///
/// ```
/// use ramie_checkpoint::serialization::{StateDict, to_state_dict};
/// use ramie_core::{Array, State};
/// let params = State::from_iter([("w", Array::from(1.0f32))]);
/// let dict = to_state_dict(&(params, ()));
/// assert!(matches!(dict.get("0.w"), Some(StateDict::Array(_))));
/// assert!(matches!(dict.get("1"), Some(StateDict::Dict(parts)) if parts.is_empty()));
/// ```
#[track_caller]
pub fn to_state_dict<T: Tree>(tree: &T) -> StateDict {
    let mut builder = Builder::default();
    tree.walk(&mut builder);
    if let Some((path, trouble)) = builder.trouble {
        panic!(
            "to_state_dict: `{path}` {trouble}\n  help: a state dict has one thing for each name; \
             rename one of the two"
        );
    }
    builder.root.close().unwrap_or(StateDict::Dict(Vec::new()))
}

/// A part under construction.
#[derive(Default)]
struct Node {
    leaf: Option<Array>,
    parts: Vec<(String, Node)>,
    /// Places of the parts by name.
    places: HashMap<String, usize>,
    /// Whether it is no part of the state dict: a fixed value.
    value: bool,
    /// Whether it is an option that is empty.
    none: bool,
}

impl Node {
    fn close(self) -> Option<StateDict> {
        if let Some(array) = self.leaf {
            return Some(StateDict::Array(array));
        }
        if self.parts.is_empty() && (self.none || self.value) {
            return self.none.then_some(StateDict::None);
        }
        let parts = self.parts.into_iter();
        let parts = parts.filter_map(|(name, node)| Some((name, node.close()?)));
        Some(StateDict::Dict(parts.collect()))
    }
}

#[derive(Default)]
struct Builder {
    root: Node,
    /// The names on the way to the part that is walked, and for each child that
    /// was entered, how many names there were before.
    path: Vec<String>,
    entered: Vec<usize>,
    /// The first path that is there twice, or is leaf and node.
    trouble: Option<(String, &'static str)>,
}

impl Builder {
    /// The part that is walked, made if it is new.
    fn node(&mut self) -> &mut Node {
        let mut node = &mut self.root;
        for (depth, name) in self.path.iter().enumerate() {
            if node.leaf.is_some() && self.trouble.is_none() {
                let path = self.path[..depth].join(".");
                self.trouble = Some((path, "is an array, and has arrays below it"));
            }
            let at = match node.places.get(name) {
                Some(at) => *at,
                None => {
                    node.places.insert(name.clone(), node.parts.len());
                    node.parts.push((name.clone(), Node::default()));
                    node.parts.len() - 1
                }
            };
            node = &mut node.parts[at].1;
        }
        node
    }
}

impl Visitor for Builder {
    fn leaf(&mut self, array: &Array) {
        let node = self.node();
        let trouble = if node.leaf.is_some() {
            Some("is the path of two arrays")
        } else {
            (!node.parts.is_empty()).then_some("is an array, and has arrays below it")
        };
        node.leaf = Some(array.clone());
        if let (Some(trouble), None) = (trouble, &self.trouble) {
            self.trouble = Some((self.path.join("."), trouble));
        }
    }
    fn value(&mut self, _: &dyn Fixed) {
        self.node().value = true;
    }
    fn none(&mut self) {
        self.node().none = true;
    }
    fn enter(&mut self, key: Key<'_>) {
        self.entered.push(self.path.len());
        match key {
            Key::Name(name) => self.path.extend(name.split('.').map(str::to_owned)),
            other => self.path.push(other.to_string()),
        }
        self.node();
    }
    fn exit(&mut self) {
        if let Some(length) = self.entered.pop() {
            self.path.truncate(length);
        }
    }
}
