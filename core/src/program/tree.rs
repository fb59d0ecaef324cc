//! Pytrees: values that contain arrays.

mod by_path;
mod definition;
mod dict;
mod host_value;
mod maps;
mod path;
mod per_array;
mod ravel;
mod structure;
mod subtree;

use crate::Array;
use crate::base::stack::with_room;
use std::any::Any;
use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};

#[doc(hidden)]
pub use by_path::collect_by_path;
pub use definition::{TreeDef, flatten, flatten_with_path, map_parts, structure, unflatten};
pub use dict::{flatten_dict, flatten_dict_keep_empty, unflatten_dict};
pub use host_value::{HostValue, Hyperparameters, for_each_host_value};
pub use maps::MapKey;
pub use path::{KeyEntry, KeyPath, keystr, keystr_simple, leaves_with_path};
pub use per_array::PerArray;
pub use ravel::ravel;
pub use structure::{broadcast, map_trees, map2, structure_mismatch, transpose};
pub(crate) use structure::{fingerprint, fingerprint_of};
pub use subtree::Subtree;

/// One step of the path from a node to a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key<'a> {
    /// A field of a struct, known from the type.
    Field(&'static str),
    /// An index of a tuple or list.
    Index(usize),
    /// A name known at run time: the key of a map.
    Name(&'a str),
}

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Field(name) => f.write_str(name),
            Key::Name(name) => f.write_str(name),
            Key::Index(i) => write!(f, "{i}"),
        }
    }
}

/// A static value, which is not traced. Compiled functions are specialized to it.
pub trait Fixed: Send + Sync {
    /// Feeds the value to a hasher.
    fn hash_fixed(&self, state: &mut dyn Hasher);
    /// Formats the value for messages.
    fn describe(&self) -> String;
}

impl<T: Hash + Debug + Send + Sync> Fixed for T {
    fn hash_fixed(&self, mut state: &mut dyn Hasher) {
        self.hash(&mut state);
    }
    fn describe(&self) -> String {
        format!("{self:?}")
    }
}

/// Receives the parts of a tree in order.
pub trait Visitor {
    /// Visits an array.
    fn leaf(&mut self, array: &Array);
    /// Visits a static value.
    fn fixed(&mut self, value: &dyn Fixed) {
        let _ = value;
    }
    /// Visits a child that is a single static value, such as a field marked as fixed. Defaults to
    /// [`fixed`](Visitor::fixed).
    fn value(&mut self, value: &dyn Fixed) {
        self.fixed(value);
    }
    /// Visits a child that is a number, a boolean or a string. Defaults to
    /// [`value`](Visitor::value).
    fn host_value(&mut self, value: &HostValue<'_>) {
        self.value(value);
    }
    /// Reports that an optional part is `None`.
    fn none(&mut self) {}
    /// Enters a child.
    fn enter(&mut self, key: Key<'_>) {
        let _ = key;
    }
    /// Leaves a child.
    fn exit(&mut self) {}
    /// Reports the kind of the leaves below, until the matching `exit`. Module variables call it
    /// between `enter` and `leaf`.
    fn kind(&mut self, kind: &'static str) {
        let _ = kind;
    }
    /// Reports the node whose parts follow: the name of its type, and the value itself. Structs
    /// and enums that derive [`Tree`] call it before their parts.
    fn node(&mut self, name: &'static str, node: &dyn Any) {
        let _ = (name, node);
    }
    /// Reports metadata of the leaves below, until the matching `exit`. Module variables call it
    /// with their metadata between `enter` and `leaf`.
    fn metadata(&mut self, metadata: &dyn Any) {
        let _ = metadata;
    }
}

