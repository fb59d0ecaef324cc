//! Trees of any type: containers, keys, static values and arrays, as values.

use super::{Fixed, Key, Tree, Visitor};
use crate::Array;
use crate::base::hash::Words;
use crate::base::stack::with_room;
use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A tree of any type: its containers, keys, static values and arrays.
///
/// It has the structure of the tree that it is a part of, so that [`leaves`](super::leaves),
/// [`structure`](super::structure) and other functions of trees accept it.
/// [`TreeDef::flatten_up_to`](super::TreeDef::flatten_up_to) returns such parts.
#[derive(Clone, Default)]
pub struct Subtree {
    name: Option<&'static str>,
    parts: Vec<Part>,
}

#[derive(Clone)]
enum Part {
    Array(Array),
    /// A length, a variant, or whether an optional part is present.
    Fixed(Static),
    /// A number or a string.
    Value(Static),
    Child(Step, Subtree),
}

/// A static value, which hashes like the value itself.
#[derive(Clone, PartialEq)]
struct Static {
    words: Words,
    text: String,
}

impl Static {
    fn of(value: &dyn Fixed) -> Static {
        let mut words = Words::default();
        value.hash_fixed(&mut words);
        let text = value.describe();
        Static { words, text }
    }
}
impl Hash for Static {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.words.replay(state);
    }
}
impl fmt::Debug for Static {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(&'static str),
    Index(usize),
    Name(String),
}

impl Step {
    fn key(&self) -> Key<'_> {
        match self {
            Step::Field(name) => Key::Field(name),
            Step::Index(i) => Key::Index(*i),
            Step::Name(name) => Key::Name(name),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Field(name) => f.write_str(name),
            Step::Index(i) => write!(f, "{i}"),
            Step::Name(name) => write!(f, "{name:?}"),
        }
    }
}

/// Builds a subtree. The last one is the one being visited.
struct Builder(Vec<(Option<Step>, Subtree)>);

impl Builder {
    fn add(&mut self, part: Part) {
        if let Some((_, tree)) = self.0.last_mut() {
            tree.parts.push(part);
        }
    }
}

impl Visitor for Builder {
    fn leaf(&mut self, array: &Array) {
        self.add(Part::Array(array.clone()));
    }
    fn fixed(&mut self, value: &dyn Fixed) {
        self.add(Part::Fixed(Static::of(value)));
    }
    fn value(&mut self, value: &dyn Fixed) {
        self.add(Part::Value(Static::of(value)));
    }
    fn enter(&mut self, key: Key<'_>) {
        // A key borrows from the visited tree, which the subtree may outlive.
        let step = match key {
            Key::Field(name) => Step::Field(name),
            Key::Index(i) => Step::Index(i),
            Key::Name(name) => Step::Name(name.to_string()),
        };
        self.0.push((Some(step), Subtree::default()));
    }
    fn exit(&mut self) {
        if let Some((Some(step), tree)) = self.0.pop() {
            self.add(Part::Child(step, tree));
        }
    }
    fn node(&mut self, name: &'static str, _: &dyn Any) {
        if let Some((_, tree)) = self.0.last_mut() {
            tree.name = Some(name);
        }
    }
}

impl Tree for Subtree {
    fn walk(&self, visitor: &mut dyn Visitor) {
        if let Some(name) = self.name {
            visitor.node(name, self);
        }
        for part in &self.parts {
            match part {
                Part::Array(array) => visitor.leaf(array),
                Part::Fixed(value) => visitor.fixed(value),
                Part::Value(value) => visitor.value(value),
                Part::Child(step, tree) => {
                    visitor.enter(step.key());
                    with_room(|| tree.walk(visitor));
                    visitor.exit();
                }
            }
        }
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        for part in &mut self.parts {
            match part {
                Part::Array(array) => visit(array),
                Part::Child(_, tree) => with_room(|| tree.walk_mut(visit)),
                Part::Fixed(_) | Part::Value(_) => {}
            }
        }
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        let parts = self.parts.iter().map(|part| match part {
            Part::Array(array) => Part::Array(leaf(array)),
            Part::Child(step, tree) => Part::Child(step.clone(), with_room(|| tree.rebuild(leaf))),
            fixed => fixed.clone(),
        });
        let parts = parts.collect();
        Subtree { parts, ..*self }
    }
}

