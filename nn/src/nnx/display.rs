//! `display`: a textual representation of a model. `summary`: its size.

use crate::RngKey;
use crate::quantity::Quantity;
use ramie_core::tree::{Fixed, Key, Visitor};
use ramie_core::{Array, Aval, Tree};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::{self, Write};

fn quantity(kind: Option<&str>, aval: Aval) -> Quantity {
    let mut quantity = Quantity::of(aval);
    // A key counts as one element, although it has several words.
    if kind == Some(RngKey::KIND) {
        quantity.elements /= aval.shape().last().copied().unwrap_or(1).max(1);
    }
    quantity
}

/// Returns the type name of a kind of variable: `BatchStat` for `batch_stat`.
pub(super) fn type_of_kind(kind: Option<&str>) -> String {
    let Some(kind) = kind else {
        return "Array".into();
    };
    let words = kind.split('_').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|c| c.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    });
    words.collect()
}

/// A node of a tree: everything below one component of a path.
#[derive(Default)]
pub(super) struct Item {
    pub name: String,
    /// The type name, if the node has one.
    pub type_name: Option<&'static str>,
    pub kind: Option<&'static str>,
    /// The description of a static value.
    value: Option<String>,
    /// The type of the array, if the node is a leaf.
    pub leaf: Option<Aval>,
    pub children: Vec<Item>,
    /// The sizes of all leaves below, by kind.
    pub sizes: BTreeMap<String, Quantity>,
}

impl Item {
    /// Collects the nodes of a tree.
    pub fn of<T: Tree>(tree: &T) -> Item {
        let mut items = Items(vec![Item::default()]);
        tree.walk(&mut items);
        items.0.pop().unwrap_or_default()
    }

    fn add(&mut self, kind: Option<&'static str>, size: Quantity) {
        let name = match kind {
            Some("rng_key" | "rng_count") => "RngState".to_owned(),
            kind => type_of_kind(kind),
        };
        *self.sizes.entry(name).or_default() += size;
    }

    fn write(&self, text: &mut String, depth: usize) {
        let indent = "  ".repeat(depth);
        let _ = write!(text, "{indent}");
        if depth > 0 {
            let _ = write!(text, "{}=", self.name);
        }
        if let Some(aval) = self.leaf {
            let _ = writeln!(text, "{}({aval}),", type_of_kind(self.kind));
            return;
        }
        if self.children.is_empty() && self.type_name.is_none() {
            let value = self.value.as_deref().unwrap_or("()");
            let _ = writeln!(text, "{value},");
            return;
        }
        let sizes: Vec<String> = self
            .sizes
            .iter()
            .map(|(kind, size)| format!("{kind}: {size}"))
            .collect();
        let comment = if sizes.is_empty() {
            String::new()
        } else {
            format!(" # {}", sizes.join(", "))
        };
        let (open, close) = match self.type_name {
            Some(_) => ("(", ")"),
            None => ("[", "]"),
        };
        let _ = writeln!(text, "{}{open}{comment}", self.type_name.unwrap_or(""));
        for child in &self.children {
            child.write(text, depth + 1);
        }
        let comma = if depth > 0 { "," } else { "" };
        let _ = writeln!(text, "{indent}{close}{comma}");
    }
}

/// Collects items on a stack of open ones.
struct Items(Vec<Item>);

impl Items {
    fn top(&mut self) -> &mut Item {
        self.0.last_mut().expect("an open item")
    }
}

impl Visitor for Items {
    fn leaf(&mut self, array: &Array) {
        let top = self.top();
        let (kind, aval) = (top.kind, array.aval());
        top.leaf = Some(aval);
        top.add(kind, quantity(kind, aval));
    }
    fn value(&mut self, value: &dyn Fixed) {
        self.top().value = Some(value.describe());
    }
    fn none(&mut self) {
        self.top().value = Some("None".into());
    }
    fn enter(&mut self, key: Key<'_>) {
        // Leaves inherit the kind of the node that contains them.
        let kind = self.top().kind;
        self.0.push(Item {
            name: key.to_string(),
            kind,
            ..Item::default()
        });
    }
    fn exit(&mut self) {
        let Some(item) = self.0.pop() else { return };
        let top = self.top();
        for (kind, size) in &item.sizes {
            *top.sizes.entry(kind.clone()).or_default() += *size;
        }
        top.children.push(item);
    }
    fn kind(&mut self, kind: &'static str) {
        self.top().kind = Some(kind);
    }
    fn node(&mut self, name: &'static str, _: &dyn Any) {
        self.top().type_name = Some(name);
    }
}

/// Formats a model as text: the types of its nodes, the kinds, shapes and dtypes of its
/// variables, and its hyperparameters (`nnx.display`).
///
/// ```no_run
/// use ramie_nn::{Linear, Rngs, nnx};
/// let text = nnx::display(&Linear::new(2, 3, &mut Rngs::new(0)));
/// assert_eq!(text, "\
/// Linear( # Param: 9 (36 B)
///   kernel=Param(f32[2,3]),
///   bias=Param(f32[3]),
///   config=[
///     dot_general=None,
///     dtype=None,
///     precision=None,
///     preferred_element_type=None,
///   ],
///   lora=None,
/// )
/// ");
/// ```
pub fn display<M: Tree>(model: &M) -> String {
    let mut text = String::new();
    Item::of(model).write(&mut text, 0);
    text
}

/// The size of a model, by the types of its variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    sizes: BTreeMap<String, Quantity>,
}

impl Summary {
    /// Returns the number of elements of all parameters.
    pub fn parameters(&self) -> usize {
        self.count("Param")
    }

    /// Returns the number of elements of all variables of a type, such as `BatchStat`. RNG keys
    /// and counts are of type `RngState`.
    pub fn count(&self, type_name: &str) -> usize {
        self.sizes.get(type_name).map_or(0, |s| s.elements)
    }

    /// Returns the size of all arrays in bytes.
    pub fn bytes(&self) -> usize {
        self.sizes.values().map(|s| s.bytes).sum()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, size) in &self.sizes {
            writeln!(f, "{kind}: {size}")?;
        }
        write!(
            f,
            "Total: {}",
            self.sizes.values().copied().sum::<Quantity>()
        )
    }
}

/// Returns the size of a model, by the types of its variables.
///
/// ```no_run
/// use ramie_nn::{Linear, Rngs, nnx};
/// let summary = nnx::summary(&Linear::new(2, 3, &mut Rngs::new(0)));
/// assert_eq!((summary.parameters(), summary.bytes()), (9, 36));
/// ```
pub fn summary<M: Tree>(model: &M) -> Summary {
    Summary {
        sizes: Item::of(model).sizes,
    }
}
