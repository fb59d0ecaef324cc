//! From trees to the parts that Orbax stores.

use super::key::{KeyPart, KeyPath};
use super::metadata::ValueKind;
use ramie_core::Array;
use ramie_core::random::KeyImpl;
use ramie_core::tree::{Fixed, Kept, Key, Tree, Visitor};
use std::any::Any;
use std::collections::HashMap;

/// A part of a tree: an array, or a node without parts.
pub(super) struct Part {
    pub path: KeyPath,
    pub value: Value,
}

pub(super) enum Value {
    Array(Leaf),
    Empty(ValueKind),
}

/// An array of a tree.
#[derive(Clone)]
pub(super) struct Leaf {
    /// Its place among the arrays of the tree.
    pub at: usize,
    pub array: Array,
    /// The generator, if it is the data of a key.
    pub key_impl: Option<KeyImpl>,
}

/// The parts of a tree under the names that Orbax would give them; else a path that
/// is there twice, and how.
///
/// Structs, tuples, lists and maps are nodes. The dotted paths of a
/// [`State`](ramie_core::State) are nested names, and nodes whose names count from 0
/// are sequences. Fields that are numbers or texts are no parts, nor are fields that
/// hold nothing at all, such as `()`; in sequences and maps, these are `None`.
pub(super) fn parts<T: Tree>(tree: &T) -> Result<Vec<Part>, (String, &'static str)> {
    let mut builder = Builder::default();
    tree.walk(&mut builder);
    if let Some(trouble) = builder.trouble {
        return Err(trouble);
    }
    if builder.root.leaf.is_some() {
        return Err((String::new(), "is an array, which has no name"));
    }
    let mut out = Vec::new();
    builder.root.close(&mut Vec::new(), &mut out);
    Ok(out)
}

/// A part under construction.
#[derive(Default)]
struct Node {
    leaf: Option<Leaf>,
    /// Children, each with whether it is a field of a struct.
    children: Vec<(String, bool, Node)>,
    /// Places of the children by name.
    places: HashMap<String, usize>,
    /// Whether it is a number or a text.
    value: bool,
    /// Whether it is an option that is empty.
    none: bool,
    /// Whether it has a length or the like, as lists and maps do.
    fixed: bool,
    /// Whether it is a struct or an enum.
    typed: bool,
    /// Whether it has a name even if it is empty.
    kept: bool,
}

impl Node {
    /// What it is if it has no parts, as a field or not; nothing if it is no part.
    fn empty(&self, is_field: bool) -> Option<ValueKind> {
        match () {
            _ if self.none => Some(ValueKind::None),
            _ if self.value => None,
            _ if self.kept => Some(ValueKind::None),
            _ if self.fixed && !self.typed => Some(ValueKind::Dict),
            _ if !is_field => Some(ValueKind::None),
            _ => None,
        }
    }

    fn has_parts(&self) -> bool {
        let mut children = self.children.iter();
        children.any(|(_, is_field, node)| node.is_part(*is_field))
    }

    /// Whether there is anything of it.
    fn is_part(&self, is_field: bool) -> bool {
        self.leaf.is_some() || self.has_parts() || self.empty(is_field).is_some()
    }

    /// Adds the parts of a node that has some.
    fn close(self, path: &mut Vec<KeyPart>, out: &mut Vec<Part>) {
        let children = self.children.into_iter();
        let children: Vec<_> = children
            .filter(|(_, is_field, node)| node.is_part(*is_field))
            .collect();
        let counts = |(i, (name, is_field, _)): (usize, &(String, bool, Node))| {
            !is_field && *name == i.to_string()
        };
        let is_sequence = children.iter().enumerate().all(counts);
        for (i, (name, is_field, node)) in children.into_iter().enumerate() {
            path.push(match is_sequence {
                true => KeyPart::Index(i),
                false => KeyPart::Name(name),
            });
            let has_parts = node.has_parts();
            let value = match (node.empty(is_field), node.leaf.clone()) {
                (_, Some(leaf)) => Some(Value::Array(leaf)),
                (Some(kind), None) if !has_parts => Some(Value::Empty(kind)),
                _ => None,
            };
            match value {
                Some(value) => out.push(Part {
                    path: KeyPath::new(path.iter().cloned()),
                    value,
                }),
                None => node.close(path, out),
            }
            path.pop();
        }
    }
}

