//! The structure of trees, and functions of several trees with the same structure.

use super::{Fixed, Key, Tree, Visitor, leaves};
use crate::Array;
use crate::hash::WideHasher;
use std::any::Any;
use std::hash::{Hash, Hasher};

/// Computes a fingerprint of the structure and the static values, without the arrays.
pub(crate) fn fingerprint<T: Tree>(tree: &T) -> (u64, u64) {
    struct Structure(WideHasher);
    impl Visitor for Structure {
        fn leaf(&mut self, _: &Array) {
            self.0.write_u8(1);
        }
        fn fixed(&mut self, value: &dyn Fixed) {
            value.hash_fixed(&mut self.0);
        }
    }
    let mut v = Structure(WideHasher::default());
    tree.walk(&mut v);
    v.0.finish_wide()
}

/// Same as [`fingerprint`], but includes the path steps to every part, so that trees of different
/// types can be compared.
pub(super) fn steps<T: Tree>(tree: &T) -> (u64, u64) {
    struct Steps(WideHasher);
    impl Visitor for Steps {
        fn leaf(&mut self, _: &Array) {
            self.0.write_u8(1);
        }
        fn fixed(&mut self, value: &dyn Fixed) {
            value.hash_fixed(&mut self.0);
        }
        fn enter(&mut self, key: Key<'_>) {
            self.0.write_u8(2);
            key.hash(&mut self.0);
        }
        fn exit(&mut self) {
            self.0.write_u8(3);
        }
    }
    let mut v = Steps(WideHasher::default());
    tree.walk(&mut v);
    v.0.finish_wide()
}

