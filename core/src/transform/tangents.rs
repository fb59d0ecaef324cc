//! Trees of tangents with symbolic zeros.

use super::custom::some;
use crate::program::tree;
use crate::{Array, Tree};

/// Tangents or cotangents of a tree. Those known to be zero are not stored as arrays (symbolic
/// zeros in JAX).
///
/// ```
/// use ramie_core::typing::Tangents;
/// use ramie_core::Array;
/// let weights = (Array::from([1.0f32, 2.0]), Array::from(3.0f32));
/// let dots = Tangents::new(&weights, vec![None, Some(Array::from(1.0f32))]);
/// assert!(dots.get("0").is_none());
/// assert_eq!(dots.get("1").unwrap().item::<f32>(), 1.0);
/// assert_eq!(dots.instantiate().0.to_vec::<f32>(), [0.0, 0.0]);
/// ```
#[derive(Debug)]
pub struct Tangents<T> {
    like: T,
    leaves: Vec<Option<Array>>,
}

impl<T: Tree> Tangents<T> {
    /// Creates tangents of `like`, one for each of its arrays; `None` is zero.
    ///
    /// # Panics
    /// Panics if the number of tangents is not the number of arrays.
    #[track_caller]
    pub fn new(like: &T, leaves: Vec<Option<Array>>) -> Tangents<T> {
        let count = tree::count(like);
        assert_eq!(
            leaves.len(),
            count,
            "Tangents::new: {} tangents for a tree of {count} arrays",
            leaves.len()
        );
        Tangents {
            like: tree::copy(like),
            leaves,
        }
    }

    /// Creates tangents of `like` that are all zero.
    pub fn zero(like: &T) -> Tangents<T> {
        Tangents::new(like, vec![None; tree::count(like)])
    }

    /// Returns the tangents, one for each array of the tree, in order.
    pub fn leaves(&self) -> &[Option<Array>] {
        &self.leaves
    }

    /// Returns the tangent of the array at a dotted path, such as `1.kernel`; the path of a tree
    /// that is a single array is empty.
    ///
    /// # Panics
    /// Panics if the tree has no array at this path.
    #[track_caller]
    pub fn get(&self, path: &str) -> Option<&Array> {
        let paths = tree::paths(&self.like);
        match paths.iter().position(|p| p == path) {
            Some(at) => self.leaves[at].as_ref(),
            None => panic!("Tangents::get: no array at `{path}`\n  help: the paths are {paths:?}"),
        }
    }

    /// Returns whether all tangents are zero.
    pub fn is_zero(&self) -> bool {
        self.leaves.iter().all(Option::is_none)
    }

    /// Returns the tree of tangents, with arrays of zeros for symbolic zeros.
    pub fn instantiate(&self) -> T {
        filled(&self.like, self.leaves.iter().cloned())
    }

    pub(super) fn like(&self) -> &T {
        &self.like
    }

    pub(super) fn into_leaves(self) -> Vec<Option<Array>> {
        self.leaves
    }
}

impl<T: Tree> From<T> for Tangents<T> {
    fn from(tangents: T) -> Tangents<T> {
        let leaves = some(&tangents);
        Tangents {
            like: tangents,
            leaves,
        }
    }
}

/// Returns the tangents or cotangents of a tree, with symbolic zeros filled in.
pub(super) fn filled<T: Tree>(like: &T, values: impl IntoIterator<Item = Option<Array>>) -> T {
    let mut values = values.into_iter();
    like.rebuild(&mut |a| {
        let value = values.next().flatten();
        value.unwrap_or_else(|| a.zeros_like())
    })
}
