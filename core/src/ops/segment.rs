//! Reductions of segments: slices that carry the number of their segment.

use super::{Reduction, index_dtype};
use crate::prim::reduce::{highest, lowest};
use crate::{Array, At, DType, Dims, Scalar, where_};

/// How slices are gathered into segments; [`Array::segment_sum`] and its family
/// are the usual choices.
///
/// ```no_run
/// use ramie_core::{Array, Segments};
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
    /// `count` segments, numbered from 0. Slices of other numbers, negative ones
    /// too, are left out.
    pub fn new(count: usize) -> Segments {
        Segments {
            count,
            sorted: false,
            unique: false,
            bucket: None,
        }
    }

    /// Promises that the numbers are in increasing order.
    #[must_use]
    pub fn sorted(self) -> Segments {
        Segments {
            sorted: true,
            ..self
        }
    }

    /// Promises that no number occurs twice.
    #[must_use]
    pub fn unique(self) -> Segments {
        Segments {
            unique: true,
            ..self
        }
    }

    /// Slices are combined in groups of `size` first, and these together, which
    /// rounds less where there are many.
    #[must_use]
    pub fn bucket_size(self, size: usize) -> Segments {
        Segments {
            bucket: Some(size),
            ..self
        }
    }

    /// The sum of the slices of each segment; 0 of none.
    ///
    /// # Panics
    /// If `ids` are not integers, one for each slice along the first axis.
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

    /// The product of the slices of each segment; 1 of none.
    ///
    /// # Panics
    /// If `ids` are not integers, one for each slice along the first axis.
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

    /// The largest element of the slices of each segment; of none the smallest
    /// of the type.
    ///
    /// # Panics
    /// If `ids` are not integers, one for each slice along the first axis.
    #[track_caller]
    pub fn max(&self, data: &Array, ids: &Array) -> Array {
        let start = lowest(data.dtype());
        let max: Combine = |at, x| at.max(x);
        self.combine("segment_max", data, ids, start, max, Reduction::largest)
    }

    /// The smallest element of the slices of each segment; of none the largest
    /// of the type.
    ///
    /// # Panics
    /// If `ids` are not integers, one for each slice along the first axis.
    #[track_caller]
    pub fn min(&self, data: &Array, ids: &Array) -> Array {
        let start = highest(data.dtype());
        let min: Combine = |at, x| at.min(x);
        self.combine("segment_min", data, ids, start, min, Reduction::smallest)
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
            "{operation}: the numbers of segments {} are not an integer for each slice of {}\n  help: \
             give a 1-d array as long as the first axis of the data",
            ids.aval(),
            data.aval()
        );
        // Negative numbers would count from the end.
        let ids = match ids.dtype().is_unsigned() {
            true => ids.clone(),
            false => where_(&ids.lt(0), self.count as i64, ids.counting_to(self.count)),
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
        reduce(
            &Reduction::over(&[0]).initial(start_of(start, data)),
            &buckets,
        )
        .astype(data.dtype())
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
            /// `ids` names the segment of each slice along the first axis, from 0
            /// to `count - 1`; other numbers are left out. [`Segments`] has more
            /// choices.
            ///
            /// # Panics
            /// If `ids` are not integers, one for each slice.
            #[track_caller]
            pub fn $f(&self, ids: &Array, count: usize) -> Array {
                Segments::new(count).$rule(self, ids)
            }
        )* }
    };
}

segments! {
    /// The sums of slices by segment (`jax.ops.segment_sum`).
    segment_sum sum;
    /// The products of slices by segment.
    segment_prod prod;
    /// The largest elements of slices by segment; of none the smallest of the
    /// type.
    segment_max max;
    /// The smallest elements of slices by segment; of none the largest of the
    /// type.
    segment_min min;
}
