//! Set operations: distinct elements, membership, unions and differences.

use super::{joined, lexsort};
use crate::dtypes::Scalar;
use crate::prim::operands::promote;
use crate::{Array, DType, IntoArray, concatenate, where_};

/// Options for finding distinct elements. [`Array::unique`] covers the common case.
///
/// ```no_run
/// use ramie_core::options::Unique;
/// use ramie_core::Array;
/// let x = Array::from([3, 1, 3]);
/// let distinct = Unique::new().size(3).fill_value(-1).of(&x);
/// assert_eq!(distinct.values.to_vec::<i32>(), [1, 3, -1]);
/// assert_eq!(distinct.counts.to_vec::<i32>(), [1, 2, 0]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Unique {
    axis: Option<isize>,
    size: Option<usize>,
    fill: Option<Scalar>,
    equal_nan: bool,
}

/// Distinct elements, or distinct slices along an axis, in increasing order.
#[derive(Clone, Debug)]
pub struct Distinct {
    /// The distinct elements.
    pub values: Array,
    /// Index of the first occurrence of each, `i32`.
    pub indices: Array,
    /// Index into `values` for each element of the array, `i32`.
    pub inverse: Array,
    /// Number of occurrences of each, `i32`.
    pub counts: Array,
}

impl Default for Unique {
    fn default() -> Unique {
        Unique::new()
    }
}

impl Unique {
    /// Creates options for the distinct elements of the whole array. All NaN are equal.
    pub fn new() -> Unique {
        Unique {
            axis: None,
            size: None,
            fill: None,
            equal_nan: true,
        }
    }

    /// Finds distinct slices along an axis.
    #[must_use]
    pub fn axis(self, axis: isize) -> Unique {
        Unique {
            axis: Some(axis),
            ..self
        }
    }

    /// Sets the number of values, which a traced program needs to know. Surplus values are
    /// dropped, missing values are filled. Without elements, `indices` and `counts` are empty.
    #[must_use]
    pub fn size(self, size: usize) -> Unique {
        Unique {
            size: Some(size),
            ..self
        }
    }

    /// Sets the value for missing values. Defaults to the smallest element.
    #[must_use]
    pub fn fill_value(self, value: impl Into<Scalar>) -> Unique {
        Unique {
            fill: Some(value.into()),
            ..self
        }
    }

    /// Treats each NaN as a distinct value.
    #[must_use]
    pub fn nan_distinct(self) -> Unique {
        Unique {
            equal_nan: false,
            ..self
        }
    }

    /// Finds the distinct elements of an array.
    ///
    /// # Panics
    /// Panics if the array is traced and no size is set, or if the axis is out of range.
    #[track_caller]
    pub fn of(&self, x: &Array) -> Distinct {
        assert!(
            self.size.is_some() || !x.is_tracer(),
            "unique: the number of distinct values of {} is unknown at trace time\n  help: set it \
             with Unique::new().size(n)",
            x.describe()
        );
        let (array, axis) = match self.axis {
            None => (x.ravel(), 0),
            Some(axis) => (x.clone(), x.axis("unique", axis)),
        };
        array.expect_i32_positions("unique", axis);
        let n = array.shape()[axis];
        let slices = array.move_axis(axis as isize, 0);
        let width = slices.size().checked_div(n).unwrap_or(0);
        let keys = slices.reshape(&[n, width]);
        // Slices without elements are all equal.
        let order = match width {
            0 => Array::arange(n.min(1)),
            _ => {
                let columns: Vec<Array> = keys.unstack(1).into_iter().rev().collect();
                lexsort(&columns, 0)
            }
        };
        let sorted = slices.take(&order, 0);
        let mask = self.first_of_equals(&keys.take(&order, 0));
        let count = match self.size {
            Some(size) => size,
            None => mask.known_count("unique"),
        };
        let indices = mask.flatnonzero_sized(count, 0);
        let taken = if sorted.shape()[0] == 0 {
            self.without_values(&sorted, count)
        } else {
            self.filled(&sorted.take(&indices, 0), &mask, count)
        };
        let inverse = match width {
            0 => Array::zeros(&[n], DType::I32),
            _ => {
                let which = mask.astype(DType::I32).cumsum(0) - 1;
                Array::zeros(&[n], DType::I32).at(&order).set(which)
            }
        };
        let inverse = match self.axis {
            None => inverse.reshape(x.shape()),
            Some(_) => inverse,
        };
        Distinct {
            values: taken.move_axis(0, axis as isize),
            indices: if n == 0 {
                order
            } else {
                order.take(&indices, 0)
            },
            inverse,
            counts: counts(&mask, count, n),
        }
    }

    /// Returns where sorted rows differ from the previous row.
    #[track_caller]
    fn first_of_equals(&self, rows: &Array) -> Array {
        let n = rows.shape()[0];
        if n == 0 {
            return Array::zeros(&[0], DType::Bool);
        }
        let (next, before) = (rows.slice_axis(0, 1, n), rows.slice_axis(0, 0, n - 1));
        let mut differ = next.ne(&before);
        if self.equal_nan && rows.dtype().is_inexact() {
            let both = next.is_nan().bitwise_and(before.is_nan());
            differ = differ.bitwise_and(both.bitwise_not());
        }
        let first = Array::ones(&[1], DType::Bool);
        concatenate(&[first, differ.any_over(1)], 0)
    }