/// Formats the structure, with `*` for an array.
impl fmt::Debug for Subtree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Subtree({})", self.render())
    }
}

impl Subtree {
    /// Copies a tree.
    pub(super) fn of<T: Tree>(tree: &T) -> Subtree {
        let mut builder = Builder(vec![(None, Subtree::default())]);
        tree.walk(&mut builder);
        builder.0.swap_remove(0).1
    }

    /// Returns the entries of the tree, each without its key.
    pub(super) fn children(self) -> impl Iterator<Item = Subtree> {
        self.parts.into_iter().filter_map(|part| match part {
            Part::Child(_, tree) => Some(tree),
            _ => None,
        })
    }

    /// Returns the tree with a copy of `inner` in place of each array.
    pub(super) fn compose(&self, inner: &Subtree) -> Subtree {
        let mut composed = Subtree {
            name: self.name,
            parts: Vec::new(),
        };
        for part in &self.parts {
            match part {
                Part::Array(_) => {
                    // A node with an array among its parts is that array, perhaps an optional one,
                    // so it becomes the node `inner`.
                    composed.name = inner.name.or(composed.name);
                    composed.parts.extend(inner.parts.iter().cloned());
                }
                Part::Child(step, tree) => {
                    let tree = with_room(|| tree.compose(inner));
                    composed.parts.push(Part::Child(step.clone(), tree));
                }
                fixed => composed.parts.push(fixed.clone()),
            }
        }
        composed
    }

    /// Adds the parts of `tree` at the arrays of this tree to `found`. Returns the first
    /// difference if `tree` does not start with this structure.
    pub(super) fn parts_of(
        &self,
        tree: &Subtree,
        path: &str,
        found: &mut Vec<Subtree>,
    ) -> Option<Difference> {
        for (i, part) in self.parts.iter().enumerate() {
            match (part, tree.parts.get(i)) {
                (Part::Array(_), _) => {
                    // An array is the last part of its container.
                    found.push(Subtree {
                        name: tree.name.filter(|_| self.name.is_none()),
                        parts: tree.parts[i..].to_vec(),
                    });
                    return None;
                }
                (Part::Child(step, own), Some(Part::Child(also, other))) if step == also => {
                    let inside = joined(path, step);
                    let difference = with_room(|| own.parts_of(other, &inside, found));
                    if difference.is_some() {
                        return difference;
                    }
                }
                (one, Some(other)) if one.is_same(other) => {}
                (one, other) => return Some(Difference::new(path, Some(one), other)),
            }
        }
        let more = tree.parts.get(self.parts.len());
        more.map(|more| Difference::new(path, None, Some(more)))
    }

