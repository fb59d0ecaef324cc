//! Functions that join, repeat and move elements.

use crate::prim::operands::{self, common_type};
use crate::prim::shape::OneOrMany;
use crate::typing::Dims;
use crate::{Array, DType, concatenate};
use std::borrow::Borrow;

/// Returns the dtype in which arrays are computed together (`jnp.result_type`). Weakly typed
/// arrays, which result from literals, adopt the dtype of the others.
///
/// # Panics
/// Panics if there are no arrays.
#[track_caller]
pub fn result_type<A: Borrow<Array>>(arrays: &[A]) -> DType {
    common_type("result_type", arrays).0
}

/// Joins arrays along their second axis, or 1-d arrays along their only axis.
///
/// # Panics
/// Panics if there are no arrays, or if dimensions other than that of the axis differ.
#[track_caller]
pub fn hstack<A: Borrow<Array>>(arrays: &[A]) -> Array {
    let arrays: Vec<Array> = arrays.iter().map(|a| at_least(a.borrow(), 1)).collect();
    let axis = isize::from(arrays.first().is_none_or(|a| a.ndim() > 1));
    concatenate(&arrays, axis)
}

/// Joins arrays along their first axis. 1-d arrays become rows.
///
/// # Panics
/// Panics if there are no arrays, or dimensions other than the first differ.
#[track_caller]
pub fn vstack<A: Borrow<Array>>(arrays: &[A]) -> Array {
    let arrays: Vec<Array> = arrays.iter().map(|a| at_least(a.borrow(), 2)).collect();
    concatenate(&arrays, 0)
}

/// Broadcasts the arrays to a common shape.
///
/// # Panics
/// Panics if the shapes do not broadcast.
#[track_caller]
pub fn broadcast_arrays<A: Borrow<Array>>(arrays: &[A]) -> Vec<Array> {
    let refs: Vec<&Array> = arrays.iter().map(Borrow::borrow).collect();
    let shape = operands::common_shape("broadcast_arrays", &refs);
    refs.iter().map(|a| a.broadcast_to(&shape)).collect()
}

/// Prepends axes of size 1 until the array has at least `rank` axes.
#[track_caller]
pub(crate) fn at_least(array: &Array, rank: usize) -> Array {
    operands::lead(array, rank.max(array.ndim()))
}

impl Array {
    /// Moves all elements to one axis of a shape with `rank` axes; the other axes have size 1.
    #[track_caller]
    pub(crate) fn laid_along(&self, axis: usize, rank: usize) -> Array {
        let mut shape = Dims::from_elem(1, rank);
        shape[axis] = self.size();
        self.reshape(&shape)
    }

    /// Splits the array along an axis into arrays without that axis. The inverse of
    /// [`stack`](crate::stack()).
    ///
    /// # Panics
    /// Panics if the axis is out of range.
    #[track_caller]
    pub fn unstack(&self, axis: isize) -> Vec<Array> {
        let at = self.axis("unstack", axis);
        if self.shape()[at] == 0 {
            return Vec::new();
        }
        let parts = self.split(self.shape()[at], axis);
        parts.iter().map(|p| p.squeeze(&[at as isize])).collect()
    }

    /// Rolls the elements by `shift` positions along an axis. Elements shifted past the end
    /// reappear at the start (`jnp.roll`). With `None` instead of an axis, all elements are rolled
    /// in row-major order, and the shape is kept.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// assert_eq!(Array::arange(4).roll(1, 0).to_vec::<i32>(), [3, 0, 1, 2]);
    /// ```
    ///
    /// # Panics
    /// Panics if the axis is out of range.
    #[track_caller]
    pub fn roll(&self, shift: isize, axis: impl Into<Option<isize>>) -> Array {
        let Some(axis) = axis.into() else {
            return self.ravel().roll(shift, 0).reshape(self.shape());
        };
        let at = self.axis("roll", axis);
        let size = self.shape()[at];
        if size == 0 {
            return self.clone();
        }
        let wrapped = shift.rem_euclid(size as isize) as usize;
        if wrapped == 0 {
            return self.clone();
        }
        let (front, back) = (
            self.slice_axis(at, size - wrapped, size),
            self.slice_axis(at, 0, size - wrapped),
        );
        concatenate(&[front, back], at as isize)
    }

    /// Repeats each element `repeats` times along an axis, or element `i` `repeats[i]` times
    /// (`jnp.repeat`). With `None` instead of an axis, the array is flattened first. Use
    /// [`repeat_sized`](Array::repeat_sized) if the counts are an array.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// assert_eq!(Array::arange(2).repeat(2, 0).to_vec::<i32>(), [0, 0, 1, 1]);
    /// assert_eq!(Array::arange(2).repeat([1, 3], 0).to_vec::<i32>(), [0, 1, 1, 1]);
    /// ```
    ///
    /// # Panics
    /// Panics if the axis is out of range, or if its size differs from the number of counts.
    #[track_caller]
    pub fn repeat(&self, repeats: impl Into<OneOrMany>, axis: impl Into<Option<isize>>) -> Array {
        let (x, axis) = self.flattened_without(axis.into());
        let at = x.axis("repeat", axis);
        let repeats = match repeats.into() {
            OneOrMany::One(repeats) => repeats,
            OneOrMany::Many(counts) => return x.repeat_each(&counts, at),
        };
        let mut shape: Dims = x.shape().into();
        shape.insert(at + 1, repeats);
        let kept: Dims = (0..shape.len()).filter(|&d| d != at + 1).collect();
        let repeated = x.broadcast_in_dim(&shape, &kept);
        shape.remove(at + 1);
        shape[at] = shape[at].saturating_mul(repeats);
        repeated.reshape(&shape)
    }

    #[track_caller]
    fn repeat_each(&self, counts: &[usize], at: usize) -> Array {
        assert!(
            counts.len() == self.shape()[at],
            "repeat: got {} counts for axis {at} of {}\n  help: pass one count for each element \
             along the axis, or one for all",
            counts.len(),
            self.aval()
        );
        let size = counts.iter().fold(0usize, |sum, &n| sum.saturating_add(n));
        let each = (0i32..).zip(counts);
        let indices = each.flat_map(|(i, &n)| std::iter::repeat_n(i, n));
        let indices = super::listed("repeat", size, indices);
        self.take(&Array::from(indices), at as isize)
    }

    /// Repeats the whole array `repeats[i]` times along axis `i`. If there are fewer numbers than
    /// axes, they apply to the last axes (`jnp.tile`).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// assert_eq!(Array::arange(2).tile(&[2]).to_vec::<i32>(), [0, 1, 0, 1]);
    /// ```
    #[track_caller]
    pub fn tile(&self, repeats: &[usize]) -> Array {
        let x = at_least(self, repeats.len());
        let lead = x.ndim() - repeats.len();
        let (mut copies, mut shape, mut kept) = (Dims::new(), Dims::new(), Dims::new());
        for (d, &n) in x.shape().iter().enumerate() {
            let times = if d < lead { 1 } else { repeats[d - lead] };
            copies.push(times);
            kept.push(copies.len());
            copies.push(n);
            shape.push(times.saturating_mul(n));
        }
        x.broadcast_in_dim(&copies, &kept).reshape(&shape)
    }
}