/// A pytree: a value made of arrays that can be walked and rebuilt.
///
/// Arrays are leaves and are traced. Numbers, booleans and strings are trees without leaves: they
/// are *static*, and a function is recompiled when one of them changes. Checkpoints store them,
/// except for those of modules and of fields marked with `#[tree(fixed)]`. A [`DType`], an
/// [`Aval`] or a `&'static str` is static and not stored. Structs and enums derive the trait:
/// `#[derive(Tree)]`.
///
/// [`DType`]: crate::DType
/// [`Aval`]: crate::Aval
///
/// ```
/// use ramie_core::{Array, DType, tree::{self, Tree}};
/// let params = (Array::scalar(1.0, DType::F32), vec![Array::scalar(2.0, DType::F32)], 3usize);
/// let paths: Vec<String> = tree::paths(&params);
/// assert_eq!(paths, ["0", "1.0"]);
/// ```
#[doc(alias(
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_dataclass",
    "register_static",
    "PyTreeNode",
    "Pytree"
))]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tree of arrays",
    note = "add `#[derive(Tree)]` to the type, or `#[tree(fixed)]` to the field if it is a hyperparameter",
    note = "a model whose fields are layers derives `nn::Module`; a model with a method `call` implements `nn::linen::Module`"
)]
pub trait Tree: Sized + Send + Sync + 'static {
    /// Visits the parts in order.
    fn walk(&self, visitor: &mut dyn Visitor);

    /// Calls `visit` on every array in the order of [`walk`](Tree::walk), so that arrays can be
    /// replaced.
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array));

    /// Creates a tree with the same structure and static values, and with other arrays, which
    /// `leaf` returns in the order of [`walk`](Tree::walk).
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self;

    /// Calls `visit` on the parts, whatever their types, so that they can be changed: each field,
    /// entry or element, followed by its own parts. `Module` uses this to switch its layers
    /// between training and evaluation.
    ///
    /// Arrays have no parts. The part of a number or a string is its [`HostValue`]. Static values
    /// are parts like others. A changed part must still fit the value that contains it.
    fn visit_parts(&mut self, visit: &mut dyn FnMut(&mut dyn Any)) {
        let _ = visit;
    }
}

/// Visits a part and its own parts. Implementations of [`Tree::visit_parts`] call it.
pub fn part<T: Tree>(value: &mut T, visit: &mut dyn FnMut(&mut dyn Any)) {
    visit(value);
    value.visit_parts(visit);
}

impl Tree for Array {
    fn walk(&self, visitor: &mut dyn Visitor) {
        visitor.leaf(self);
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        visit(self);
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        leaf(self)
    }
}

/// The [metadata](Visitor::metadata) of a part that has a name in a checkpoint even if it has no
/// arrays, such as the state of a stateless optimizer.
#[derive(Clone, Copy, Debug)]
pub struct KeepEmpty;

/// Implements [`Tree`] for types of static values.
#[macro_export]
macro_rules! fixed_tree {
    ($($t:ty),* $(,)?) => { $(
        impl $crate::tree::Tree for $t {
            fn walk(&self, visitor: &mut dyn $crate::tree::Visitor) { visitor.value(self); }
            fn walk_mut(&mut self, _: &mut dyn FnMut(&mut $crate::Array)) {}
            fn rebuild(&self, _: &mut dyn FnMut(&$crate::Array) -> $crate::Array) -> Self { self.clone() }
        }
    )* };
}
fixed_tree!(
    &'static str,
    crate::DType,
    crate::Aval,
    crate::sharding::LogicalAxisRules
);

/// A float as a static value, compared by its bits.
pub struct Float(pub f64);
impl Hash for Float {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.to_bits());
    }
}
impl Debug for Float {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self.0, f)
    }
}

/// The variant of an enum, as a static value. Derived code visits it.
#[derive(Clone, Copy)]
pub struct Variant {
    index: u32,
    name: &'static str,
}

