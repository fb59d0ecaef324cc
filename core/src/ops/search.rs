//! Where elements are: places of what is true, of numbers among sorted ones.

use super::promote;
use crate::{Array, DType, GatherScatterMode, IntoArray, Scalar, stack, where_};

/// The side of equal elements that [`Array::searchsorted`] puts a number on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Before them.
    Left,
    /// After them.
    Right,
}

impl Array {
    /// The places where elements are true or not zero, in row-major order: an
    /// array (`i32`) for each axis.
    ///
    /// The number of places is a value, which a traced program does not know:
    /// there use [`nonzero_sized`](Array::nonzero_sized).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let places = Array::from([[0, 5], [7, 0]]).nonzero();
    /// assert_eq!(places[0].to_vec::<i32>(), [0, 1]);
    /// assert_eq!(places[1].to_vec::<i32>(), [1, 0]);
    /// ```
    ///
    /// # Panics
    /// If the array is 0-d or traced.
    #[track_caller]
    pub fn nonzero(&self) -> Vec<Array> {
        let size = self.known_count("nonzero");
        self.nonzero_sized(size, 0)
    }

    /// How many elements are not zero, as a number.
    #[track_caller]
    pub(crate) fn known_count(&self, operation: &str) -> usize {
        assert!(
            !self.is_tracer(),
            "{operation}: the size of the result depends on values of {}, which a traced program \
             does not know\n  help: give the size: `{operation}_sized`",
            self.describe()
        );
        self.count_nonzero().item::<i32>() as usize
    }

    /// The first `size` places that [`nonzero`](Array::nonzero) gives; if there
    /// are fewer, `fill` stands for the others (0 for an array without
    /// elements).
    ///
    /// # Panics
    /// If the array is 0-d.
    #[track_caller]
    pub fn nonzero_sized(&self, size: usize, fill: impl Into<Scalar>) -> Vec<Array> {
        assert!(
            self.ndim() > 0,
            "nonzero: {} has no axes to give places along\n  help: use x.ravel()",
            self.aval()
        );
        self.expect_i32_count("nonzero", self.size());
        let mask = self.astype(DType::Bool).ravel();
        if mask.size() == 0 || size == 0 {
            return vec![Array::zeros(&[size], DType::I32); self.ndim()];
        }
        // Element k of the counts is how many elements follow hit k until hit
        // k + 1; their running sum is where hit k + 1 is.
        let hits = mask.astype(DType::I32).cumsum(0);
        let flat = hits.bincount_sized(size).cumsum(0);
        let missing = Array::arange(size).ge(mask.count_nonzero());
        let fill = Array::scalar(fill, DType::I32);
        let mut stride = mask.size();
        self.shape()
            .iter()
            .map(|&n| {
                stride /= n;
                let place = flat.floor_divide(stride as i64).remainder(n as i64);
                where_(&missing, &fill, place)
            })
            .collect()
    }

    /// The places in row-major order where elements are true or not zero.
    ///
    /// # Panics
    /// If the array is traced.
    #[track_caller]
    pub fn flatnonzero(&self) -> Array {
        let size = self.known_count("flatnonzero");
        self.flatnonzero_sized(size, 0)
    }

    /// The first `size` places that [`flatnonzero`](Array::flatnonzero) gives;
    /// if there are fewer, `fill` stands for the others.
    #[track_caller]
    pub fn flatnonzero_sized(&self, size: usize, fill: impl Into<Scalar>) -> Array {
        let mut places = self.ravel().nonzero_sized(size, fill);
        places.pop().expect("places along the only axis")
    }

    /// The places where elements are true or not zero, as rows of a matrix with
    /// a column for each axis.
    ///
    /// # Panics
    /// If the array is traced.
    #[track_caller]
    pub fn argwhere(&self) -> Array {
        let size = self.known_count("argwhere");
        self.argwhere_sized(size, 0)
    }

    /// The first `size` rows that [`argwhere`](Array::argwhere) gives; if there
    /// are fewer, `fill` stands for the others.
    #[track_caller]
    pub fn argwhere_sized(&self, size: usize, fill: impl Into<Scalar>) -> Array {
        if self.ndim() == 0 {
            return Array::zeros(&[size, 0], DType::I32);
        }
        stack(&self.nonzero_sized(size, fill), 1)
    }

    /// The elements, in row-major order, where `condition`, which has as many,
    /// is true (`jnp.extract`).
    ///
    /// # Panics
    /// If the condition is traced, or has an element that is true past the end.
    #[track_caller]
    pub fn extract(&self, condition: &Array) -> Array {
        self.ravel().compress(&condition.ravel(), 0)
    }

    /// The first `size` elements that [`extract`](Array::extract) gives; if
    /// there are fewer, `fill` stands for the others.
    #[track_caller]
    pub fn extract_sized(&self, condition: &Array, size: usize, fill: impl Into<Scalar>) -> Array {
        self.ravel()
            .compress_sized(&condition.ravel(), 0, size, fill)
    }

    /// The elements along an axis at the places where the 1-d `condition` is
    /// true; it may be shorter than the axis.
    ///
    /// # Panics
    /// If the condition is traced, has another number of axes than one, or is
    /// true past the end of the axis.
    #[track_caller]
    pub fn compress(&self, condition: &Array, axis: isize) -> Array {
        condition.require_vector("compress");
        let at = self.axis("compress", axis);
        let places = condition.flatnonzero();
        let past = places.ge(self.shape()[at] as i64).any().item::<bool>();
        assert!(
            !past,
            "compress: the condition is true past the end of axis {axis} of {}\n  help: give a \
             condition no longer than the axis",
            self.aval()
        );
        self.take(&places, axis)
    }

