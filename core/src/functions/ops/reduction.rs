//! Reductions with options: axes, mask, initial value and dtype.

use super::reduce::{combined, every, in_order, promoted, require_elements, restore, signed, wide};
use crate::prim::reduce::{highest, lowest};
use crate::{Array, DType, Dims, IntoArray, Scalar, concatenate, where_};
use smallvec::SmallVec;

/// Options of a reduction such as [`Array::sum_with`].
///
/// ```no_run
/// use ramie_core::{Array, Reduction};
/// let x = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
/// let large = Reduction::over(&[1]).keepdims().mask(&x.gt(1.0));
/// assert_eq!(x.sum_with(&large).to_vec::<f32>(), [2.0, 7.0]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Reduction {
    axes: Option<SmallVec<[isize; 6]>>,
    keepdims: bool,
    mask: Option<Array>,
    initial: Option<Array>,
    dtype: Option<DType>,
    ddof: f64,
    mean: Option<Array>,
}

impl Reduction {
    /// Reduces all elements.
    pub fn all() -> Reduction {
        Reduction::default()
    }

    /// Reduces the given axes. An empty list reduces nothing.
    pub fn over(axes: &[isize]) -> Reduction {
        Reduction {
            axes: Some(axes.into()),
            ..Reduction::default()
        }
    }

    /// Keeps the reduced axes with size 1.
    #[must_use]
    pub fn keepdims(self) -> Reduction {
        Reduction {
            keepdims: true,
            ..self
        }
    }

    /// Reduces only the elements where the boolean `mask` is true (`where=` in NumPy). The mask
    /// must broadcast to the shape of the array.
    #[must_use]
    pub fn mask(self, mask: &Array) -> Reduction {
        Reduction {
            mask: Some(mask.clone()),
            ..self
        }
    }

    /// Sets a 0-d initial value that is combined with the elements.
    #[must_use]
    pub fn initial(self, value: impl IntoArray) -> Reduction {
        Reduction {
            initial: Some(value.into_array()),
            ..self
        }
    }

    /// Sets the dtype of the computation and of the result.
    #[must_use]
    pub fn dtype(self, dtype: DType) -> Reduction {
        Reduction {
            dtype: Some(dtype),
            ..self
        }
    }

    /// Sets the number that variances subtract from the number of elements. Defaults to 0; 1
    /// gives the unbiased estimate.
    #[must_use]
    pub fn ddof(self, ddof: f64) -> Reduction {
        Reduction { ddof, ..self }
    }

    /// Sets the mean that variances are computed about, with the reduced axes kept at size 1.
    /// Defaults to the mean of the elements.
    #[must_use]
    pub fn mean(self, mean: &Array) -> Reduction {
        Reduction {
            mean: Some(mean.clone()),
            ..self
        }
    }

    /// Returns the sorted axes that the reduction covers in `x`.
    #[track_caller]
    pub(crate) fn axes_of(&self, operation: &str, x: &Array) -> Dims {
        match &self.axes {
            None => every(x),
            Some(axes) => in_order(operation, x, axes),
        }
    }

    /// Replaces the masked-out elements of `x` by `other`.
    #[track_caller]
    pub(crate) fn masked(&self, operation: &str, x: &Array, other: impl Into<Scalar>) -> Array {
        let Some(mask) = &self.mask else {
            return x.clone();
        };
        assert!(
            mask.dtype() == DType::Bool,
            "{operation}: the mask is {}, expected booleans\n  help: compare: x.ne(0)",
            mask.aval()
        );
        where_(mask, x, Array::scalar(other, x.dtype()))
    }

    /// Returns the same reduction with `keepdims` set.
    pub(crate) fn kept(&self) -> Reduction {
        self.clone().keepdims()
    }

    /// Returns whether the reduced axes are kept.
    pub(crate) fn keeps(&self) -> bool {
        self.keepdims
    }

    /// Returns the same reduction without its mask.
    pub(crate) fn unmasked(&self) -> Reduction {
        Reduction {
            mask: None,
            ..self.clone()
        }
    }

    /// Returns whether an initial value is set.
    pub(crate) fn has_initial(&self) -> bool {
        self.initial.is_some()
    }

    /// Returns the dtypes of the computation and of the result for floats.
    pub(crate) fn float_types(&self, x: &Array) -> (DType, DType) {
        match self.dtype {
            Some(dtype) => (dtype, dtype),
            None => {
                let natural = x.to_inexact().dtype();
                (wide(natural), natural)
            }
        }
    }