impl Variant {
    /// Creates the variant with the given `index` in its enum.
    pub fn new(index: u32, name: &'static str) -> Variant {
        Variant { index, name }
    }
}
impl Hash for Variant {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u32(self.index);
    }
}
impl Debug for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Tree for () {
    fn walk(&self, _: &mut dyn Visitor) {}
    fn walk_mut(&mut self, _: &mut dyn FnMut(&mut Array)) {}
    fn rebuild(&self, _: &mut dyn FnMut(&Array) -> Array) -> Self {}
}

impl<T: Send + Sync + 'static> Tree for std::marker::PhantomData<T> {
    fn walk(&self, _: &mut dyn Visitor) {}
    fn walk_mut(&mut self, _: &mut dyn FnMut(&mut Array)) {}
    fn rebuild(&self, _: &mut dyn FnMut(&Array) -> Array) -> Self {
        std::marker::PhantomData
    }
}

macro_rules! tuple {
    ($($t:ident $i:tt),+) => {
        impl<$($t: Tree),+> Tree for ($($t,)+) {
            fn walk(&self, visitor: &mut dyn Visitor) {
                $( child(visitor, Key::Index($i), &self.$i); )+
            }
            fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
                $( self.$i.walk_mut(visit); )+
            }
            fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
                ($( self.$i.rebuild(leaf), )+)
            }
            fn visit_parts(&mut self, visit: &mut dyn FnMut(&mut dyn Any)) {
                $( part(&mut self.$i, visit); )+
            }
        }
    };
}
tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11);

/// Walks a child between `enter` and `exit`. Derived code calls it.
pub fn child<T: Tree>(visitor: &mut dyn Visitor, key: Key<'_>, value: &T) {
    visitor.enter(key);
    value.walk(visitor);
    visitor.exit();
}

impl<T: Tree> Tree for Vec<T> {
    fn walk(&self, visitor: &mut dyn Visitor) {
        // `[[x], [y]]` and `[[x, y], []]` have the same leaves. Signatures ignore paths, so the
        // lengths distinguish them.
        visitor.fixed(&self.len());
        with_room(|| {
            for (i, x) in self.iter().enumerate() {
                child(visitor, Key::Index(i), x);
            }
        });
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        with_room(|| self.iter_mut().for_each(|x| x.walk_mut(visit)));
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        with_room(|| self.iter().map(|x| x.rebuild(leaf)).collect())
    }
    fn visit_parts(&mut self, visit: &mut dyn FnMut(&mut dyn Any)) {
        with_room(|| self.iter_mut().for_each(|x| part(x, visit)));
    }
}

impl<T: Tree, const N: usize> Tree for [T; N] {
    fn walk(&self, visitor: &mut dyn Visitor) {
        for (i, x) in self.iter().enumerate() {
            child(visitor, Key::Index(i), x);
        }
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        for x in self {
            x.walk_mut(visit);
        }
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        std::array::from_fn(|i| self[i].rebuild(leaf))
    }
    fn visit_parts(&mut self, visit: &mut dyn FnMut(&mut dyn Any)) {
        for x in self {
            part(x, visit);
        }
    }
}

impl<T: Tree> Tree for Option<T> {
    fn walk(&self, visitor: &mut dyn Visitor) {
        // The value has the path of the option itself, so a field that becomes optional keeps its
        // path in checkpoints.
        visitor.fixed(&self.is_some());
        match self {
            Some(x) => x.walk(visitor),
            None => visitor.none(),
        }
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        if let Some(x) = self {
            x.walk_mut(visit);
        }
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        self.as_ref().map(|x| x.rebuild(leaf))
    }
    fn visit_parts(&mut self, visit: &mut dyn FnMut(&mut dyn Any)) {
        if let Some(x) = self {
            part(x, visit);
        }
    }
}

impl<T: Tree> Tree for Box<T> {
    fn walk(&self, visitor: &mut dyn Visitor) {
        // A recursive type contains itself in a `Box` or a collection, so these make room on the
        // stack.
        with_room(|| (**self).walk(visitor));
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        with_room(|| (**self).walk_mut(visit));
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        with_room(|| Box::new((**self).rebuild(leaf)))
    }
    fn visit_parts(&mut self, visit: &mut dyn FnMut(&mut dyn Any)) {
        with_room(|| part(&mut **self, visit));
    }
}