#[derive(Default)]
struct Builder {
    root: Node,
    /// The names on the way to the part that is walked, each with whether it is a
    /// field, and for each child that was entered, how many there were before.
    path: Vec<(String, bool)>,
    entered: Vec<usize>,
    /// Generators of the keys on the way, with the depth at which they are known.
    generator: Option<(usize, KeyImpl)>,
    leaves: usize,
    trouble: Option<(String, &'static str)>,
}

impl Builder {
    /// The part that is walked, made if it is new.
    fn node(&mut self) -> &mut Node {
        let mut node = &mut self.root;
        for (depth, (name, is_field)) in self.path.iter().enumerate() {
            if node.leaf.is_some() && self.trouble.is_none() {
                let names: Vec<&str> = self.path[..depth].iter().map(|(n, _)| &**n).collect();
                self.trouble = Some((names.join("."), "is an array, and has arrays below it"));
            }
            let at = match node.places.get(name) {
                Some(at) => *at,
                None => {
                    node.places.insert(name.clone(), node.children.len());
                    let child = (name.clone(), *is_field, Node::default());
                    node.children.push(child);
                    node.children.len() - 1
                }
            };
            node = &mut node.children[at].2;
        }
        node
    }
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
            (!node.children.is_empty()).then_some("is an array, and has arrays below it")
        };
        node.leaf = Some(leaf);
        if let (Some(trouble), None) = (trouble, &self.trouble) {
            let names: Vec<&str> = self.path.iter().map(|(n, _)| &**n).collect();
            self.trouble = Some((names.join("."), trouble));
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

#[cfg(test)]
mod tests {
    use super::*;
    use ramie_core::State;
    use std::collections::BTreeMap;

    fn shown<T: Tree>(tree: &T) -> Vec<String> {
        let show = |part: Part| {
            let kind = match part.value {
                Value::Array(leaf) => format!("{}", leaf.at),
                Value::Empty(kind) => kind.name().to_owned(),
            };
            let keys = part.path.parts().iter().map(|key| match key {
                KeyPart::Index(i) => format!("[{i}]"),
                KeyPart::Name(name) => format!(".{name}"),
            });
            format!("{}={kind}", keys.collect::<String>())
        };
        parts(tree).unwrap().into_iter().map(show).collect()
    }

    fn x() -> Array {
        Array::scalar(1.0, ramie_core::DType::F32)
    }

    #[test]
    fn names_with_dots_are_nested_and_counting_ones_are_sequences() {
        let state = State::from_iter([
            ("0.count", x()),
            ("0.mu.w", x()),
            ("1.k", x()),
            ("0.mu.b", x()),
        ]);
        assert_eq!(
            shown(&state),
            ["[0].count=0", "[0].mu.w=1", "[0].mu.b=3", "[1].k=2"]
        );
        let gap = State::from_iter([("0", x()), ("2", x())]);
        assert_eq!(shown(&gap), [".0=0", ".2=1"]);
    }

    #[test]
    fn empty_parts_have_their_kinds() {
        assert_eq!(shown(&(x(), (), 3usize)), ["[0]=0", "[1]=None"]);
        let tree = (None::<Array>, Some(x()), Vec::<Array>::new(), State::new());
        assert_eq!(shown(&tree), ["[0]=None", "[1]=0", "[2]=Dict", "[3]=Dict"]);
        let map = BTreeMap::from([("a".to_owned(), vec![x(), x()])]);
        assert_eq!(shown(&map), [".a[0]=0", ".a[1]=1"]);
        let masked = State::from_iter([("a", x()), ("b", x())]).masked(|path, _| path == "b");
        assert_eq!(shown(&masked), [".a=None", ".b=0"]);
    }

    #[test]
    fn one_name_is_one_thing() {
        let twice = BTreeMap::from([
            ("a.b".to_owned(), State::from_iter([("c", x())])),
            ("a".to_owned(), State::from_iter([("b.c", x())])),
        ]);
        let (path, trouble) = parts(&twice).err().unwrap();
        assert_eq!(
            (path.as_str(), trouble),
            ("a.b.c", "is the path of two arrays")
        );
    }
}
