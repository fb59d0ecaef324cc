//! Trees as named nodes, the form in which checkpoints store them.

use crate::{Error, Result};
use num_complex::Complex;
use ramie_core::dtypes::Scalar;
use ramie_core::random::KeyImpl;
use ramie_core::tree::{
    Fixed, HostValue, Hyperparameters, KeepEmpty, Key, Tree, Visitor, for_each_host_value,
};
use ramie_core::{Array, DType};
use std::any::Any;
use std::collections::{BTreeMap, HashMap};

/// Array of a tree.
#[derive(Clone)]
pub(crate) struct Leaf {
    /// Index among the arrays of the tree.
    pub at: usize,
    pub array: Array,
    /// PRNG implementation, if the array is the data of a key.
    pub key_impl: Option<KeyImpl>,
}

/// Number, boolean or string of a tree.
#[derive(Clone)]
pub(crate) struct HostLeaf {
    /// Index among the numbers and strings of the tree, hyperparameters included.
    pub at: usize,
    pub value: HostValue<'static>,
}

/// Returns the value of an array without axes.
pub(crate) fn number(array: &Array) -> Scalar {
    match array.dtype() {
        DType::Bool => Scalar::Bool(array.item()),
        DType::U64 => Scalar::Uint(array.item()),
        dtype if dtype.is_integer() => Scalar::Int(array.astype(DType::I64).item()),
        dtype if dtype.is_complex() => {
            let number: Complex<f64> = array.astype(DType::C128).item();
            Scalar::Complex(number.re, number.im)
        }
        _ => Scalar::Float(array.astype(DType::F64).item()),
    }
}

/// Describes a number of a tree for messages.
pub(crate) fn number_of(dtype: DType) -> String {
    match dtype {
        DType::Bool => "a boolean".to_owned(),
        _ => format!("a number ({dtype})"),
    }
}

/// Node of a tree.
#[derive(Default)]
pub(crate) struct Node {
    pub leaf: Option<Leaf>,
    pub host: Option<HostLeaf>,
    pub children: Vec<Child>,
    /// Indices of the children by name.
    places: HashMap<String, usize>,
    /// Whether the node is a static value or a hyperparameter.
    pub value: bool,
    /// Whether the node is an empty option.
    pub none: bool,
    /// Whether the node has a length or the like, as lists and maps do.
    pub fixed: bool,
    /// Whether the node is a struct or an enum.
    pub typed: bool,
    /// Whether the node has a name even if it is empty.
    pub kept: bool,
}

/// Named child of a node.
pub(crate) struct Child {
    pub name: String,
    /// Whether the child is a field of a struct.
    pub is_field: bool,
    pub node: Node,
}

impl Node {
    /// Converts a tree to nodes. On error, returns a path and a description: the path occurs
    /// twice, or is both an array and the parent of others.
    ///
    /// The dotted paths of a [`State`](ramie_core::State) become nested names.
    pub fn of<T: Tree>(tree: &T) -> std::result::Result<Node, (String, &'static str)> {
        let mut builder = Builder::default();
        tree.walk(&mut builder);
        match builder.trouble {
            Some(trouble) => Err(trouble),
            None => Ok(builder.root),
        }
    }

    /// Appends the numbers and strings below the node with their dotted paths.
    pub fn host_leaves(&self, path: &str, out: &mut Vec<(String, HostLeaf)>) {
        if let Some(leaf) = &self.host {
            out.push((path.to_owned(), leaf.clone()));
        }
        for child in &self.children {
            let dot = if path.is_empty() { "" } else { "." };
            let path = format!("{path}{dot}{}", child.name);
            child.node.host_leaves(&path, out);
        }
    }

    /// Returns whether the node is an array, a number or a string.
    pub fn is_leaf(&self) -> bool {
        self.leaf.is_some() || self.host.is_some()
    }
}

/// Numbers and strings by their indices among those of a tree.
pub(crate) type HostValues = BTreeMap<usize, HostValue<'static>>;

/// Replaces numbers and strings of a tree.
pub(crate) fn set_host_values<T: Tree>(tree: &mut T, mut values: HostValues) -> Result<()> {
    let mut at = 0;
    for_each_host_value(tree, |value| {
        if let Some(new) = values.remove(&at) {
            *value = new;
        }
        at += 1;
    });
    if values.is_empty() {
        Ok(())
    } else {
        Err(Error::tree(
            None,
            "the tree has numbers or strings that `Tree::visit_parts` does not visit\n  help: \
         derive `Tree` for the types of their parents, or implement `visit_parts`",
        ))
    }
}