    /// The first `size` elements that [`compress`](Array::compress) gives; if
    /// there are fewer, `fill` stands for the others. What is true past the end
    /// of the axis counts for nothing.
    ///
    /// # Panics
    /// If the condition has another number of axes than one, or `size` is more
    /// than the axis has.
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
            size <= self.shape()[at],
            "compress: {size} elements are more than axis {axis} of {} has\n  help: give a size up \
             to {}",
            self.aval(),
            self.shape()[at]
        );
        condition.expect_i32_positions("compress", 0);
        let condition = condition.astype(DType::Bool).slice_axis(0, 0, n);
        let x = self.slice_axis(at, 0, n);
        let mask = condition.laid_along(at, x.ndim());
        let kept = where_(&mask, &x, Array::scalar(fill, x.dtype()));
        let order = condition
            .argsort_descending(0)
            .slice_axis(0, 0, size.min(n));
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

    /// How often each number from 0 to the largest one occurs, in `i32`;
    /// negative numbers count as 0.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// assert_eq!(Array::from([1, 3, 1]).bincount().to_vec::<i32>(), [0, 2, 0, 1]);
    /// ```
    ///
    /// # Panics
    /// If the array is traced, is not 1-d, or holds no integers.
    #[track_caller]
    pub fn bincount(&self) -> Array {
        assert!(
            !self.is_tracer(),
            "bincount: the number of bins is a value of {}, which a traced program does not know\n  \
             help: give the number: `bincount_sized`",
            self.describe()
        );
        super::require_real("bincount", &[self]);
        let length = match self.size() {
            0 => 0,
            _ => {
                let largest = self.max().maximum(0).astype(DType::U64).item::<u64>();
                usize::try_from(largest).map_or(usize::MAX, |n| n.saturating_add(1))
            }
        };
        self.bincount_sized(length)
    }

    /// How often each number from 0 to `length - 1` occurs, in `i32`; larger
    /// numbers are left out, negative ones count as 0.
    ///
    /// # Panics
    /// If the array is not 1-d, holds no integers, or has more elements than `i32`
    /// counts.
    #[track_caller]
    pub fn bincount_sized(&self, length: usize) -> Array {
        self.expect_i32_count("bincount", self.size());
        self.bincount_weighted(&Array::scalar(1, DType::I32), length)
    }

    /// [`bincount_sized`](Array::bincount_sized) with a weight for each number
    /// instead of 1.
    ///
    /// # Panics
    /// Also if the weights have another shape, or the array is complex.
    #[track_caller]
    pub fn bincount_weighted(&self, weights: &Array, length: usize) -> Array {
        self.require_vector("bincount");
        super::require_real("bincount", &[self]);
        assert!(
            !self.dtype().is_float(),
            "bincount: {} holds no integers\n  help: convert it: x.astype(DType::I32)",
            self.aval()
        );
        assert!(
            weights.ndim() == 0 || weights.shape() == self.shape(),
            "bincount: weights {} are not one for each number of {}\n  help: give them in the same \
             shape",
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

    /// The place (`i32`) in this sorted 1-d array at which each of `values`
    /// would keep it sorted, before or after equal elements. NaN is larger than
    /// every number; complex numbers are ordered as [`sort`](Array::sort) orders
    /// them.
    ///
    /// ```no_run
    /// use ramie_core::{Array, Side};
    /// let x = Array::from([1, 2, 2, 3]);
    /// assert_eq!(x.searchsorted(2, Side::Left).item::<i32>(), 1);
    /// assert_eq!(x.searchsorted(2, Side::Right).item::<i32>(), 3);
    /// ```
    ///
    /// # Panics
    /// If the array is not 1-d.
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
        // Bisection; each step halves what is left of n + 1 places.
        let steps = usize::BITS - n.leading_zeros();
        for _ in 0..steps {
            let middle = &low + (&high - &low).right_shift(1);
            let element = sorted.stop_gradient().take_with_mode(
                &middle,
                0,
                GatherScatterMode::PromiseInBounds,
            );
            let left = goes_left(&values, &element, side);
            (low, high) = (where_(&left, &low, &middle), where_(&left, &middle, &high));
        }
        high.reshape(shape)
    }

    /// Which of the bins between the elements of `bins`, sorted either way, each
    /// number lies in: bin `i` starts with `bins[i - 1]` and ends before
    /// `bins[i]`.
    ///
    /// # Panics
    /// If `bins` is not 1-d.
    #[track_caller]
    pub fn digitize(&self, bins: &Array) -> Array {
        self.digitize_on(bins, Side::Right)
    }

    /// [`digitize`](Array::digitize) with bins that include their right end
    /// instead of their left one.
    ///
    /// # Panics
    /// If `bins` is not 1-d.
    #[track_caller]
    pub fn digitize_right(&self, bins: &Array) -> Array {
        self.digitize_on(bins, Side::Left)
    }

    #[track_caller]
    fn digitize_on(&self, bins: &Array, side: Side) -> Array {
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

/// Whether numbers belong before elements, in the order that sorting has.
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
