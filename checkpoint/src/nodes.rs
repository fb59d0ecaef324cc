//! Trees as named nodes, the form in which checkpoints store them.

use ramie_core::Array;
use ramie_core::random::KeyImpl;
use ramie_core::tree::{Fixed, Kept, Key, Tree, Visitor};
use std::any::Any;
use std::collections::HashMap;

/// Array of a tree.
#[derive(Clone)]
pub(crate) struct Leaf {
    /// Index among the arrays of the tree.
    pub at: usize,
    pub array: Array,
    /// PRNG implementation, if the array is the data of a key.
    pub key_impl: Option<KeyImpl>,
}

/// Node of a tree.
#[derive(Default)]
pub(crate) struct Node {
    pub leaf: Option<Leaf>,
    pub children: Vec<Child>,
    /// Indices of the children by name.
    places: HashMap<String, usize>,
    /// Whether the node is a number or a string.
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
    pub fn of<T: Tree>(tree: &T) -> Result<Node, (String, &'static str)> {
        let mut builder = Builder::default();
        tree.walk(&mut builder);
        match builder.trouble {
            Some(trouble) => Err(trouble),
            None => Ok(builder.root),
        }
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
    leaves: usize,
    trouble: Option<(String, &'static str)>,
}

impl Builder {
    /// Returns the current node, creating it if it is new.
    fn node(&mut self) -> &mut Node {
        let mut node = &mut self.root;
        for (depth, (name, is_field)) in self.path.iter().enumerate() {
            if node.leaf.is_some() && self.trouble.is_none() {
                let path = dotted(&self.path[..depth]);
                self.trouble = Some((path, "is an array, but has arrays below it"));
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
        let node = self.node();
        let trouble = if node.leaf.is_some() {
            Some("is the path of two arrays")
        } else {
            (!node.children.is_empty()).then_some("is an array, but has arrays below it")
        };
        node.leaf = Some(leaf);
        if let (Some(trouble), None) = (trouble, &self.trouble) {
            self.trouble = Some((dotted(&self.path), trouble));
        }
    }
    fn fixed(&mut self, _: &dyn Fixed) {
        self.node().fixed = true;
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
    }
    fn node(&mut self, _: &'static str, _: &dyn Any) {
        self.node().typed = true;
    }
    fn metadata(&mut self, metadata: &dyn Any) {
        if let Some(generator) = metadata.downcast_ref::<KeyImpl>() {
            self.generator = Some((self.entered.len(), *generator));
        }
        if metadata.is::<Kept>() {
            self.node().kept = true;
        }
    }
}
