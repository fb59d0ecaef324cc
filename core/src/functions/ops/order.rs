//! Sorting in descending order, by several keys, and partitioning.

use crate::lax::sort;
use crate::prim::elementwise::parts;
use crate::prim::operands::promote_all;
use crate::{Array, DType, concatenate};
use std::borrow::Borrow;

/// Returns the indices (`i32`) that sort along an axis by the last key. Ties are resolved by the
/// previous key, and so on (`jnp.lexsort`).
///
/// ```no_run
/// use ramie_core::numpy::lexsort;
/// use ramie_core::Array;
/// let (second, first) = (Array::from([1, 0, 0]), Array::from([5, 7, 5]));
/// assert_eq!(lexsort(&[second, first], 0).to_vec::<i32>(), [2, 0, 1]);
/// ```
///
/// # Panics
/// Panics if there are no keys, if the shapes differ, or if the axis is out of range.
#[track_caller]
pub fn lexsort<A: Borrow<Array>>(keys: &[A], axis: isize) -> Array {
    assert!(!keys.is_empty(), "lexsort: no keys to sort by");
    let first = keys[0].borrow();
    if first.ndim() == 0 {
        return Array::scalar(0, DType::I32);
    }
    let dimension = first.axis("lexsort", axis);
    first.expect_i32_positions("lexsort", dimension);
    let mut operands: Vec<Array> = keys
        .iter()
        .rev()
        .map(|k| k.borrow().stop_gradient())
        .collect();
    operands.push(Array::iota(first.shape(), dimension, DType::I32));
    sort(&operands, axis, keys.len()).pop().expect("positions")
}

/// The option of [`Array::sort_with`] and [`Array::argsort_with`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Descending;

/// Maps the elements so that their order is reversed.
#[track_caller]
fn opposite(x: &Array) -> Array {
    if x.dtype().is_float() {
        -x
    } else {
        // Unlike negation, this does not overflow for the smallest integer.
        x.bitwise_not()
    }
}

impl Array {
    /// Sorts the elements along an axis in descending order, with NaN first (`jnp.sort` with
    /// `descending=True`).
    ///
    /// # Panics
    /// Panics if the axis is out of range.
    #[track_caller]
    pub fn sort_with(&self, axis: isize, _: Descending) -> Array {
        self.sort(axis).flip(&[axis])
    }

    /// Returns the indices (`i32`) that sort the elements along an axis in descending order, with
    /// NaN first (`jnp.argsort` with `descending=True`). The sort is stable.
    ///
    /// # Panics
    /// Panics if the axis is out of range.
    #[track_caller]
    pub fn argsort_with(&self, axis: isize, _: Descending) -> Array {
        let at = self.axis("argsort", axis);
        let last = self.shape()[at] as i64 - 1;
        last - self.flip(&[axis]).argsort(axis).flip(&[axis])
    }

    /// Partitions the elements along an axis: the element at index `kth` is the one that a sort
    /// would put there, no element before it is larger, and no element after it is smaller. A
    /// negative `kth` counts from the end.
    ///
    /// # Panics
    /// Panics if the axis or `kth` is out of range, or the array is complex.
    #[track_caller]
    pub fn partition(&self, kth: isize, axis: isize) -> Array {
        parts::require_real("partition", &[self]);
        let (x, kth) = self.to_partition("partition", kth, axis);
        let low = opposite(&opposite(&x).top_k(kth + 1).0);
        let high = x.top_k(x.shape()[x.ndim() - 1] - kth - 1).0;
        concatenate(&[low, high], -1).swap_axes(-1, axis)
    }

    /// Returns the indices (`i32`) of the elements in the order of
    /// [`partition`](Array::partition).
    ///
    /// # Panics
    /// Panics if the axis or `kth` is out of range, or the array is complex.
    #[track_caller]
    pub fn argpartition(&self, kth: isize, axis: isize) -> Array {
        parts::require_real("argpartition", &[self]);
        let (x, kth) = self.to_partition("argpartition", kth, axis);
        let last = x.ndim() - 1;
        let low = opposite(&x.stop_gradient()).top_k(kth + 1).1;
        let others = Array::ones(x.shape(), DType::F32).put_along_axis(&low, 0.0, -1);
        let high = others.top_k(x.shape()[last] - kth - 1).1;
        concatenate(&[low, high], -1).swap_axes(-1, axis)
    }

    /// Moves the axis to the end and normalizes `kth`.
    #[track_caller]
    fn to_partition(&self, operation: &str, kth: isize, axis: isize) -> (Array, usize) {
        let at = self.axis(operation, axis);
        let n = self.shape()[at] as isize;
        let index = if kth < 0 { kth + n } else { kth };
        assert!(
            (0..n).contains(&index),
            "{operation}: kth {kth} is out of range for axis {axis} of {}\n  help: pass an index \
             from {} to {}",
            self.aval(),
            -n,
            n - 1
        );
        (self.swap_axes(axis, -1), index as usize)
    }
}

/// Promotes arrays to a common dtype, flattens them and concatenates them.
#[track_caller]
pub(crate) fn joined<A: Borrow<Array>>(operation: &str, arrays: &[A]) -> Array {
    let flat: Vec<Array> = promote_all(operation, arrays)
        .iter()
        .map(Array::ravel)
        .collect();
    concatenate(&flat, 0)
}
