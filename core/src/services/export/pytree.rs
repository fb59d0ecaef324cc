//! JAX's description of pytrees: tuples, lists, dictionaries and leaves.

use super::flatbuffer::{Field, Node, Table, table};
use crate::program::tree::{Fixed, Key, Visitor};
use crate::{Array, Error, Result, Tree};
use std::fmt;

/// The structure of arguments or results, as in JAX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PyTree {
    /// An array.
    Leaf,
    /// No value: Python's `None`. Also represents the parts of a Rust tree that are not arrays.
    None,
    /// A tuple.
    Tuple(Vec<PyTree>),
    /// A list; a vector in Rust.
    List(Vec<PyTree>),
    /// A dictionary of named values, ordered by name; a struct or a map in Rust.
    Dict(Vec<(String, PyTree)>),
}

impl PyTree {
    /// Returns the structure of a Rust tree, and for each leaf its index in the order in which
    /// the Rust tree is walked. Dictionaries are sorted by name, while struct fields may have any
    /// order.
    pub(super) fn of<T: Tree>(tree: &T) -> (PyTree, Vec<usize>) {
        let mut builder = Builder {
            open: vec![OpenNode::default()],
            leaves: 0,
        };
        tree.walk(&mut builder);
        builder.open.pop().unwrap_or_default().close()
    }

    /// Returns the number of leaves.
    pub fn num_leaves(&self) -> usize {
        match self {
            PyTree::Leaf => 1,
            PyTree::None => 0,
            PyTree::Tuple(items) | PyTree::List(items) => {
                items.iter().map(PyTree::num_leaves).sum()
            }
            PyTree::Dict(items) => items.iter().map(|(_, t)| t.num_leaves()).sum(),
        }
    }

    pub(super) fn to_node(&self) -> Node {
        let (kind, children, names): (u8, Vec<Node>, Vec<Node>) = match self {
            PyTree::Leaf => (0, Vec::new(), Vec::new()),
            PyTree::None => (1, Vec::new(), Vec::new()),
            PyTree::Tuple(items) => (2, items.iter().map(PyTree::to_node).collect(), Vec::new()),
            PyTree::List(items) => (3, items.iter().map(PyTree::to_node).collect(), Vec::new()),
            PyTree::Dict(items) => (
                4,
                items.iter().map(|(_, t)| t.to_node()).collect(),
                items.iter().map(|(k, _)| Node::Text(k.clone())).collect(),
            ),
        };
        let mut fields = vec![(0, Field::U8(kind))];
        if !children.is_empty() {
            fields.push((1, Field::Node(Node::List(children))));
        }
        if !names.is_empty() {
            fields.push((2, Field::Node(Node::List(names))));
        }
        table(fields)
    }

    pub(super) fn from_table(table: Table<'_>) -> Result<PyTree> {
        PyTree::read(table, 0, &mut table.buffer_size())
    }

    /// Reads a tree of at most `left` nodes. A node takes several bytes of a file, but a damaged file
    /// may refer to the same node often, and thus describe a tree that fits into no memory.
    fn read(table: Table<'_>, depth: usize, left: &mut usize) -> Result<PyTree> {
        if depth > 100 || *left == 0 {
            let message = "the tree is nested too deeply or has too many nodes";
            return Err(Error::Export(message.into()));
        }
        *left -= 1;
        let children: Vec<PyTree> = table
            .tables(1)?
            .into_iter()
            .map(|t| PyTree::read(t, depth + 1, left))
            .collect::<Result<_>>()?;
        Ok(match table.u8(0)? {
            0 => PyTree::Leaf,
            1 => PyTree::None,
            2 => PyTree::Tuple(children),
            3 => PyTree::List(children),
            4 => PyTree::Dict(table.texts(2)?.into_iter().zip(children).collect()),
            _ => {
                return Err(Error::Export(format!(
                    "arguments or results have nodes of the Python type `{}`, which is not \
                     supported\n  help: export a function of tuples, lists and dictionaries",
                    table.text(3)?
                )));
            }
        })
    }
}

