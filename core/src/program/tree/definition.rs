//! Tree definitions: the structure of a tree as a value.

use super::structure::{steps, structure_mismatch};
use super::subtree::Subtree;
use super::{KeyPath, Tree, copy, count, leaves, leaves_with_path, map, with_leaves};
use crate::Array;
use crate::program::array::type_only;
use std::fmt;

/// The structure of a tree of the type `T`, without its arrays (`jax.tree_util.PyTreeDef`):
/// containers, keys and static values.
///
/// Definitions compare equal if the structures are the same, also between types. A definition is
/// printed like JAX's, with `*` for an array.
///
/// ```
/// use ramie_core::{Array, tree};
/// let params = (Array::from(1.0f32), vec![Array::from(2.0f32)]);
/// let (leaves, treedef) = tree::flatten(&params);
/// assert_eq!(treedef.to_string(), "TreeDef((*, [*]))");
/// assert_eq!(treedef, tree::structure(&params));
/// let doubled = leaves.iter().map(|x| x * 2.0);
/// let doubled = tree::unflatten(&treedef, doubled);
/// assert_eq!(doubled.1[0].item::<f32>(), 4.0);
/// ```
#[doc(alias = "PyTreeDef")]
pub struct TreeDef<T> {
    like: T,
    text: String,
    fingerprint: (u64, u64),
}

/// Returns the structure of a tree (`jax.tree.structure`).
#[doc(alias = "tree_structure")]
pub fn structure<T: Tree>(tree: &T) -> TreeDef<T> {
    TreeDef {
        like: map(tree, type_only),
        text: Subtree::of(tree).render(),
        fingerprint: steps(tree),
    }
}

/// Returns the arrays of a tree in order, and its structure (`jax.tree.flatten`).
#[doc(alias = "tree_flatten")]
pub fn flatten<T: Tree>(tree: &T) -> (Vec<Array>, TreeDef<T>) {
    (leaves(tree), structure(tree))
}

/// Returns the path and the array of each leaf, and the structure of a tree
/// (`jax.tree.flatten_with_path`).
#[doc(alias = "tree_flatten_with_path")]
pub fn flatten_with_path<T: Tree>(tree: &T) -> (Vec<(KeyPath, Array)>, TreeDef<T>) {
    (leaves_with_path(tree), structure(tree))
}

/// Creates a tree from its structure and its arrays in order (`jax.tree.unflatten`).
///
/// # Panics
/// Panics if the number of arrays differs from the number of leaves.
#[doc(alias = "tree_unflatten")]
#[track_caller]
pub fn unflatten<T: Tree>(treedef: &TreeDef<T>, leaves: impl IntoIterator<Item = Array>) -> T {
    with_leaves(&treedef.like, leaves)
}

impl<T: Tree> TreeDef<T> {
    /// Returns the number of leaves.
    pub fn num_leaves(&self) -> usize {
        count(&self.like)
    }

    /// Returns whether the tree is a single array (`jax.tree_util.treedef_is_leaf`).
    #[doc(alias = "treedef_is_leaf")]
    pub fn is_leaf(&self) -> bool {
        self.text == "*"
    }

    /// Returns the path of each leaf in order.
    pub fn paths(&self) -> Vec<KeyPath> {
        let leaves = leaves_with_path(&self.like).into_iter();
        leaves.map(|(path, _)| path).collect()
    }

    /// Returns the definition of each entry, field or element in order, without its key
    /// (`PyTreeDef.children`). An array has none, and a static number or string is a definition
    /// without leaves.
    ///
    /// ```
    /// use ramie_core::{Array, tree};
    /// let params = (Array::from(1.0f32), vec![Array::from(2.0f32)]);
    /// let parts = tree::structure(&params).children();
    /// assert_eq!(parts[1], tree::structure(&params.1));
    /// ```
    #[doc(alias = "treedef_children")]
    pub fn children(&self) -> Vec<TreeDef<Subtree>> {
        let children = Subtree::of(&self.like).children();
        children.map(|tree| structure(&tree)).collect()
    }

    /// Returns the definition of a tree that has a tree of the structure `inner` in place of each
    /// array (`PyTreeDef.compose`).
    ///
    /// ```
    /// use ramie_core::{Array, tree};
    /// let x = Array::from(1.0f32);
    /// let params = tree::structure(&vec![x.clone(), x.clone()]);
    /// let moments = params.compose(&tree::structure(&(x.clone(), x)));
    /// assert_eq!(moments.to_string(), "TreeDef([(*, *), (*, *)])");
    /// ```
    #[must_use]
    pub fn compose<U: Tree>(&self, inner: &TreeDef<U>) -> TreeDef<Subtree> {
        structure(&Subtree::of(&self.like).compose(&Subtree::of(&inner.like)))
    }