/// Visits the parts of a tree. Functions of it are compiled once for trees of all types.
pub(crate) type Walk<'a> = dyn Fn(&mut dyn Visitor) + 'a;

/// Returns the arrays of a tree in order.
#[doc(alias = "tree_leaves")]
pub fn leaves<T: Tree>(tree: &T) -> Vec<Array> {
    leaves_of(&|v| tree.walk(v))
}

pub(crate) fn leaves_of(walk: &Walk<'_>) -> Vec<Array> {
    struct Leaves(Vec<Array>);
    impl Visitor for Leaves {
        fn leaf(&mut self, array: &Array) {
            self.0.push(array.clone());
        }
    }
    let mut v = Leaves(Vec::new());
    walk(&mut v);
    v.0
}

/// Returns the number of arrays of a tree.
pub(crate) fn count<T: Tree>(tree: &T) -> usize {
    count_of(&|v| tree.walk(v))
}

pub(crate) fn count_of(walk: &Walk<'_>) -> usize {
    struct Count(usize);
    impl Visitor for Count {
        fn leaf(&mut self, _: &Array) {
            self.0 += 1;
        }
    }
    let mut v = Count(0);
    walk(&mut v);
    v.0
}

/// Calls `f` with the dotted path, the kind and the array of each leaf.
pub fn for_each_with_path<T: Tree>(
    tree: &T,
    mut f: impl FnMut(&str, Option<&'static str>, &Array),
) {
    walk_with_path(&|v| tree.walk(v), &mut f);
}

pub(crate) fn walk_with_path(
    walk: &Walk<'_>,
    f: &mut dyn FnMut(&str, Option<&'static str>, &Array),
) {
    struct Paths<'a> {
        path: String,
        lengths: Vec<(usize, Option<&'static str>)>,
        kind: Option<&'static str>,
        f: &'a mut dyn FnMut(&str, Option<&'static str>, &Array),
    }
    impl Visitor for Paths<'_> {
        fn leaf(&mut self, array: &Array) {
            (self.f)(&self.path, self.kind, array);
        }
        fn enter(&mut self, key: Key<'_>) {
            use fmt::Write;
            // One string serves all paths: `exit` cuts it back to this length. It also restores the
            // kind, which applies only to the leaves below.
            self.lengths.push((self.path.len(), self.kind));
            let dot = if self.path.is_empty() { "" } else { "." };
            let _ = write!(self.path, "{dot}{key}");
        }
        fn exit(&mut self) {
            if let Some((length, kind)) = self.lengths.pop() {
                self.path.truncate(length);
                self.kind = kind;
            }
        }
        fn kind(&mut self, kind: &'static str) {
            self.kind = Some(kind);
        }
    }
    walk(&mut Paths {
        path: String::new(),
        lengths: Vec::new(),
        kind: None,
        f,
    });
}

/// Returns the dotted path of each leaf.
pub fn paths<T: Tree>(tree: &T) -> Vec<String> {
    paths_of(&|v| tree.walk(v))
}

pub(crate) fn paths_of(walk: &Walk<'_>) -> Vec<String> {
    let mut out = Vec::new();
    walk_with_path(walk, &mut |path, _, _| out.push(path.to_string()));
    out
}

/// Copies a tree. The copy shares the memory of the arrays.
pub fn copy<T: Tree>(tree: &T) -> T {
    tree.rebuild(&mut Array::clone)
}

/// Applies `f` to every array and returns the resulting tree.
///
/// ```
/// use ramie_core::{Array, DType, tree};
/// let t = (Array::scalar(1.0, DType::F32), Array::scalar(2, DType::I32));
/// let shapes = tree::map(&t, |a| Array::shape_dtype_struct(a.shape(), a.dtype()));
/// assert_eq!(shapes.1.dtype(), DType::I32);
/// ```
#[doc(alias = "tree_map")]
pub fn map<T: Tree>(tree: &T, mut f: impl FnMut(&Array) -> Array) -> T {
    tree.rebuild(&mut f)
}