    /// Returns the dtypes of a variance's computation and result. The result is real unless a
    /// complex dtype was requested.
    #[track_caller]
    pub(crate) fn variance_types(&self, operation: &str, x: &Array) -> (DType, DType) {
        let (computed, out) = self.float_types(x);
        assert!(
            computed.is_complex() || !x.dtype().is_complex(),
            "{operation}: the dtype {out} was requested for the variance of {}\n  help: omit the \
             dtype; the variance of complex numbers is real",
            x.aval()
        );
        match self.dtype {
            Some(_) => (computed, out),
            None => (computed, out.real()),
        }
    }

    /// Counts the elements reduced into each result.
    #[track_caller]
    pub(crate) fn count(&self, operation: &str, x: &Array, dtype: DType) -> Array {
        let axes = self.axes_of(operation, x);
        match &self.mask {
            None => Array::scalar(combined(x, &axes) as f64, dtype),
            Some(mask) => {
                let mask = mask.broadcast_to(x.shape()).astype(dtype);
                self.finish(&axes, &mask.reduce_sum(&signed(&axes)))
            }
        }
    }

    /// Restores the reduced axes if `keepdims` is set.
    #[track_caller]
    fn finish(&self, axes: &[usize], reduced: &Array) -> Array {
        if self.keepdims {
            restore(reduced, axes)
        } else {
            reduced.clone()
        }
    }

    /// Reduces with a primitive. Masked elements are replaced by `identity`; `combine` adds the
    /// initial value.
    #[track_caller]
    fn apply(
        &self,
        operation: &str,
        x: &Array,
        identity: Scalar,
        reduce: fn(&Array, &[isize]) -> Array,
        combine: fn(&Array, &Array) -> Array,
    ) -> Array {
        let axes = self.axes_of(operation, x);
        let reduced = reduce(&self.masked(operation, x, identity), &signed(&axes));
        let reduced = match &self.initial {
            None => reduced,
            Some(initial) => {
                assert!(
                    initial.ndim() == 0,
                    "{operation}: the initial value is {}, expected a 0-d array\n  help: combine \
                     arrays with the result",
                    initial.aval()
                );
                combine(&initial.astype(x.dtype()), &reduced)
            }
        };
        self.finish(&axes, &reduced)
    }

    /// Computes a sum or product, in at least 32 bits unless a dtype was requested.
    #[track_caller]
    fn accumulate(
        &self,
        operation: &str,
        x: &Array,
        identity: i64,
        reduce: fn(&Array, &[isize]) -> Array,
        combine: fn(&Array, &Array) -> Array,
    ) -> Array {
        let natural = promoted(x.dtype());
        let (computed, out) = match self.dtype {
            Some(dtype) => (dtype, dtype),
            None => (wide(natural), natural),
        };
        // A boolean result combines by `or` and `and`, as in NumPy.
        let number = if computed == DType::Bool {
            DType::I32
        } else {
            computed
        };
        let x = x.astype(computed).astype(number);
        let identity = Scalar::Int(identity);
        self.apply(operation, &x, identity, reduce, combine)
            .astype(out)
    }

    /// Panics if there are no elements to choose from and no initial value is set.
    #[track_caller]
    fn require_choice(&self, operation: &str, x: &Array) {
        if self.initial.is_some() {
            return;
        }
        assert!(
            self.mask.is_none(),
            "{operation}: with a mask there may be no element to choose\n  help: set the value \
             for this case with Reduction::initial"
        );
        require_elements(operation, x, &self.axes_of(operation, x));
    }

    #[track_caller]
    pub(crate) fn total(&self, x: &Array) -> Array {
        self.accumulate("sum", x, 0, Array::reduce_sum, |a, b| a + b)
    }

    #[track_caller]
    pub(crate) fn product(&self, x: &Array) -> Array {
        self.accumulate("prod", x, 1, Array::reduce_prod, |a, b| a * b)
    }

    #[track_caller]
    pub(crate) fn largest(&self, x: &Array) -> Array {
        self.require_choice("max", x);
        let identity = lowest(x.dtype());
        self.apply("max", x, identity, Array::reduce_max, |a, b| a.maximum(b))
    }

    #[track_caller]
    pub(crate) fn smallest(&self, x: &Array) -> Array {
        self.require_choice("min", x);
        let identity = highest(x.dtype());
        self.apply("min", x, identity, Array::reduce_min, |a, b| a.minimum(b))
    }

    #[track_caller]
    pub(crate) fn every_true(&self, x: &Array) -> Array {
        let x = x.astype(DType::Bool);
        let and = |a: &Array, b: &Array| a.bitwise_and(b);
        self.apply("all", &x, true.into(), Array::reduce_and, and)
    }