    /// Formats the structure like JAX, with `*` for an array.
    pub(super) fn render(&self) -> String {
        // The static value of the container itself: the length of a list, the variant of an enum,
        // or whether an optional part is present.
        let mut length = None;
        let mut texts = Vec::new();
        let mut first = None;
        for part in &self.parts {
            match part {
                Part::Array(_) => texts.push("*".to_string()),
                Part::Value(value) => texts.push(value.text.clone()),
                Part::Fixed(value) => length = Some(value.text.as_str()),
                Part::Child(step, tree) => {
                    first.get_or_insert(step);
                    texts.push(match step {
                        Step::Index(_) => tree.render(),
                        step => format!("{step}: {}", tree.render()),
                    });
                }
            }
        }
        // Of these, only a length is a number.
        let list = length.is_some_and(|text| text.parse::<usize>().is_ok());
        let texts = match (first, length) {
            (None, Some("false")) => return "None".into(),
            (None, Some(_)) if list && texts.is_empty() => return "[]".into(),
            (None, Some(text)) if texts.is_empty() => text.to_string(),
            (None, _) if texts.len() == 1 => texts.remove(0),
            (Some(Step::Index(_)), _) if list => format!("[{}]", texts.join(", ")),
            // As in Python, a tuple of one has a comma: `(*,)`.
            (Some(Step::Index(_)), _) if texts.len() == 1 => format!("({},)", texts[0]),
            (Some(Step::Index(_)) | None, _) => format!("({})", texts.join(", ")),
            _ => format!("{{{}}}", texts.join(", ")),
        };
        match self.name {
            Some(name) => format!("{name} {texts}"),
            None => texts,
        }
    }

    /// Returns the first difference from another tree.
    pub(super) fn difference(&self, other: &Subtree, path: &str) -> Option<Difference> {
        if self.name != other.name {
            let text = |tree: &Subtree| match tree.name {
                Some(name) => format!("a `{name}`"),
                None => format!("`{}`", shortened(tree.render())),
            };
            return Some(Difference {
                path: path.to_string(),
                has: [text(self), text(other)],
            });
        }
        for i in 0..self.parts.len().max(other.parts.len()) {
            match (self.parts.get(i), other.parts.get(i)) {
                (Some(Part::Child(step, a)), Some(Part::Child(also, b))) if step == also => {
                    let found = with_room(|| a.difference(b, &joined(path, step)));
                    if found.is_some() {
                        return found;
                    }
                }
                (Some(a), Some(b)) if a.is_same(b) => {}
                (a, b) => return Some(Difference::new(path, a, b)),
            }
        }
        None
    }
}

impl Part {
    /// Returns whether two parts without children are the same, apart from the arrays.
    fn is_same(&self, other: &Part) -> bool {
        match (self, other) {
            (Part::Array(_), Part::Array(_)) => true,
            (Part::Fixed(a), Part::Fixed(b)) | (Part::Value(a), Part::Value(b)) => a == b,
            _ => false,
        }
    }
}

/// Returns the path of an entry.
fn joined(path: &str, step: &Step) -> String {
    let dot = if path.is_empty() { "" } else { "." };
    format!("{path}{dot}{step}")
}

/// The first difference between two trees: its path, and a description of both parts.
pub(super) struct Difference {
    path: String,
    has: [String; 2],
}

impl Difference {
    fn new(path: &str, one: Option<&Part>, other: Option<&Part>) -> Difference {
        Difference {
            path: path.to_string(),
            has: [described(one), described(other)],
        }
    }

    /// Formats both structures and the difference, one per line.
    pub(super) fn describe(&self, names: [&str; 2], a: &Subtree, b: &Subtree) -> String {
        let ([one, two], [has, other_has]) = (names, &self.has);
        let location = if self.path.is_empty() {
            String::new()
        } else {
            format!("at `{}`, ", self.path)
        };
        format!(
            "{one}: {}\n  {two}: {}\n  {location}{one} has {has}, {two} has {other_has}",
            shortened(a.render()),
            shortened(b.render())
        )
    }
}

fn described(part: Option<&Part>) -> String {
    match part {
        None => "no further entry".into(),
        Some(Part::Array(_)) => "an array".into(),
        Some(Part::Child(step, _)) => format!("the entry `{step}`"),
        Some(Part::Fixed(Static { text, .. })) => match text.parse::<usize>() {
            Ok(1) => "1 entry".into(),
            Ok(n) => format!("{n} entries"),
            Err(_) => format!("`{}`", shortened(text.clone())),
        },
        Some(Part::Value(Static { text, .. })) => format!("`{}`", shortened(text.clone())),
    }
}

fn shortened(text: String) -> String {
    const LONGEST: usize = 100;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
