//! Picking along one axis: `take`, `repeat_each`, `take_along_axis`,
//! `put_along_axis`.

use super::plan::{Negative, Plan};
use super::resolve::{Entry, Pick};
use crate::ops::index_dtype;
use crate::prim::index::{
    Gather, GatherDimensionNumbers, GatherScatterMode, Scatter, ScatterMethod, signed_indices,
    wrap_negative,
};
use crate::{Array, Dims, IntoArray};

impl Array {
    /// The elements along an axis at the places that `indices` holds; the axis
    /// is replaced by the axes of `indices` (`jnp.take`). Negative places count
    /// from the end. Out of bounds it reads NaN, the smallest signed or largest
    /// unsigned integer, or true.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([10, 20, 30]);
    /// assert_eq!(x.take(&Array::from([2, 0]), 0).to_vec::<i32>(), [30, 10]);
    /// ```
    ///
    /// # Panics
    /// If the axis is out of range or empty, or `indices` are not integers.
    #[track_caller]
    pub fn take(&self, indices: &Array, axis: isize) -> Array {
        self.take_with_mode(indices, axis, GatherScatterMode::FillOrDrop)
    }

    /// [`take`](Array::take) with another treatment of indices out of bounds
    /// (`jnp.take(…, mode=…)`). `Clip` replaces a negative index by 0, as JAX
    /// does; the other modes count it from the end.
    ///
    /// ```no_run
    /// use ramie_core::{Array, prim::index::GatherScatterMode};
    /// let x = Array::from([10, 20, 30]);
    /// let clipped = x.take_with_mode(&Array::from([-1, 9]), 0, GatherScatterMode::Clip);
    /// assert_eq!(clipped.to_vec::<i32>(), [10, 30]);
    /// ```
    ///
    /// # Panics
    /// As [`take`](Array::take), or if the axis is empty and `indices` are not.
    #[track_caller]
    pub fn take_with_mode(&self, indices: &Array, axis: isize, mode: GatherScatterMode) -> Array {
        let axis = self.axis("take", axis);
        integers("take", indices);
        assert!(
            self.shape()[axis] > 0 || indices.size() == 0,
            "take: axis {axis} of {} is empty, the indices are {}\n  help: no index is in bounds of \
             an empty axis; check the size before the call",
            self.aval(),
            indices.aval()
        );
        let entries: Vec<Entry> = self
            .shape()
            .iter()
            .enumerate()
            .map(|(d, &len)| {
                let whole = Pick::Range {
                    start: 0,
                    len,
                    step: 1,
                };
                let pick = if d == axis {
                    Pick::Places(indices.clone())
                } else {
                    whole
                };
                Entry::Axis(d, pick)
            })
            .collect();
        let negative = match mode {
            GatherScatterMode::Clip => Negative::OutOfBounds,
            _ => Negative::FromEnd,
        };
        let plan = Plan::new(self, &entries, negative);
        let gather = Gather::new(plan.numbers, &plan.slice_sizes).mode(mode);
        self.gather(&plan.indices, gather)
    }

    /// Element `i` along an axis `counts[i]` times in a row (`jnp.repeat` with
    /// an array of counts).
    ///
    /// # Panics
    /// If the axis is out of range, or its size is not that of `counts`.
    #[track_caller]
    pub fn repeat_each(&self, counts: &[usize], axis: isize) -> Array {
        let at = self.axis("repeat_each", axis);
        assert!(
            counts.len() == self.shape()[at],
            "repeat_each: {} counts were given for axis {at} of {}\n  help: give one count for each \
             element along the axis",
            counts.len(),
            self.aval()
        );
        let size = counts.iter().fold(0usize, |sum, &n| sum.saturating_add(n));
        let each = (0i32..).zip(counts);
        let places = each.flat_map(|(i, &n)| std::iter::repeat_n(i, n));
        let places = crate::ops::listed("repeat_each", size, places);
        self.take(&Array::from(places), at as isize)
    }

