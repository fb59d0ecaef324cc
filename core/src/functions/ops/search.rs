//! Searches: indices of nonzero elements, counts, and positions in sorted arrays.

use super::Descending;
use crate::dtypes::Scalar;
use crate::lax::GatherScatterMode;
use crate::prim::elementwise::parts;
use crate::prim::operands::promote;
use crate::{Array, DType, IntoArray, stack, where_};

/// The side of equal elements at which [`Array::searchsorted`] inserts a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Before equal elements.
    Left,
    /// After equal elements.
    Right,
}

impl Array {
    /// Returns the indices of nonzero (or true) elements in row-major order, as one `i32` array
    /// per axis.
    ///
    /// The size of the result depends on the values, which are unknown in a traced program. Use
    /// [`nonzero_sized`](Array::nonzero_sized) there.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let indices = Array::from([[0, 5], [7, 0]]).nonzero();
    /// assert_eq!(indices[0].to_vec::<i32>(), [0, 1]);
    /// assert_eq!(indices[1].to_vec::<i32>(), [1, 0]);
    /// ```
    ///
    /// # Panics
    /// Panics if the array is 0-d or traced.
    #[track_caller]
    pub fn nonzero(&self) -> Vec<Array> {
        let size = self.known_count("nonzero");
        self.nonzero_sized(size, 0)
    }

    /// Counts the nonzero elements and returns the number to the host.
    #[track_caller]
    pub(crate) fn known_count(&self, operation: &str) -> usize {
        assert!(
            !self.is_tracer(),
            "{operation}: the size of the result depends on the values of {}, which are unknown \
             at trace time\n  help: use `{operation}_sized` with a fixed size",
            self.describe()
        );
        self.count_nonzero().item::<i32>() as usize
    }

    /// Returns the first `size` indices of [`nonzero`](Array::nonzero). If there are fewer, the
    /// rest is filled with `fill` (0 for an array without elements).
    ///
    /// # Panics
    /// Panics if the array is 0-d.
    #[track_caller]
    pub fn nonzero_sized(&self, size: usize, fill: impl Into<Scalar>) -> Vec<Array> {
        assert!(
            self.ndim() > 0,
            "nonzero: {} has no axes\n  help: use x.ravel()",
            self.aval()
        );
        self.expect_i32_count("nonzero", self.size());
        let mask = self.astype(DType::Bool).ravel();
        if mask.size() == 0 || size == 0 {
            return vec![Array::zeros(&[size], DType::I32); self.ndim()];
        }
        // Element k of the counts is the number of elements between hit k and hit k + 1; the
        // running sum of the counts is the position of each hit.
        let hits = mask.astype(DType::I32).cumsum(0);
        let flat = hits.bincount_sized(size).cumsum(0);
        let missing = Array::arange(size).ge(mask.count_nonzero());
        let fill = Array::scalar(fill, DType::I32);
        let mut stride = mask.size();
        self.shape()
            .iter()
            .map(|&n| {
                stride /= n;
                let index = flat.floor_divide(stride as i64).remainder(n as i64);
                where_(&missing, &fill, index)
            })
            .collect()
    }

    /// Returns the flat row-major indices of nonzero (or true) elements.
    ///
    /// # Panics
    /// Panics if the array is traced.
    #[track_caller]
    pub fn flatnonzero(&self) -> Array {
        let size = self.known_count("flatnonzero");
        self.flatnonzero_sized(size, 0)
    }

    /// Returns the first `size` indices of [`flatnonzero`](Array::flatnonzero). If there are
    /// fewer, the rest is filled with `fill`.
    #[track_caller]
    pub fn flatnonzero_sized(&self, size: usize, fill: impl Into<Scalar>) -> Array {
        let mut indices = self.ravel().nonzero_sized(size, fill);
        indices.pop().expect("indices along the only axis")
    }

    /// Returns the indices of nonzero (or true) elements as rows of a matrix with one column per
    /// axis.
    ///
    /// # Panics
    /// Panics if the array is traced.
    #[track_caller]
    pub fn argwhere(&self) -> Array {
        let size = self.known_count("argwhere");
        self.argwhere_sized(size, 0)
    }

    /// Returns the first `size` rows of [`argwhere`](Array::argwhere). If there are fewer, the
    /// rest is filled with `fill`.
    #[track_caller]
    pub fn argwhere_sized(&self, size: usize, fill: impl Into<Scalar>) -> Array {
        if self.ndim() == 0 {
            return Array::zeros(&[size, 0], DType::I32);
        }
        stack(&self.nonzero_sized(size, fill), 1)
    }

