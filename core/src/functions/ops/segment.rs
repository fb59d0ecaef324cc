//! Reductions by segment: slices with the same segment number are combined.

use super::Reduction;
use crate::dtypes::Scalar;
use crate::numpy::{At, TakeMode};
use crate::prim::index::positions::index_dtype;
use crate::prim::reduce::{highest, lowest};
use crate::typing::Dims;
use crate::{Array, DType, where_};

/// Options of segment reductions; [`Array::segment_sum`] and related functions cover the common
/// cases.
///
/// ```no_run
/// use ramie_core::options::Segments;
/// use ramie_core::Array;
/// let x = Array::from([1.0f32, 2.0, 4.0]);
/// let ids = Array::from([0, 0, 2]);
/// let sums = Segments::new(3).sorted().sum(&x, &ids);
/// assert_eq!(sums.to_vec::<f32>(), [3.0, 0.0, 4.0]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Segments {
    count: usize,
    sorted: bool,
    unique: bool,
    bucket: Option<usize>,
}

type Combine = fn(&At<'_>, &Array) -> Array;

impl Segments {
    /// Creates options for `count` segments, numbered from 0. Slices with other numbers,
    /// including negative numbers, are ignored.
    pub fn new(count: usize) -> Segments {
        Segments {
            count,
            sorted: false,
            unique: false,
            bucket: None,
        }
    }

    /// Promises that the segment numbers are sorted in increasing order.
    #[must_use]
    pub fn sorted(self) -> Segments {
        Segments {
            sorted: true,
            ..self
        }
    }

    /// Promises that no segment number occurs twice.
    #[must_use]
    pub fn unique(self) -> Segments {
        Segments {
            unique: true,
            ..self
        }
    }

    /// Combines slices in groups of `size` first, and then the groups. This reduces rounding
    /// errors for many slices.
    #[must_use]
    pub fn bucket_size(self, size: usize) -> Segments {
        Segments {
            bucket: Some(size),
            ..self
        }
    }

    /// Computes the sum of the slices of each segment, or 0 if there are none.
    ///
    /// # Panics
    /// Panics if `ids` are not integers, one for each slice along the first axis.
    #[track_caller]
    pub fn sum(&self, data: &Array, ids: &Array) -> Array {
        let add: Combine = |at, x| at.add(x);
        self.combine(
            "segment_sum",
            data,
            ids,
            Scalar::Int(0),
            add,
            Reduction::total,
        )
    }

    /// Computes the product of the slices of each segment, or 1 if there are none.
    ///
    /// # Panics
    /// Panics if `ids` are not integers, one for each slice along the first axis.
    #[track_caller]
    pub fn prod(&self, data: &Array, ids: &Array) -> Array {
        let multiply: Combine = |at, x| at.multiply(x);
        self.combine(
            "segment_prod",
            data,
            ids,
            Scalar::Int(1),
            multiply,
            Reduction::product,
        )
    }

    /// Computes the elementwise maximum of the slices of each segment, or the lowest value of the
    /// dtype if there are none.
    ///
    /// # Panics
    /// Panics if `ids` are not integers, one for each slice along the first axis.
    #[track_caller]
    pub fn max(&self, data: &Array, ids: &Array) -> Array {
        let start = lowest(data.dtype());
        let max: Combine = |at, x| at.max(x);
        self.combine("segment_max", data, ids, start, max, Reduction::largest)
    }

    /// Computes the elementwise minimum of the slices of each segment, or the highest value of
    /// the dtype if there are none.
    ///
    /// # Panics
    /// Panics if `ids` are not integers, one for each slice along the first axis.
    #[track_caller]
    pub fn min(&self, data: &Array, ids: &Array) -> Array {
        let start = highest(data.dtype());
        let min: Combine = |at, x| at.min(x);
        self.combine("segment_min", data, ids, start, min, Reduction::smallest)
    }

    /// Computes the softmax over the slices of each segment, elementwise
    /// (`jraph.segment_softmax`): the results of a segment sum to 1. Slices that are ignored give 0.
    ///
    /// # Panics
    /// Panics if `ids` are not integers, one for each slice along the first axis.
    #[track_caller]
    pub fn softmax(&self, data: &Array, ids: &Array) -> Array {
        let data = data.to_inexact();
        let largest = self.max(&data, ids).stop_gradient();
        let of_slice = |x: &Array| x.take_with(ids, 0, TakeMode::Clip);
        let mut shape = vec![1; data.ndim()];
        shape[0] = ids.size();
        let known = ids.ge(0).bitwise_and(ids.lt(self.count as i64));
        let known = known.reshape(&shape[..]);
        // Ignored slices would have the exponential of any number.
        let power = where_(&known, &data - of_slice(&largest), 0).exp();
        let total = of_slice(&self.sum(&power, ids));
        where_(&known, power / where_(&known, total, 1), 0)
    }

    #[track_caller]
    fn combine(
        &self,
        operation: &str,
        data: &Array,
        ids: &Array,
        start: Scalar,
        combine: Combine,
        reduce: fn(&Reduction, &Array) -> Array,
    ) -> Array {
        assert!(
            ids.dtype().is_integer() && data.ndim() > 0 && ids.shape() == &data.shape()[..1],
            "{operation}: the segment ids {} must be one integer for each slice of {}\n  help: \
             pass a 1-d array with the size of the data's first axis",
            ids.aval(),
            data.aval()
        );
        // Negative indices would count from the end.
        let ids = if ids.dtype().is_unsigned() {
            ids.clone()
        } else {
            where_(ids.lt(0), self.count as i64, ids.counting_to(self.count))
        };
        let mut shape: Dims = data.shape().into();
        shape[0] = self.count;
        let Some(size) = self.bucket else {
            let empty = Array::full(&shape, start, data.dtype());
            return combine(&self.promised(empty.at(&ids)), data);
        };
        let size = size.clamp(1, ids.size().max(1));
        shape.insert(0, ids.size().div_ceil(size));
        let empty = Array::full(&shape, start, data.dtype());
        let counting = index_dtype(DType::I32, ids.shape().iter().copied());
        let bucket = Array::iota(ids.shape(), 0, counting).floor_divide(size as i64);
        let buckets = combine(&self.promised(empty.at((&bucket, &ids))), data);
        reduce(&Reduction::over(0).initial(start_of(start, data)), &buckets).astype(data.dtype())
    }

    fn promised<'a>(&self, at: At<'a>) -> At<'a> {
        at.indices_are_sorted(self.sorted)
            .unique_indices(self.unique)
    }
}