    /// For each place of `indices`, the element of the array at the same place
    /// but for `axis`, where it is at the number that `indices` holds
    /// (`jnp.take_along_axis`). Other axes are broadcast together. Negative
    /// numbers count from the end; out of bounds it reads as
    /// [`take`](Array::take).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([[1, 2], [3, 4]]);
    /// let picked = x.take_along_axis(&Array::from([[1], [0]]), 1);
    /// assert_eq!(picked.to_vec::<i32>(), [2, 3]);
    /// ```
    ///
    /// # Panics
    /// If the axis is out of range, `indices` are not integers or have another
    /// number of axes, or other axes do not broadcast together.
    #[track_caller]
    pub fn take_along_axis(&self, indices: &Array, axis: isize) -> Array {
        let pair = Paired::new("take_along_axis", self, indices, axis);
        let numbers = pair.numbers();
        let sizes = Dims::from_elem(1, self.ndim());
        let gather = Gather::new(numbers, &sizes).mode(GatherScatterMode::FillOrDrop);
        pair.array.gather(&pair.vectors, gather)
    }

    /// The array with `values` written where
    /// [`take_along_axis`](Array::take_along_axis) would read; numbers out of
    /// bounds are dropped.
    ///
    /// # Panics
    /// As `take_along_axis`; if other axes of the array would have to be
    /// repeated; if `values` does not broadcast to the shape of `indices`, or
    /// is of a type that the array's does not take up.
    #[track_caller]
    pub fn put_along_axis(&self, indices: &Array, values: impl IntoArray, axis: isize) -> Array {
        let values = super::value_for("put_along_axis", self, values);
        let pair = Paired::new("put_along_axis", self, indices, axis);
        assert!(
            pair.array.shape() == self.shape(),
            "put_along_axis: indices {} name more places than {} has\n  help: only axes of the \
             indices may have size 1 and be repeated",
            indices.aval(),
            self.aval()
        );
        let scatter = Scatter::new(ScatterMethod::Set, pair.numbers().inverse());
        let shape = &pair.vectors.shape()[..self.ndim()];
        self.scatter(&pair.vectors, &values.broadcast_to(shape), scatter)
    }
}

#[track_caller]
fn integers(operation: &str, indices: &Array) {
    assert!(
        indices.dtype().is_integer(),
        "{operation}: indices are {}, expected integers\n  help: convert them: \
         i.astype(DType::I32)",
        indices.aval()
    );
}

/// An array and indices with all axes but one in common.
struct Paired {
    array: Array,
    /// One index vector of one component for each place of the indices.
    vectors: Array,
    axis: usize,
}

impl Paired {
    #[track_caller]
    fn new(operation: &str, array: &Array, indices: &Array, axis: isize) -> Paired {
        let axis = array.axis(operation, axis);
        integers(operation, indices);
        let mut ours: Dims = array.shape().into();
        let mut theirs: Dims = indices.shape().into();
        let (size, count) = (ours[axis], theirs.get(axis).copied().unwrap_or(1));
        ours[axis] = 1;
        if let Some(n) = theirs.get_mut(axis) {
            *n = 1;
        }
        let shared = crate::broadcast_shapes(&[&ours, &theirs]);
        let Some(mut shape) = shared.filter(|_| indices.ndim() == array.ndim()) else {
            panic!(
                "{operation}: indices {} do not pair with {} along axis {axis}\n  help: they have \
                 the same number of axes, and all but axis {axis} agree or are 1",
                indices.aval(),
                array.aval()
            );
        };
        shape[axis] = size;
        let array = array.broadcast_to(&shape);
        shape[axis] = count;
        let dtype = index_dtype(indices.dtype(), std::iter::once(size));
        let indices = signed_indices(indices, size, dtype);
        let vectors = wrap_negative(&indices, size).broadcast_to(&shape);
        Paired {
            array,
            vectors: vectors.expand_dims(&[-1]),
            axis,
        }
    }

    fn numbers(&self) -> GatherDimensionNumbers {
        let others: Dims = (0..self.array.ndim()).filter(|&d| d != self.axis).collect();
        GatherDimensionNumbers {
            collapsed_slice_dims: [self.axis].into_iter().collect(),
            start_index_map: [self.axis].into_iter().collect(),
            operand_batching_dims: others.clone(),
            start_indices_batching_dims: others,
            ..Default::default()
        }
    }
}