#[derive(Default)]
struct Builder {
    root: Node,
    /// Names on the path to the current node, each with whether it is a field.
    path: Vec<(String, bool)>,
    entered: Vec<usize>,
    /// PRNG implementation of the current keys, with the depth from which it applies.
    generator: Option<(usize, KeyImpl)>,
    /// Depth from which numbers and strings are hyperparameters.
    hyperparameters: Option<usize>,
    leaves: usize,
    host_values: usize,
    trouble: Option<(String, &'static str)>,
}

/// The error of an array whose path is a prefix of another path.
const BOTH: &str = "is an array, but has arrays below it";

impl Builder {
    /// Returns the current node, which becomes a leaf.
    fn new_leaf(&mut self) -> &mut Node {
        let node = self.node();
        let trouble = if node.is_leaf() {
            Some("is the path of two arrays")
        } else {
            (!node.children.is_empty()).then_some(BOTH)
        };
        if let (Some(trouble), None) = (trouble, &self.trouble) {
            self.trouble = Some((dotted(&self.path), trouble));
        }
        self.node()
    }

    /// Returns the current node, creating it if it is new.
    fn node(&mut self) -> &mut Node {
        let mut node = &mut self.root;
        for (depth, (name, is_field)) in self.path.iter().enumerate() {
            if node.is_leaf() && self.trouble.is_none() {
                let path = dotted(&self.path[..depth]);
                self.trouble = Some((path, BOTH));
            }
            let at = match node.places.get(name) {
                Some(at) => *at,
                None => {
                    node.places.insert(name.clone(), node.children.len());
                    node.children.push(Child {
                        name: name.clone(),
                        is_field: *is_field,
                        node: Node::default(),
                    });
                    node.children.len() - 1
                }
            };
            node = &mut node.children[at].node;
        }
        node
    }
}

fn dotted(path: &[(String, bool)]) -> String {
    let names: Vec<&str> = path.iter().map(|(name, _)| &**name).collect();
    names.join(".")
}

impl Visitor for Builder {
    fn leaf(&mut self, array: &Array) {
        let leaf = Leaf {
            at: self.leaves,
            array: array.clone(),
            key_impl: self.generator.map(|(_, generator)| generator),
        };
        self.leaves += 1;
        self.new_leaf().leaf = Some(leaf);
    }
    fn fixed(&mut self, _: &dyn Fixed) {
        // An empty list of a module has no entry, as in NNX.
        match self.hyperparameters {
            Some(_) => self.node().value = true,
            None => self.node().fixed = true,
        }
    }
    fn value(&mut self, _: &dyn Fixed) {
        self.node().value = true;
    }
    fn host_value(&mut self, value: &HostValue<'_>) {
        let at = self.host_values;
        self.host_values += 1;
        if self.hyperparameters.is_some() {
            self.node().value = true;
            return;
        }
        let value = match value {
            HostValue::Number(number, dtype) => HostValue::Number(*number, *dtype),
            HostValue::Text(text) => HostValue::Text(text.to_string().into()),
        };
        self.new_leaf().host = Some(HostLeaf { at, value });
    }
    fn none(&mut self) {
        // An absent part of a module has no entry, as in NNX.
        match self.hyperparameters {
            Some(_) => self.node().value = true,
            None => self.node().none = true,
        }
    }
    fn enter(&mut self, key: Key<'_>) {
        self.entered.push(self.path.len());
        match key {
            Key::Name(name) => {
                let names = name.split('.').map(|n| (n.to_owned(), false));
                self.path.extend(names);
            }
            Key::Field(name) => self.path.push((name.to_owned(), true)),
            Key::Index(i) => self.path.push((i.to_string(), false)),
        }
        self.node();
    }
    fn exit(&mut self) {
        if let Some(length) = self.entered.pop() {
            self.path.truncate(length);
        }
        if self.generator.is_some_and(|(d, _)| d > self.entered.len()) {
            self.generator = None;
        }
        if self.hyperparameters.is_some_and(|d| d > self.entered.len()) {
            self.hyperparameters = None;
        }
    }
    fn node(&mut self, _: &'static str, _: &dyn Any) {
        self.node().typed = true;
    }
    fn metadata(&mut self, metadata: &dyn Any) {
        if let Some(generator) = metadata.downcast_ref::<KeyImpl>() {
            self.generator = Some((self.entered.len(), *generator));
        }
        if metadata.is::<KeepEmpty>() {
            self.node().kept = true;
        }
        if metadata.is::<Hyperparameters>() {
            self.hyperparameters.get_or_insert(self.entered.len());
        }
    }
}