fn start_of(start: Scalar, data: &Array) -> Array {
    Array::scalar(start, data.dtype())
}

macro_rules! segments {
    ($($(#[$doc:meta])* $f:ident $rule:ident;)*) => {
        impl Array { $(
            $(#[$doc])*
            ///
            /// `ids` contains the segment of each slice along the first axis, from 0 to
            /// `count - 1`. Slices with other numbers are ignored. Use [`Segments`] for other
            /// options.
            ///
            /// # Panics
            /// Panics if `ids` are not integers, one for each slice.
            #[track_caller]
            pub fn $f(&self, ids: &Array, count: usize) -> Array {
                Segments::new(count).$rule(self, ids)
            }
        )* }
    };
}

segments! {
    /// Computes the sum of the slices of each segment (`jax.ops.segment_sum`).
    segment_sum sum;
    /// Computes the product of the slices of each segment.
    segment_prod prod;
    /// Computes the elementwise maximum of the slices of each segment, or the lowest value of the
    /// dtype for an empty segment.
    segment_max max;
    /// Computes the elementwise minimum of the slices of each segment, or the highest value of
    /// the dtype for an empty segment.
    segment_min min;
    /// Computes the softmax over the slices of each segment (`jraph.segment_softmax`). Ignored
    /// slices give 0.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let scores = Array::from([1.0f32, 1.0, 5.0]);
    /// let weights = scores.segment_softmax(&Array::from([0, 0, 1]), 2);
    /// assert_eq!(weights.to_vec::<f32>(), [0.5, 0.5, 1.0]);
    /// ```
    segment_softmax softmax;
}
