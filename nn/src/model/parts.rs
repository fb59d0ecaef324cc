//! Iteration over the nodes of a model, by type.

use ramie_core::tree::{self, Key, Visitor};
use ramie_core::{Array, Tree};
use std::any::Any;

/// A node of a model: a struct or an enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The dotted path; empty for the model itself.
    pub path: String,
    /// The name of the type.
    pub type_name: &'static str,
    /// Number of nodes that contain this one.
    pub depth: usize,
}

/// Visits a tree and passes the path of each node to `f`.
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

pub(crate) fn for_each_node<M: Tree>(model: &M, f: impl FnMut(&str, &'static str, &dyn Any)) {
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

/// Returns all structs and enums of a model, including the model itself, outermost first
/// (`nnx.iter_modules`).
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

/// Returns the structs and enums that are direct children of the model (`nnx.iter_children`).
#[doc(alias = "iter_module_children")]
pub fn iter_children<M: Tree>(model: &M) -> Vec<Node> {
    let nodes = iter_modules(model);
    let inside = usize::from(nodes.first().is_some_and(|n| n.path.is_empty()));
    nodes.into_iter().filter(|n| n.depth == inside).collect()
}

/// Calls `f` with the path and the value of each node of type `T`.
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

/// Calls `f` with the path and a mutable reference to each node of type `T`, to change
/// hyperparameters or arrays.
///
/// `T` is a struct or an enum that derives [`Tree`] or `Module`.
pub fn for_each_mut<T: 'static, M: Tree>(model: &mut M, mut f: impl FnMut(&str, &mut T)) {
    let mut paths = Vec::new();
    for_each::<T, M>(model, |path, _| paths.push(path.to_owned()));
    let mut paths = paths.into_iter();
    tree::part(model, &mut |part| {
        if let Some(part) = part.downcast_mut::<T>() {
            // `for_each` and `part` visit the nodes in the same order.
            let path = paths.next().unwrap_or_default();
            f(&path, part);
        }
    });
}

/// Calls `f` with each node of type `T` of a model, to change it (`Module.set_attributes`).
/// Returns the number of nodes.
///
/// ```no_run
/// use ramie_core::DType;
/// use ramie_nn::nnx;
/// use ramie_nn::{Linear, Rngs};
/// let mut model = vec![Linear::new(2, 3, &mut Rngs::new(0))];
/// let to_bf16 = |l: &mut Linear| l.config.dtype = Some(DType::BF16);
/// let changed = nnx::set_attributes(&mut model, to_bf16);
/// assert_eq!(changed, 1);
/// ```
#[doc(alias = "with_attributes")]
pub fn set_attributes<T: 'static, M: Tree>(model: &mut M, mut f: impl FnMut(&mut T)) -> usize {
    let mut count = 0;
    for_each_mut(model, |_, part| {
        count += 1;
        f(part);
    });
    count
}