    /// Returns the part of a tree at each leaf of this structure, in order
    /// (`PyTreeDef.flatten_up_to`).
    ///
    /// ```
    /// use ramie_core::{Array, tree};
    /// let x = |value: f32| Array::from(value);
    /// let params = tree::structure(&vec![x(0.0), x(0.0)]);
    /// let moments = vec![(x(1.0), x(2.0)), (x(3.0), x(4.0))];
    /// let parts = params.flatten_up_to(&moments);
    /// assert_eq!(tree::leaves(&parts[1])[0].item::<f32>(), 3.0);
    /// ```
    ///
    /// # Panics
    /// Panics if the tree lacks a container, a key or a static value of this structure.
    #[track_caller]
    pub fn flatten_up_to<U: Tree>(&self, tree: &U) -> Vec<Subtree> {
        let (own, tree) = (Subtree::of(&self.like), Subtree::of(tree));
        let mut parts = Vec::new();
        if let Some(difference) = own.parts_of(&tree, "", &mut parts) {
            let lines = difference.describe(["the definition", "the tree"], &own, &tree);
            panic!(
                "TreeDef::flatten_up_to: the tree does not start with the structure of the \
                 definition\n  {lines}\n  help: pass a tree with the containers and keys of the \
                 definition, and any tree in place of each array"
            );
        }
        parts
    }

    /// Exchanges the structures of a tree that has a tree of the structure `inner` in place of each
    /// array of this structure: returns a tree of the structure `inner` with a tree of this
    /// structure in place of each array (`jax.tree.transpose`).
    ///
    /// ```
    /// use ramie_core::{Array, tree};
    /// let x = |value: f32| Array::from(value);
    /// let pairs = vec![(x(1.0), x(2.0)), (x(3.0), x(4.0)), (x(5.0), x(6.0))];
    /// let list = tree::structure(&vec![x(0.0), x(0.0), x(0.0)]);
    /// let pair = tree::structure(&(x(0.0), x(0.0)));
    /// let transposed = list.transpose(&pair, &pairs);
    /// assert_eq!(tree::structure(&transposed).to_string(), "TreeDef(([*, *, *], [*, *, *]))");
    /// let [_, second] = &pair.flatten_up_to(&transposed)[..] else { panic!("a pair") };
    /// let second: Vec<Array> = list.unflatten(tree::leaves(second));
    /// assert_eq!(second[2].item::<f32>(), 6.0);
    /// ```
    ///
    /// # Panics
    /// Panics if the structure of the tree is not `self.compose(inner)`.
    #[doc(alias = "tree_transpose")]
    #[track_caller]
    pub fn transpose<U: Tree, V: Tree>(&self, inner: &TreeDef<U>, tree: &V) -> Subtree {
        let (outer, inner) = (Subtree::of(&self.like), Subtree::of(&inner.like));
        let names = ["the structures composed", "the tree"];
        if let Some(lines) = structure_mismatch(names, &outer.compose(&inner), tree) {
            panic!(
                "TreeDef::transpose: the tree does not have a tree of the inner structure in place of \
                 each array of the outer one\n  {lines}\n  help: pass the two structures of which the \
                 tree is composed, the outer one as `self`"
            );
        }
        let (leaves, columns) = (leaves(tree), count(&inner));
        let column = |i: usize| leaves.iter().skip(i).step_by(columns.max(1)).cloned();
        let arrays: Vec<Array> = (0..columns).flat_map(column).collect();
        with_leaves(&inner.compose(&outer), arrays)
    }

    /// Creates a tree of this structure from its arrays in order.
    ///
    /// # Panics
    /// Panics if the number of arrays differs from the number of leaves.
    #[track_caller]
    pub fn unflatten(&self, leaves: impl IntoIterator<Item = Array>) -> T {
        unflatten(self, leaves)
    }
}

impl<T: Tree, U: Tree> PartialEq<TreeDef<U>> for TreeDef<T> {
    fn eq(&self, other: &TreeDef<U>) -> bool {
        self.fingerprint == other.fingerprint
    }
}
impl<T: Tree> Eq for TreeDef<T> {}

impl<T: Tree> Clone for TreeDef<T> {
    fn clone(&self) -> TreeDef<T> {
        TreeDef {
            like: copy(&self.like),
            text: self.text.clone(),
            fingerprint: self.fingerprint,
        }
    }
}

impl<T> fmt::Display for TreeDef<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TreeDef({})", self.text)
    }
}
impl<T> fmt::Debug for TreeDef<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Applies `f` to every part of the type `P` in a copy of a tree, and returns the copy
/// (`jax.tree.map` with `is_leaf=lambda x: isinstance(x, P)`). Parts inside of such parts are
/// visited as well.
///
/// ```
/// use ramie_core::{Array, tree};
/// let boxes = vec![(Array::from(1.0f32), 2usize)];
/// let more = tree::map_parts(&boxes, |(_, n): &mut (Array, usize)| *n += 1);
/// assert_eq!(more[0].1, 3);
/// ```
pub fn map_parts<T: Tree, P: 'static>(tree: &T, mut f: impl FnMut(&mut P)) -> T {
    let mut copy = copy(tree);
    super::part(&mut copy, &mut |part| {
        if let Some(part) = part.downcast_mut() {
            f(part);
        }
    });
    copy
}
