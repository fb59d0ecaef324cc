//! Iteration over the nodes and variables of a model.

use crate::metadata::{Part, for_each_part};
use ramie_core::tree;
use ramie_core::{Array, Tree};
use std::any::Any;

/// A node of a model: a struct, an enum or, in [`iter_graph`], a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The dotted path; empty for the model itself.
    pub path: String,
    /// The name of the type. For a variable, it is the kind, such as `param`, or `array` for an array
    /// without a kind.
    pub type_name: &'static str,
    /// Number of nodes that contain this one.
    pub depth: usize,
}

pub(crate) fn for_each_node<M: Tree>(model: &M, mut f: impl FnMut(&str, &'static str, &dyn Any)) {
    for_each_part(model, |path, part| {
        if let Part::Node(name, node) = part {
            f(path, name, node);
        }
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
    let nodes = iter_graph(model).into_iter();
    nodes.filter(|(_, a)| a.is_none()).map(|(n, _)| n).collect()
}

/// Returns all structs, enums and variables of a model, including the model itself, each before the
/// parts that it contains (`nnx.iter_graph`). Variables have their arrays.
///
/// ```no_run
/// use ramie_nn::nnx;
/// use ramie_nn::{Linear, Rngs};
/// let model = Linear::new(2, 3, &mut Rngs::new(0));
/// for (node, array) in nnx::iter_graph(&model) {
///     match array {
///         Some(array) => println!("{}: {} {}", node.path, node.type_name, array.aval()),
///         None => println!("{}: {}", node.path, node.type_name),
///     }
/// }
/// ```
pub fn iter_graph<M: Tree>(model: &M) -> Vec<(Node, Option<Array>)> {
    let mut all = Vec::new();
    let mut open: Vec<String> = Vec::new();
    for_each_part(model, |path, part| {
        while open.last().is_some_and(|outer| !is_below(path, outer)) {
            open.pop();
        }
        let depth = open.len();
        let (type_name, array) = match part {
            Part::Node(name, _) => {
                open.push(path.to_owned());
                (name, None)
            }
            Part::Variable(kind, _, array) => (kind.unwrap_or("array"), Some(array.clone())),
        };
        let path = path.to_owned();
        all.push((
            Node {
                path,
                type_name,
                depth,
            },
            array,
        ));
    });
    all
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