    /// Returns the elements, in row-major order, where `condition` is true (`jnp.extract`).
    ///
    /// # Panics
    /// Panics if the condition is traced, or if it is true beyond the last element.
    #[track_caller]
    pub fn extract(&self, condition: &Array) -> Array {
        self.ravel().compress(&condition.ravel(), 0)
    }

    /// Returns the first `size` elements of [`extract`](Array::extract). If there are fewer, the
    /// rest is filled with `fill`.
    ///
    /// # Panics
    /// Panics if `size` exceeds the number of elements of the array or of the condition.
    #[track_caller]
    pub fn extract_sized(&self, condition: &Array, size: usize, fill: impl Into<Scalar>) -> Array {
        self.ravel()
            .compress_sized(&condition.ravel(), 0, size, fill)
    }

    /// Returns the elements along an axis where the 1-d `condition` is true. The condition may be
    /// shorter than the axis.
    ///
    /// # Panics
    /// Panics if the condition is traced or not 1-d, or if it is true beyond the end of the axis.
    #[track_caller]
    pub fn compress(&self, condition: &Array, axis: isize) -> Array {
        condition.require_vector("compress");
        let at = self.axis("compress", axis);
        let indices = condition.flatnonzero();
        let past = indices.ge(self.shape()[at] as i64).any().item::<bool>();
        assert!(
            !past,
            "compress: the condition is true beyond the end of axis {axis} of {}\n  help: pass a \
             condition that is not longer than the axis",
            self.aval()
        );
        self.take(&indices, axis)
    }

    /// Returns the first `size` elements of [`compress`](Array::compress). If there are fewer,
    /// the rest is filled with `fill`. True elements beyond the end of the axis are ignored.
    ///
    /// # Panics
    /// Panics if the condition is not 1-d, or if `size` exceeds the size of the axis or of the
    /// condition.
    #[track_caller]
    pub fn compress_sized(
        &self,
        condition: &Array,
        axis: isize,
        size: usize,
        fill: impl Into<Scalar>,
    ) -> Array {
        condition.require_vector("compress");
        let at = self.axis("compress", axis);
        let n = self.shape()[at].min(condition.size());
        assert!(
            size <= n,
            "compress: the size {size} exceeds axis {axis} of {} or the condition {}\n  help: \
             pass a size of at most {n}, or extend the condition with false elements",
            self.aval(),
            condition.aval()
        );
        condition.expect_i32_positions("compress", 0);
        let condition = condition.astype(DType::Bool).slice_axis(0, 0, n);
        let x = self.slice_axis(at, 0, n);
        let mask = condition.laid_along(at, x.ndim());
        let kept = where_(&mask, &x, Array::scalar(fill, x.dtype()));
        let order = condition.argsort_with(0, Descending).slice_axis(0, 0, size);
        kept.take(&order, axis)
    }

    #[track_caller]
    pub(crate) fn require_vector(&self, operation: &str) {
        assert!(
            self.ndim() == 1,
            "{operation}: {} is not 1-d\n  help: flatten it with x.ravel()",
            self.aval()
        );
    }

    /// Counts the occurrences of each number from 0 to the largest element, in `i32`. Negative
    /// numbers count as 0.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// assert_eq!(Array::from([1, 3, 1]).bincount().to_vec::<i32>(), [0, 2, 0, 1]);
    /// ```
    ///
    /// # Panics
    /// Panics if the array is traced, is not 1-d, or does not contain integers.
    #[track_caller]
    pub fn bincount(&self) -> Array {
        assert!(
            !self.is_tracer(),
            "bincount: the number of bins depends on the values of {}, which are unknown at \
             trace time\n  help: use `bincount_sized` with a fixed number",
            self.describe()
        );
        parts::require_real("bincount", &[self]);
        let length = match self.size() {
            0 => 0,
            _ => {
                let largest = self.max().maximum(0).astype(DType::U64).item::<u64>();
                usize::try_from(largest).map_or(usize::MAX, |n| n.saturating_add(1))
            }
        };
        self.bincount_sized(length)
    }

    /// Counts the occurrences of each number from 0 to `length - 1`, in `i32`. Larger numbers are
    /// ignored; negative numbers count as 0.
    ///
    /// # Panics
    /// Panics if the array is not 1-d, if it does not contain integers, or if its number of
    /// elements does not fit in `i32`.
    #[track_caller]
    pub fn bincount_sized(&self, length: usize) -> Array {
        self.expect_i32_count("bincount", self.size());
        self.bincount_with(length, &Array::scalar(1, DType::I32))
    }

