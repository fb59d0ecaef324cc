//! Conversion of trees to the parts that Orbax stores.

use super::key::{KeyPart, KeyPath};
use super::metadata::ValueKind;
use crate::nodes::{Child, HostLeaf, Leaf, Node};
use ramie_core::Tree;

/// Part of a tree: an array, or a node without parts.
pub(super) struct Part {
    pub path: KeyPath,
    pub value: Value,
}

pub(super) enum Value {
    Array(Leaf),
    Host(HostLeaf),
    Empty(ValueKind),
}

/// Returns the parts of a tree under Orbax's names. On error, returns a path that occurs twice and
/// a description.
///
/// Structs, tuples, lists and maps are nodes. The dotted paths of a [`State`](ramie_core::State)
/// are nested names, and nodes whose names count from 0 are sequences. Hyperparameters and static
/// values are omitted. Struct fields that are empty like `()` are omitted, too; in sequences and
/// maps they are `None`.
pub(super) fn parts<T: Tree>(tree: &T) -> Result<Vec<Part>, (String, &'static str)> {
    let root = Node::of(tree)?;
    if root.is_leaf() {
        return Err((String::new(), "is an array, which has no name"));
    }
    let mut out = Vec::new();
    root.close(&mut Vec::new(), &mut out);
    Ok(out)
}

impl Node {
    /// Returns the kind of a node without parts, or `None` if the node is omitted.
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
        self.children.iter().any(Child::is_part)
    }

    /// Appends the parts of a node that has some.
    fn close(self, path: &mut Vec<KeyPart>, out: &mut Vec<Part>) {
        let children = self.children.into_iter();
        let children: Vec<Child> = children.filter(Child::is_part).collect();
        let counts = |(i, child): (usize, &Child)| !child.is_field && child.name == i.to_string();
        let is_sequence = children.iter().enumerate().all(counts);
        for (i, child) in children.into_iter().enumerate() {
            let node = child.node;
            path.push(if is_sequence {
                KeyPart::Index(i)
            } else {
                KeyPart::Name(child.name)
            });
            let has_parts = node.has_parts();
            let value = match (node.leaf.clone(), node.host.clone()) {
                (Some(leaf), _) => Some(Value::Array(leaf)),
                (None, Some(leaf)) => Some(Value::Host(leaf)),
                (None, None) if has_parts => None,
                (None, None) => node.empty(child.is_field).map(Value::Empty),
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

impl Child {
    /// Returns whether the child contributes any part.
    fn is_part(&self) -> bool {
        let node = &self.node;
        node.is_leaf() || node.has_parts() || node.empty(self.is_field).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramie_core::{Array, State};
    use std::collections::BTreeMap;

    fn shown<T: Tree>(tree: &T) -> Vec<String> {
        let show = |part: Part| {
            let kind = match part.value {
                Value::Array(leaf) => format!("{}", leaf.at),
                Value::Host(leaf) => format!("{:?}", leaf.value),
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
        assert_eq!(shown(&(x(), (), "a")), ["[0]=0", "[1]=None"]);
        let tree = (None::<Array>, Some(x()), Vec::<Array>::new(), State::new());
        assert_eq!(shown(&tree), ["[0]=None", "[1]=0", "[2]=Dict", "[3]=Dict"]);
        let map = BTreeMap::from([("a".to_owned(), vec![x(), x()])]);
        assert_eq!(shown(&map), [".a[0]=0", ".a[1]=1"]);
        let masked = State::from_iter([("a", x()), ("b", x())]).masked(|path, _| path == "b");
        assert_eq!(shown(&masked), [".a=None", ".b=0"]);
    }

    #[test]
    fn numbers_and_strings_are_parts() {
        let tree = (vec![0.5, 2.0], x(), ("a".to_owned(), Some(true)), 7u8);
        assert_eq!(
            shown(&tree),
            [
                "[0][0]=0.5",
                "[0][1]=2.0",
                "[1]=0",
                "[2][0]=\"a\"",
                "[2][1]=true",
                "[3]=7"
            ]
        );
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
