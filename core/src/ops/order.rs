//! Orders: descending, by several keys, and partly sorted.

use super::promote_all;
use crate::{Array, DType, concatenate, lax_sort};
use std::borrow::Borrow;

/// The positions (`i32`) along an axis that sort by the last key, elements that
/// are equal in it by the one before, and so on (`jnp.lexsort`).
///
/// ```no_run
/// use ramie_core::{Array, lexsort};
/// let (second, first) = (Array::from([1, 0, 0]), Array::from([5, 7, 5]));
/// assert_eq!(lexsort(&[second, first], 0).to_vec::<i32>(), [2, 0, 1]);
/// ```
///
/// # Panics
/// If there are no keys, shapes differ, or the axis is out of range.
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
    lax_sort(&operands, axis, keys.len())
        .pop()
        .expect("positions")
}

/// The array with the order of its elements turned round by sorting it.
#[track_caller]
fn opposite(x: &Array) -> Array {
    if x.dtype().is_float() {
        -x
    } else {
        // Unlike the negative, it exists for the smallest integer.
        x.bitwise_not()
    }
}

impl Array {
    /// The elements along an axis in decreasing order, NaN first.
    ///
    /// # Panics
    /// If the axis is out of range.
    #[track_caller]
    pub fn sort_descending(&self, axis: isize) -> Array {
        self.sort(axis).flip(&[axis])
    }

    /// The positions (`i32`) along an axis of its elements in decreasing order,
    /// NaN first; equal elements keep their order.
    ///
    /// # Panics
    /// If the axis is out of range.
    #[track_caller]
    pub fn argsort_descending(&self, axis: isize) -> Array {
        let at = self.axis("argsort", axis);
        let last = self.shape()[at] as i64 - 1;
        last - self.flip(&[axis]).argsort(axis).flip(&[axis])
    }

    /// The elements along an axis so that the one at `kth` is the one that
    /// sorting would put there, no larger ones are before it, and no smaller
    /// ones after it. A negative `kth` counts from the end.
    ///
    /// # Panics
    /// If the axis or `kth` is out of range, or the array is complex.
    #[track_caller]
    pub fn partition(&self, kth: isize, axis: isize) -> Array {
        super::require_real("partition", &[self]);
        let (x, kth) = self.to_partition("partition", kth, axis);
        let low = opposite(&opposite(&x).top_k(kth + 1).0);
        let high = x.top_k(x.shape()[x.ndim() - 1] - kth - 1).0;
        concatenate(&[low, high], -1).swap_axes(-1, axis)
    }

    /// The positions (`i32`) along an axis of what
    /// [`partition`](Array::partition) gives.
    ///
    /// # Panics
    /// If the axis or `kth` is out of range, or the array is complex.
    #[track_caller]
    pub fn argpartition(&self, kth: isize, axis: isize) -> Array {
        super::require_real("argpartition", &[self]);
        let (x, kth) = self.to_partition("argpartition", kth, axis);
        let last = x.ndim() - 1;
        let low = opposite(&x.stop_gradient()).top_k(kth + 1).1;
        let others = Array::ones(x.shape(), DType::F32).put_along_axis(&low, 0.0, -1);
        let high = others.top_k(x.shape()[last] - kth - 1).1;
        concatenate(&[low, high], -1).swap_axes(-1, axis)
    }

    /// The array with the axis last, and the place as one from the start.
    #[track_caller]
    fn to_partition(&self, operation: &str, kth: isize, axis: isize) -> (Array, usize) {
        let at = self.axis(operation, axis);
        let n = self.shape()[at] as isize;
        let place = if kth < 0 { kth + n } else { kth };
        assert!(
            (0..n).contains(&place),
            "{operation}: place {kth} is out of range for axis {axis} of {}\n  help: places run from \
             {} to {}",
            self.aval(),
            -n,
            n - 1
        );
        (self.swap_axes(axis, -1), place as usize)
    }
}

/// Arrays in one type, flat, one after the other.
#[track_caller]
pub(crate) fn joined<A: Borrow<Array>>(operation: &str, arrays: &[A]) -> Array {
    let flat: Vec<Array> = promote_all(operation, arrays)
        .iter()
        .map(Array::ravel)
        .collect();
    concatenate(&flat, 0)
}