    /// Same as [`bincount_sized`](Array::bincount_sized), but each number counts with its weight
    /// instead of 1.
    ///
    /// # Panics
    /// Panics in the same cases as `bincount_sized`, if the weights have a different shape, or if
    /// the array is complex.
    #[track_caller]
    pub fn bincount_with(&self, length: usize, weights: &Array) -> Array {
        self.require_vector("bincount");
        parts::require_real("bincount", &[self]);
        assert!(
            !self.dtype().is_float(),
            "bincount: expects integers, got {}\n  help: convert it: x.astype(DType::I32)",
            self.aval()
        );
        assert!(
            weights.ndim() == 0 || weights.shape() == self.shape(),
            "bincount: the weights {} must be one for each number of {}\n  help: pass weights of \
             the same shape",
            weights.aval(),
            self.aval()
        );
        let numbers = match self.dtype() {
            DType::Bool => self.astype(DType::I32),
            _ => self.maximum(0),
        };
        let bins = Array::zeros(&[length], weights.dtype());
        bins.at(numbers)
            .mode(GatherScatterMode::FillOrDrop)
            .add(weights)
    }

    /// Returns the index (`i32`) at which each of `values` can be inserted into this sorted 1-d
    /// array to keep it sorted, before or after equal elements. NaN is larger than every number.
    /// Complex numbers are ordered as in [`sort`](Array::sort).
    ///
    /// ```no_run
    /// use ramie_core::numpy::Side;
    /// use ramie_core::Array;
    /// let x = Array::from([1, 2, 2, 3]);
    /// assert_eq!(x.searchsorted(2, Side::Left).item::<i32>(), 1);
    /// assert_eq!(x.searchsorted(2, Side::Right).item::<i32>(), 3);
    /// ```
    ///
    /// # Panics
    /// Panics if the array is not 1-d.
    #[track_caller]
    pub fn searchsorted(&self, values: impl IntoArray, side: Side) -> Array {
        self.require_vector("searchsorted");
        let values = values.into_array();
        let shape = values.shape();
        let (sorted, values) = promote("searchsorted", self, &values.ravel());
        let values = values.stop_gradient();
        let n = sorted.size();
        sorted.expect_i32_count("searchsorted", n);
        let mut low = Array::zeros(values.shape(), DType::I32);
        let mut high = low.full_like(n);
        // Bisection: each step halves the remaining n + 1 positions.
        let steps = usize::BITS - n.leading_zeros();
        for _ in 0..steps {
            let middle = &low + (&high - &low).right_shift(1);
            let element =
                sorted
                    .stop_gradient()
                    .take_with(&middle, 0, GatherScatterMode::PromiseInBounds);
            let left = goes_left(&values, &element, side);
            (low, high) = (where_(&left, &low, &middle), where_(&left, &middle, &high));
        }
        high.reshape(shape)
    }

    /// Returns the index of the bin that contains each number. The edges `bins` are sorted in
    /// either direction; bin `i` starts with `bins[i - 1]` and ends before `bins[i]`.
    ///
    /// # Panics
    /// Panics if `bins` is not 1-d.
    #[track_caller]
    pub fn digitize(&self, bins: &Array) -> Array {
        self.digitize_with(bins, Side::Left)
    }

    /// Same as [`digitize`](Array::digitize), but bins include the given edge: the left one by
    /// default, or the right one (`right=True` in JAX).
    ///
    /// # Panics
    /// Panics if `bins` is not 1-d.
    #[track_caller]
    pub fn digitize_with(&self, bins: &Array, edge: Side) -> Array {
        let side = match edge {
            Side::Left => Side::Right,
            Side::Right => Side::Left,
        };
        bins.require_vector("digitize");
        let n = bins.size();
        if n == 0 {
            return Array::zeros(self.shape(), DType::I32);
        }
        let increasing = bins.index(-1).ge(bins.index(0));
        let up = bins.searchsorted(self, side);
        let down = n as i64 - bins.flip(&[0]).searchsorted(self, side);
        where_(&increasing, up, down)
    }
}

/// Returns whether each value belongs before the element in sort order.
#[track_caller]
fn goes_left(values: &Array, elements: &Array, side: Side) -> Array {
    if values.dtype().is_complex() {
        let (v, e) = (values.real(), elements.real());
        let (smaller, not_larger) = (
            goes_left(&v, &e, Side::Right),
            goes_left(&v, &e, Side::Left),
        );
        let tied = goes_left(&values.imag(), &elements.imag(), side);
        return smaller.bitwise_or(not_larger.bitwise_and(tied));
    }
    if !values.dtype().is_float() {
        return match side {
            Side::Left => values.le(elements),
            Side::Right => values.lt(elements),
        };
    }
    match side {
        Side::Left => values.le(elements).bitwise_or(elements.is_nan()),
        Side::Right => {
            let nan = elements.is_nan().bitwise_and(values.is_nan().bitwise_not());
            values.lt(elements).bitwise_or(nan)
        }
    }
}