/// Replaces the arrays of a tree by abstract arrays without elements
/// ([`Array::shape_dtype_struct`]), for tracing functions.
///
/// ```
/// use ramie_core::{Array, DType, eval_shape, tree};
/// let x = (Array::shape_dtype_struct(&[3, 4], DType::F32),);
/// let y = eval_shape(|(x,): (Array,)| x.t(), tree::shape_dtype_structs(&x));
/// assert_eq!(y.shape(), [4, 3]);
/// ```
#[doc(alias = "as_abstract")]
pub fn shape_dtype_structs<T: Tree>(tree: &T) -> T {
    map(tree, |a| Array::shape_dtype_struct(a.shape(), a.dtype()))
}

/// Applies `f` to the path and value of every array and returns the resulting tree.
#[doc(alias("tree_map_with_path", "path_aware_map"))]
pub fn map_with_path<T: Tree>(tree: &T, mut f: impl FnMut(&str, &Array) -> Array) -> T {
    // `rebuild` does not report paths, but visits the leaves in the same order.
    let paths = paths(tree);
    let mut next = paths.iter();
    tree.rebuild(&mut |a| f(next.next().map_or("", |p| p.as_str()), a))
}

/// Folds the arrays of a tree.
#[doc(alias = "tree_reduce")]
pub fn reduce<T: Tree, A>(tree: &T, init: A, f: impl FnMut(A, &Array) -> A) -> A {
    leaves(tree).iter().fold(init, f)
}

/// Returns whether the predicate is true for every array of a tree.
#[doc(alias = "tree_all")]
pub fn all<T: Tree>(tree: &T, mut predicate: impl FnMut(&Array) -> bool) -> bool {
    leaves(tree).iter().all(&mut predicate)
}

/// Reduces the arrays of a tree pairwise, as a balanced tree of calls
/// (`jax.tree.reduce_associative`). With `n` arrays, every array passes through at most `log2(n)`
/// calls, rounded up. Returns `None` for a tree without arrays.
#[doc(alias = "tree_reduce_associative")]
pub fn reduce_associative<T: Tree>(
    tree: &T,
    mut f: impl FnMut(&Array, &Array) -> Array,
) -> Option<Array> {
    let mut level = leaves(tree);
    while level.len() > 1 {
        level = level
            .chunks(2)
            .map(|pair| match pair {
                [a, b] => f(a, b),
                one => one[0].clone(),
            })
            .collect();
    }
    level.pop()
}

/// Waits until all arrays of a tree are computed (`jax.block_until_ready`). Returns the tree for
/// chaining.
///
/// # Panics
/// Panics with the runtime's message if a computation failed.
#[track_caller]
pub fn block_until_ready<T: Tree>(tree: &T) -> &T {
    for array in leaves(tree) {
        array.block_until_ready();
    }
    tree
}

/// Replaces the arrays of a tree in order and returns the resulting tree.
///
/// # Panics
/// Panics if the number of arrays differs from the number of leaves.
#[track_caller]
pub fn with_leaves<T: Tree>(tree: &T, arrays: impl IntoIterator<Item = Array>) -> T {
    let arrays: Vec<Array> = arrays.into_iter().collect();
    // `rebuild` would ignore additional arrays.
    let expected = count(tree);
    assert!(
        arrays.len() == expected,
        "tree::with_leaves: got {} arrays for the {expected} leaves of the tree\n  help: pass one \
         array for each leaf, in the order of `tree::leaves`",
        arrays.len()
    );
    let mut arrays = arrays.into_iter();
    tree.rebuild(&mut |_| arrays.next().expect("as many arrays as leaves"))
}