/// A part of a tree, without the elements of its arrays.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Array,
    /// A length, a variant, or whether an optional part is present.
    Fixed(String),
    /// A number or a string.
    Value(String),
    Child(Step, Node),
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(&'static str),
    Index(usize),
    Name(String),
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Step::Field(name) => f.write_str(name),
            Step::Index(i) => write!(f, "{i}"),
            Step::Name(name) => write!(f, "{name:?}"),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Node {
    name: Option<&'static str>,
    parts: Vec<Part>,
}

/// Builds the nodes of a tree. The last node is the one being visited.
pub(super) struct Nodes(Vec<(Option<Step>, Node)>);

impl Nodes {
    pub(super) fn of<T: Tree>(tree: &T) -> Node {
        let mut nodes = Nodes(vec![(None, Node::default())]);
        tree.walk(&mut nodes);
        nodes.0.swap_remove(0).1
    }

    fn add(&mut self, part: Part) {
        if let Some((_, node)) = self.0.last_mut() {
            node.parts.push(part);
        }
    }
}

impl Visitor for Nodes {
    fn leaf(&mut self, _: &Array) {
        self.add(Part::Array);
    }
    fn fixed(&mut self, value: &dyn Fixed) {
        self.add(Part::Fixed(value.describe()));
    }
    fn value(&mut self, value: &dyn Fixed) {
        self.add(Part::Value(value.describe()));
    }
    fn enter(&mut self, key: Key<'_>) {
        let step = match key {
            Key::Field(name) => Step::Field(name),
            Key::Index(i) => Step::Index(i),
            Key::Name(name) => Step::Name(name.to_string()),
        };
        self.0.push((Some(step), Node::default()));
    }
    fn exit(&mut self) {
        if let Some((Some(step), node)) = self.0.pop() {
            self.add(Part::Child(step, node));
        }
    }
    fn node(&mut self, name: &'static str, _: &dyn Any) {
        if let Some((_, node)) = self.0.last_mut() {
            node.name = Some(name);
        }
    }
}

impl Node {
    /// Formats the structure like JAX, with `*` for an array.
    pub(super) fn render(&self) -> String {
        let mut length = None;
        let mut texts = Vec::new();
        let mut first = None;
        for part in &self.parts {
            match part {
                Part::Array => texts.push("*".to_string()),
                Part::Value(text) => texts.push(text.clone()),
                Part::Fixed(text) => length = Some(text.as_str()),
                Part::Child(step, node) => {
                    first.get_or_insert(step);
                    texts.push(match step {
                        Step::Index(_) => node.render(),
                        step => format!("{step}: {}", node.render()),
                    });
                }
            }
        }
        let list = length.is_some_and(|text| text.parse::<usize>().is_ok());
        let texts = match (first, length) {
            (None, Some("false")) => return "None".into(),
            (None, Some(_)) if list && texts.is_empty() => return "[]".into(),
            (None, Some(text)) if texts.is_empty() => text.to_string(),
            (None, _) if texts.len() == 1 => texts.remove(0),
            (Some(Step::Index(_)), _) if list => format!("[{}]", texts.join(", ")),
            (Some(Step::Index(_)), _) if texts.len() == 1 => format!("({},)", texts[0]),
            (Some(Step::Index(_)) | None, _) => format!("({})", texts.join(", ")),
            _ => format!("{{{}}}", texts.join(", ")),
        };
        match self.name {
            Some(name) => format!("{name} {texts}"),
            None => texts,
        }
    }

    /// Returns the path of the first difference from another node, and a description of both
    /// parts.
    fn difference(&self, other: &Node, path: &str) -> Option<(String, [String; 2])> {
        if self.name != other.name {
            let text = |node: &Node| match node.name {
                Some(name) => format!("a `{name}`"),
                None => format!("`{}`", shortened(node.render())),
            };
            return Some((path.to_string(), [text(self), text(other)]));
        }
        for i in 0..self.parts.len().max(other.parts.len()) {
            let pair = (self.parts.get(i), other.parts.get(i));
            match pair {
                (Some(Part::Child(step, a)), Some(Part::Child(also, b))) if step == also => {
                    let dot = if path.is_empty() { "" } else { "." };
                    let found = a.difference(b, &format!("{path}{dot}{step}"));
                    if found.is_some() {
                        return found;
                    }
                }
                (a, b) if a == b => {}
                (a, b) => return Some((path.to_string(), [described(a), described(b)])),
            }
        }
        None
    }
}

fn described(part: Option<&Part>) -> String {
    match part {
        None => "no further entry".into(),
        Some(Part::Array) => "an array".into(),
        Some(Part::Child(step, _)) => format!("the entry `{step}`"),
        Some(Part::Fixed(text)) => match text.parse::<usize>() {
            Ok(1) => "1 entry".into(),
            Ok(n) => format!("{n} entries"),
            Err(_) => format!("`{}`", shortened(text.clone())),
        },
        Some(Part::Value(text)) => format!("`{}`", shortened(text.clone())),
    }
}

fn shortened(text: String) -> String {
    const LONGEST: usize = 100;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Compares the structures of two trees: containers and their keys, numbers of entries, and
/// static values. Returns `None` if they are the same, otherwise both structures and the first
/// difference, one per line. An array is printed as `*`.
///
/// ```
/// use ramie_core::{Array, tree};
/// let (x, y) = (Array::from(1.0f32), Array::from(2.0f32));
/// assert_eq!(tree::structure_mismatch(["a", "b"], &(x.clone(), y.clone()), &(y.clone(), x.clone())), None);
/// let lines = tree::structure_mismatch(["params", "grads"], &(x.clone(), y.clone()), &vec![x, y]);
/// assert_eq!(
///     lines.unwrap(),
///     "params: (*, *)\n  grads: [*, *]\n  params has the entry `0`, grads has 2 entries"
/// );
/// ```
pub fn structure_mismatch<T: Tree, U: Tree>(
    names: [&str; 2],
    tree: &T,
    other: &U,
) -> Option<String> {
    if steps(tree) == steps(other) {
        return None;
    }
    let (a, b) = (Nodes::of(tree), Nodes::of(other));
    // Values with the same description may still differ.
    let (path, [has, other_has]) = a.difference(&b, "")?;
    let [one, two] = names;
    let place = match path.is_empty() {
        true => String::new(),
        false => format!("at `{path}`, "),
    };
    Some(format!(
        "{one}: {}\n  {two}: {}\n  {place}{one} has {has}, {two} has {other_has}",
        shortened(a.render()),
        shortened(b.render())
    ))
}

/// Panics if two trees have different structures.
#[track_caller]
fn expect_same<T: Tree, U: Tree>(operation: &str, names: [&str; 2], tree: &T, other: &U) {
    if let Some(lines) = structure_mismatch(names, tree, other) {
        panic!(
            "{operation}: the trees have different structures\n  {lines}\n  help: pass trees with the \
             same containers and keys"
        );
    }
}

/// Applies `f` to the corresponding arrays of two trees with the same structure, and returns the
/// resulting tree.
///
/// # Panics
/// Panics if the structures differ: containers, keys, numbers of entries, or static values.
#[track_caller]
pub fn map2<T: Tree, U: Tree>(
    tree: &T,
    other: &U,
    mut f: impl FnMut(&Array, &Array) -> Array,
) -> T {
    expect_same(
        "tree::map2",
        ["the first tree", "the second tree"],
        tree,
        other,
    );
    let others = leaves(other);
    let mut next = others.iter();
    tree.rebuild(&mut |a| f(a, next.next().expect("as many arrays")))
}

/// Transposes a list of trees: returns, for each leaf, the arrays of all trees at that leaf.
///
/// # Panics
/// Panics if the structures differ, as in [`map2`].
#[track_caller]
pub fn transpose<T: Tree>(trees: &[T]) -> Vec<Vec<Array>> {
    let Some((first, rest)) = trees.split_first() else {
        return Vec::new();
    };
    for (i, tree) in rest.iter().enumerate() {
        let name = format!("tree {}", i + 1);
        expect_same("tree::transpose", ["tree 0", &name], first, tree);
    }
    let columns: Vec<Vec<Array>> = trees.iter().map(leaves).collect();
    (0..columns[0].len())
        .map(|i| columns.iter().map(|c| c[i].clone()).collect())
        .collect()
}
