//! The structure of trees, and functions of several trees with the same structure.

use super::subtree::Subtree;
use super::{Fixed, Key, Tree, Visitor, Walk, leaves};
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

/// Transposes a list of trees: returns, for each leaf, the arrays of all trees at that leaf.
///
/// # Panics
/// Panics if the structures differ, as in [`map2`].
#[doc(alias = "tree_transpose")]
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
