//! Jacobians of structs, by path.

use crate::{Array, Tree};
use std::collections::BTreeMap;

/// Collects the Jacobian of a struct with `#[derive(Tree)]`: the Jacobians of its arrays by their
/// dotted paths. Derived code calls it.
#[doc(hidden)]
pub fn collect_by_path<T: Tree, A: Tree>(
    tree: &T,
    of: &mut dyn FnMut(&Array) -> A,
) -> BTreeMap<String, A> {
    let mut blocks = BTreeMap::new();
    super::for_each_with_path(tree, |path, _, array| {
        blocks.insert(path.to_owned(), of(array));
    });
    blocks
}