    /// Fills missing values with the fill value.
    #[track_caller]
    fn filled(&self, values: &Array, mask: &Array, count: usize) -> Array {
        let Some(fill) = self.fill else {
            return values.clone();
        };
        let there = Array::arange(count).lt(mask.count_nonzero());
        where_(
            there.laid_along(0, values.ndim()),
            values,
            Array::scalar(fill, values.dtype()),
        )
    }

    /// Returns the values of an empty array.
    #[track_caller]
    fn without_values(&self, empty: &Array, count: usize) -> Array {
        assert!(
            count == 0 || self.fill.is_some(),
            "unique: {} has no elements to fill {count} values with\n  help: set a fill_value",
            empty.aval()
        );
        let mut shape: crate::typing::Dims = empty.shape().into();
        shape[0] = count;
        Array::full(&shape, self.fill.unwrap_or(Scalar::Int(0)), empty.dtype())
    }
}

/// Computes the number of occurrences of each distinct element among `n` elements.
#[track_caller]
fn counts(mask: &Array, count: usize, n: usize) -> Array {
    if mask.size() == 0 {
        return Array::zeros(&[0], DType::I32);
    }
    let starts = mask.flatnonzero_sized(count + 1, n as i64);
    starts.slice_axis(0, 1, count + 1) - starts.slice_axis(0, 0, count)
}

/// Panics if an array of a set operation is traced.
#[track_caller]
fn expect_values(operation: &str, arrays: &[&Array]) {
    if let Some(traced) = arrays.iter().find(|a| a.is_tracer()) {
        panic!(
            "{operation}: the size of the result depends on the values of {}, which are unknown at \
             trace time\n  help: call it outside the traced function; inside, `x.isin(y)` marks \
             common elements, and Unique::new().size(n) finds distinct ones",
            traced.aval()
        );
    }
}

impl Array {
    /// Returns the distinct elements in increasing order, as a 1-d array. All NaN are equal. Use
    /// [`Unique`] for other options, and for fixed sizes in traced programs.
    ///
    /// # Panics
    /// Panics if the array is traced.
    #[track_caller]
    pub fn unique(&self) -> Array {
        Unique::new().of(self).values
    }

    /// Returns the distinct elements and their numbers of occurrences. Each NaN is distinct.
    ///
    /// # Panics
    /// Panics if the array is traced.
    #[track_caller]
    pub fn unique_counts(&self) -> (Array, Array) {
        let found = Unique::new().nan_distinct().of(self);
        (found.values, found.counts)
    }

    /// Returns the distinct elements, and for each element of the array its index among them.
    /// Each NaN is distinct.
    ///
    /// # Panics
    /// Panics if the array is traced.
    #[track_caller]
    pub fn unique_inverse(&self) -> (Array, Array) {
        let found = Unique::new().nan_distinct().of(self);
        (found.values, found.inverse)
    }

    /// Returns the distinct elements with indices, inverse and counts. Each NaN is distinct.
    ///
    /// # Panics
    /// Panics if the array is traced.
    #[track_caller]
    pub fn unique_all(&self) -> Distinct {
        Unique::new().nan_distinct().of(self)
    }

    /// Returns the distinct elements. Each NaN is distinct.
    ///
    /// # Panics
    /// Panics if the array is traced.
    #[track_caller]
    pub fn unique_values(&self) -> Array {
        Unique::new().nan_distinct().of(self).values
    }

    /// Computes for each element whether it is among the elements of `set`. NaN is never among
    /// them.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([1, 2, 3]);
    /// assert_eq!(x.isin(Array::from([3, 1])).to_vec::<bool>(), [true, false, true]);
    /// ```
    #[track_caller]
    pub fn isin(&self, set: impl IntoArray) -> Array {
        let set = set.into_array();
        let (a, b) = promote("isin", &self.ravel(), &set.ravel());
        let equal = a.expand_dims(&[1]).eq(b.expand_dims(&[0]));
        equal.any_over(1).reshape(self.shape())
    }

    /// Returns the distinct elements of both arrays.
    ///
    /// # Panics
    /// Panics if an array is traced.
    #[track_caller]
    pub fn union1d(&self, other: &Array) -> Array {
        expect_values("union1d", &[self, other]);
        joined("union1d", &[self, other]).unique()
    }

    /// Returns the distinct elements that occur in both arrays.
    ///
    /// # Panics
    /// Panics if an array is traced.
    #[track_caller]
    pub fn intersect1d(&self, other: &Array) -> Array {
        let (a, b) = promote("intersect1d", &self.ravel(), &other.ravel());
        expect_values("intersect1d", &[&a, &b]);
        let distinct = a.unique();
        distinct.compress(&distinct.isin(&b), 0)
    }

    /// Returns the distinct elements that do not occur in `other`. The result has the dtype of
    /// this array; the elements are compared in the dtype that both arrays promote to.
    ///
    /// # Panics
    /// Panics if an array is traced.
    #[track_caller]
    pub fn setdiff1d(&self, other: &Array) -> Array {
        expect_values("setdiff1d", &[self, other]);
        let distinct = self.unique();
        let (a, b) = promote("setdiff1d", &distinct, &other.ravel());
        distinct.compress(&a.isin(&b).bitwise_not(), 0)
    }

    /// Returns the distinct elements that occur in exactly one of the arrays.
    ///
    /// # Panics
    /// Panics if an array is traced.
    #[track_caller]
    pub fn setxor1d(&self, other: &Array) -> Array {
        expect_values("setxor1d", &[self, other]);
        let (a, b) = promote("setxor1d", &self.ravel(), &other.ravel());
        joined("setxor1d", &[&a.setdiff1d(&b), &b.setdiff1d(&a)]).sort(0)
    }
}