impl fmt::Display for PyTree {
    /// Formats the tree like Python, with `*` for a leaf.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, items: &[PyTree]| {
            for (i, item) in items.iter().enumerate() {
                write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
            }
            Ok(())
        };
        match self {
            PyTree::Leaf => f.write_str("*"),
            PyTree::None => f.write_str("None"),
            PyTree::Tuple(items) => {
                f.write_str("(")?;
                list(f, items)?;
                f.write_str(if items.len() == 1 { ",)" } else { ")" })
            }
            PyTree::List(items) => {
                f.write_str("[")?;
                list(f, items)?;
                f.write_str("]")
            }
            PyTree::Dict(items) => {
                f.write_str("{")?;
                for (i, (name, item)) in items.iter().enumerate() {
                    write!(f, "{}'{name}': {item}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}

/// A node whose children are being walked.
#[derive(Default)]
struct OpenNode {
    leaf: Option<usize>,
    /// Whether the walk reports the number of children, as for vectors but not for tuples.
    counted: bool,
    children: Vec<(Step, Numbered)>,
    /// The parent's key for it.
    step: Option<Step>,
}

/// A structure, and the indices of its leaves in its order.
type Numbered = (PyTree, Vec<usize>);

enum Step {
    Index(usize),
    Name(String),
}

impl OpenNode {
    fn close(self) -> Numbered {
        if let Some(number) = self.leaf {
            return (PyTree::Leaf, vec![number]);
        }
        if self.children.is_empty() {
            return (PyTree::None, Vec::new());
        }
        let listed = self
            .children
            .iter()
            .enumerate()
            .all(|(i, (step, _))| matches!(step, Step::Index(at) if *at == i));
        let mut order = Vec::new();
        if listed {
            let children = self.children.into_iter();
            let items = children.map(|(_, (t, leaves))| {
                order.extend(leaves);
                t
            });
            let items = items.collect();
            let tree = if self.counted {
                PyTree::List(items)
            } else {
                PyTree::Tuple(items)
            };
            return (tree, order);
        }
        let mut named: Vec<(String, Numbered)> = self
            .children
            .into_iter()
            .filter(|(_, (t, _))| *t != PyTree::None)
            .map(|(step, t)| match step {
                Step::Index(i) => (i.to_string(), t),
                Step::Name(name) => (name, t),
            })
            .collect();
        named.sort_by(|a, b| a.0.cmp(&b.0));
        let items = named.into_iter().map(|(name, (t, leaves))| {
            order.extend(leaves);
            (name, t)
        });
        (PyTree::Dict(items.collect()), order)
    }
}

struct Builder {
    open: Vec<OpenNode>,
    leaves: usize,
}

impl Visitor for Builder {
    fn leaf(&mut self, _: &Array) {
        if let Some(open) = self.open.last_mut() {
            open.leaf = Some(self.leaves);
        }
        self.leaves += 1;
    }
    fn fixed(&mut self, _: &dyn Fixed) {
        if let Some(open) = self.open.last_mut() {
            open.counted = true;
        }
    }
    fn enter(&mut self, key: Key<'_>) {
        let step = match key {
            Key::Index(i) => Step::Index(i),
            Key::Field(name) | Key::Name(name) => Step::Name(name.to_string()),
        };
        self.open.push(OpenNode {
            step: Some(step),
            ..OpenNode::default()
        });
    }
    fn exit(&mut self) {
        let Some(mut child) = self.open.pop() else {
            return;
        };
        let step = child.step.take();
        let tree = child.close();
        if let (Some(parent), Some(step)) = (self.open.last_mut(), step) {
            parent.children.push((step, tree));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::flatbuffer::write;
    use super::*;
    use crate::DType;
    use std::collections::BTreeMap;

    #[test]
    fn rust_trees_in_terms_of_python() {
        let x = || Array::shape_dtype_struct(&[], DType::F32);
        let map = BTreeMap::from([("b", x()), ("a", x())]);
        let tree = (x(), vec![x(), x()], map, 3usize, (x(),));
        let (tree, order) = PyTree::of(&tree);
        assert_eq!(
            tree.to_string(),
            "(*, [*, *], {'a': *, 'b': *}, None, (*,))"
        );
        assert_eq!((order, tree.num_leaves()), (vec![0, 1, 2, 3, 4, 5], 6));
        assert_eq!(PyTree::of(&x()).0, PyTree::Leaf);
        assert_eq!(PyTree::of(&()).0, PyTree::None);
    }

    #[test]
    fn a_tree_has_no_more_nodes_than_its_file_has_bytes() {
        let tree = PyTree::Tuple(vec![PyTree::List(vec![PyTree::Leaf; 2]), PyTree::Leaf]);
        let bytes = write(&tree.to_node());
        let read = |mut left| PyTree::read(Table::root(&bytes).unwrap(), 0, &mut left);
        assert_eq!(read(5).unwrap(), tree);
        assert!(read(4).is_err());
        assert_eq!(
            PyTree::from_table(Table::root(&bytes).unwrap()).unwrap(),
            tree
        );
    }
}
