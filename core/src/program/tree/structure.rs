//! The structure of trees, and functions of several trees with the same structure.

use super::subtree::Subtree;
use super::{Fixed, Key, Tree, Visitor, Walk, count, leaves, with_leaves};
use crate::Array;
use crate::base::hash::WideHasher;
use std::hash::{Hash, Hasher};

/// Computes a fingerprint of the structure and the static values, without the arrays.
pub(crate) fn fingerprint<T: Tree>(tree: &T) -> (u64, u64) {
    fingerprint_of(&|v| tree.walk(v))
}

pub(crate) fn fingerprint_of(walk: &Walk<'_>) -> (u64, u64) {
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
    walk(&mut v);
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
    let (a, b) = (Subtree::of(tree), Subtree::of(other));
    Some(a.difference(&b, "")?.describe(names, &a, &b))
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

/// Applies `f` to the corresponding arrays of several trees of one type and structure, and returns
/// the resulting tree (`jax.tree.map(f, tree, *rest)`). For trees of two types, call [`map2`].
///
/// ```
/// use ramie_core::{Array, tree};
/// let of = |a: f32, b: f32| vec![Array::from(a), Array::from(b)];
/// let (params, grads, momentum) = (of(1.0, 2.0), of(0.5, 0.5), of(0.25, 1.0));
/// let step = |[p, g, m]: [&Array; 3]| p - g - m;
/// let params = tree::map_trees([&params, &grads, &momentum], step);
/// assert_eq!(params[1].item::<f32>(), 0.5);
/// ```
///
/// # Panics
/// Panics if the structures differ, as in [`map2`], or if there are no trees.
#[doc(alias = "tree_map")]
#[track_caller]
pub fn map_trees<T: Tree, const N: usize>(
    trees: [&T; N],
    mut f: impl FnMut([&Array; N]) -> Array,
) -> T {
    let Some((&first, rest)) = trees.split_first() else {
        panic!("tree::map_trees: no trees were passed\n  help: pass at least one tree");
    };
    for (i, &tree) in rest.iter().enumerate() {
        let name = format!("tree {}", i + 1);
        expect_same("tree::map_trees", ["tree 0", &name], first, tree);
    }
    let columns = trees.map(leaves);
    let mut at = 0;
    first.rebuild(&mut |_| {
        let arrays = std::array::from_fn(|i| &columns[i][at]);
        at += 1;
        f(arrays)
    })
}

/// Returns a copy of `tree` in which each array of `prefix` takes the place of the arrays of the part
/// of `tree` at it (`jax.tree.broadcast`).
///
/// ```
/// use ramie_core::{Array, tree};
/// let x = |value: f32| Array::from(value);
/// let params = (x(0.0), vec![x(0.0), x(0.0)]);
/// let rates = tree::broadcast(&(x(0.1), x(0.2)), &params);
/// assert_eq!(rates.1[1].item::<f32>(), 0.2);
/// ```
///
/// # Panics
/// Panics if `tree` lacks a container, a key or a static value of `prefix`.
#[doc(alias("tree_broadcast", "broadcast_prefix"))]
#[track_caller]
pub fn broadcast<P: Tree, T: Tree>(prefix: &P, tree: &T) -> T {
    let (whole, full) = (Subtree::of(prefix), Subtree::of(tree));
    let mut parts = Vec::new();
    if let Some(difference) = whole.parts_of(&full, "", &mut parts) {
        let lines = difference.describe(["the prefix", "the tree"], &whole, &full);
        panic!(
            "tree::broadcast: the tree does not start with the structure of the prefix\n  {lines}\n  \
             help: pass a prefix with the containers and keys of the tree, and an array in place of \
             any part"
        );
    }
    let arrays = leaves(prefix).into_iter().zip(&parts);
    let arrays = arrays.flat_map(|(array, part)| vec![array; count(part)]);
    with_leaves(tree, arrays)
}

/// Transposes a list of trees: returns, for each leaf, the arrays of all trees at that leaf.
/// [`TreeDef::transpose`](super::TreeDef::transpose) exchanges the structures of any nested trees.
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