    #[track_caller]
    pub(crate) fn some_true(&self, x: &Array) -> Array {
        let x = x.astype(DType::Bool);
        let or = |a: &Array, b: &Array| a.bitwise_or(b);
        self.apply("any", &x, false.into(), Array::reduce_or, or)
    }

    #[track_caller]
    pub(crate) fn average(&self, x: &Array) -> Array {
        let (computed, out) = self.float_types(x);
        let count = self.count("mean", x, computed);
        (self.in_dtype(computed).total(x) / count).astype(out)
    }

    #[track_caller]
    pub(crate) fn variance(&self, x: &Array) -> Array {
        let (computed, out) = self.variance_types("var", x);
        let x = x.astype(wide(computed));
        let within = self.in_dtype(x.dtype());
        let mean = match &self.mean {
            Some(mean) => mean.clone(),
            None => within.kept().average(&x),
        };
        let squares = (&x - mean.astype(x.dtype())).squared_magnitude();
        let divisor = self.count("var", &x, squares.dtype()) - self.ddof;
        let variance = self.in_dtype(squares.dtype()).total(&squares) / &divisor;
        where_(divisor.gt(0), &variance, f64::NAN).astype(out)
    }

    /// Returns the number that variances subtract from the number of elements.
    pub(crate) fn freedom(&self) -> f64 {
        self.ddof
    }

    /// Returns the mean that variances are computed about, if it was set.
    pub(crate) fn given_mean(&self) -> Option<&Array> {
        self.mean.as_ref()
    }

    /// Returns the same reduction with another dtype.
    pub(crate) fn in_dtype(&self, dtype: DType) -> Reduction {
        self.clone().dtype(dtype)
    }
}

macro_rules! with_options {
    ($($(#[$doc:meta])* $f:ident = $rule:ident;)*) => {
        impl Array { $(
            $(#[$doc])*
            ///
            /// # Panics
            /// Panics if an axis is out of range or given twice, if the mask is not boolean, or
            /// if there is no element to choose from.
            #[track_caller]
            pub fn $f(&self, how: &Reduction) -> Array {
                how.$rule(self)
            }
        )* }
    };
}

with_options! {
    /// Computes the sum of the elements selected by `how`.
    sum_with = total;
    /// Computes the product of the elements selected by `how`.
    prod_with = product;
    /// Computes the mean of the elements selected by `how`, or NaN if there are none.
    mean_with = average;
    /// Computes the variance of the elements selected by `how`, dividing by their number minus
    /// `ddof`. Returns NaN if that difference is not positive.
    var_with = variance;
    /// Computes the maximum of the elements selected by `how`. NaN propagates.
    max_with = largest;
    /// Computes the minimum of the elements selected by `how`. NaN propagates.
    min_with = smallest;
    /// Computes whether all elements selected by `how` are nonzero (or `true`).
    all_with = every_true;
    /// Computes whether any element selected by `how` is nonzero (or `true`).
    any_with = some_true;
}

impl Array {
    /// Computes the standard deviation, the square root of [`var_with`](Array::var_with).
    ///
    /// # Panics
    /// Panics in the same cases as `var_with`.
    #[track_caller]
    pub fn std_with(&self, how: &Reduction) -> Array {
        self.var_with(how).sqrt()
    }

    /// Computes the cumulative sum along an axis, in at least 32 bits. If `initial` is true, the
    /// result starts with a 0 (`jnp.cumulative_sum`).
    ///
    /// # Panics
    /// Panics if the axis is out of range.
    #[track_caller]
    pub fn cumulative_sum(&self, axis: isize, initial: bool) -> Array {
        let sums = self.astype(promoted(self.dtype())).cumsum(axis);
        if initial { start(&sums, 0, axis) } else { sums }
    }

    /// Computes the cumulative product along an axis. If `initial` is true, the result starts
    /// with a 1 (`jnp.cumulative_prod`).
    ///
    /// # Panics
    /// Panics if the axis is out of range.
    #[track_caller]
    pub fn cumulative_prod(&self, axis: isize, initial: bool) -> Array {
        let products = self.cumprod(axis);
        if initial {
            start(&products, 1, axis)
        } else {
            products
        }
    }
}

/// Prepends `value` along an axis.
#[track_caller]
fn start(x: &Array, value: i64, axis: isize) -> Array {
    let at = x.axis("cumulative", axis);
    let mut shape: Dims = x.shape().into();
    shape[at] = 1;
    concatenate(&[Array::full(&shape, value, x.dtype()), x.clone()], axis)
}
