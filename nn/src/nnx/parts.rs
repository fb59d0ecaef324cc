//! The parts of a model, found by type.

use ramie_core::tree::{self, Key, Visitor};
use ramie_core::{Array, Tree};
use std::any::Any;

/// A part of a model: a struct or an enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its dotted path; that of the model itself is empty.
    pub path: String,
    /// The name of its type.
    pub type_name: &'static str,
    /// In how many other nodes it is.
    pub depth: usize,
}

/// Walks a tree with the path of each node.
struct Nodes<F> {
    path: String,
    lengths: Vec<usize>,
    f: F,
}

impl<F: FnMut(&str, &'static str, &dyn Any)> Visitor for Nodes<F> {
    fn leaf(&mut self, _: &Array) {}
    fn enter(&mut self, key: Key<'_>) {
        self.lengths.push(self.path.len());
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(&key.to_string());
    }
    fn exit(&mut self) {
        if let Some(length) = self.lengths.pop() {
            self.path.truncate(length);
        }
    }
    fn node(&mut self, name: &'static str, node: &dyn Any) {
        (self.f)(&self.path, name, node);
    }
}

pub(super) fn for_each_node<M: Tree>(model: &M, f: impl FnMut(&str, &'static str, &dyn Any)) {
    model.walk(&mut Nodes {
        path: String::new(),
        lengths: Vec::new(),
        f,
    });
}

fn is_below(path: &str, ancestor: &str) -> bool {
    ancestor.is_empty()
        || path
            .strip_prefix(ancestor)
            .is_some_and(|rest| rest.starts_with('.'))
}

/// The parts of a model that are structs or enums, outermost first, the model
/// itself among them (`nnx.iter_modules`).
///
/// ```no_run
/// use ramie_nn::nnx;
/// use ramie_nn::{Linear, Rngs};
/// let model = vec![Linear::new(2, 3, &mut Rngs::new(0))];
/// let nodes = nnx::iter_modules(&model);
/// assert_eq!((nodes[0].path.as_str(), nodes[0].type_name), ("0", "Linear"));
/// ```
pub fn iter_modules<M: Tree>(model: &M) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut open: Vec<String> = Vec::new();
    for_each_node(model, |path, type_name, _| {
        while open.last().is_some_and(|outer| !is_below(path, outer)) {
            open.pop();
        }
        nodes.push(Node {
            path: path.to_owned(),
            type_name,
            depth: open.len(),
        });
        open.push(path.to_owned());
    });
    nodes
}

/// The parts that are directly in the model (`nnx.iter_children`).
pub fn iter_children<M: Tree>(model: &M) -> Vec<Node> {
    let nodes = iter_modules(model);
    let inside = usize::from(nodes.first().is_some_and(|n| n.path.is_empty()));
    nodes.into_iter().filter(|n| n.depth == inside).collect()
}

/// Calls `f` with the path of each part of type `T` and the part.
///
/// ```no_run
/// use ramie_nn::nnx;
/// use ramie_nn::{Linear, Rngs};
/// let model = vec![Linear::new(2, 3, &mut Rngs::new(0))];
/// nnx::for_each(&model, |path, layer: &Linear| println!("{path}: {}", layer.kernel.aval()));
/// ```
pub fn for_each<T: 'static, M: Tree>(model: &M, mut f: impl FnMut(&str, &T)) {
    for_each_node(model, |path, _, node| {
        if let Some(part) = node.downcast_ref::<T>() {
            f(path, part);
        }
    });
}

/// Calls `f` with the path of each part of type `T` and the part, which it may
/// change: hyperparameters, or arrays.
///
/// `T` is a struct or an enum that derives [`Tree`] or `Module`.
pub fn for_each_mut<T: 'static, M: Tree>(model: &mut M, mut f: impl FnMut(&str, &mut T)) {
    let mut paths = Vec::new();
    for_each::<T, M>(model, |path, _| paths.push(path.to_owned()));
    let mut paths = paths.into_iter();
    tree::part(model, &mut |part| {
        if let Some(part) = part.downcast_mut::<T>() {
            // Parts are shown and changed in one order.
            let path = paths.next().unwrap_or_default();
            f(&path, part);
        }
    });
}

/// Changes every part of type `T` of a model (`Module.set_attributes`); how many
/// there were.
///
/// ```no_run
/// use ramie_core::DType;
/// use ramie_nn::nnx;
/// use ramie_nn::{Linear, Rngs};
/// let mut model = vec![Linear::new(2, 3, &mut Rngs::new(0))];
/// let changed = nnx::set_attributes(&mut model, |l: &mut Linear| l.dtype = Some(DType::BF16));
/// assert_eq!(changed, 1);
/// ```
pub fn set_attributes<T: 'static, M: Tree>(model: &mut M, mut f: impl FnMut(&mut T)) -> usize {
    let mut count = 0;
    for_each_mut(model, |_, part| {
        count += 1;
        f(part);
    });
    count
}
