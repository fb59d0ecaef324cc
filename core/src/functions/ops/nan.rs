//! Reductions that ignore NaN, and `argmax` and `argmin` without NaN.

use super::reduction::Reduction;
use crate::prim::elementwise::parts::require_real;
use crate::prim::reduce::{highest, lowest};
use crate::{Array, DType, Scalar, where_};

/// Replaces NaN by `value`.
#[track_caller]
fn without_nan(x: &Array, value: impl Into<Scalar>) -> Array {
    if !x.dtype().is_inexact() {
        return x.clone();
    }
    where_(x.is_nan(), Array::scalar(value, x.dtype()), x)
}

macro_rules! nan_reductions {
    ($($(#[$doc:meta])* $all:ident $named:ident $keep:ident $with:ident = $rule:ident;)*) => {
        impl Array { $(
            $(#[$doc])*
            ///
            /// Reduces all elements; the result is 0-d.
            #[track_caller]
            pub fn $all(&self) -> Array {
                $rule(self, &Reduction::all())
            }

            $(#[$doc])*
            ///
            /// Reduces the given axes, which are removed.
            ///
            /// # Panics
            /// Panics if an axis is out of range or given twice.
            #[track_caller]
            pub fn $named(&self, axes: &[isize]) -> Array {
                $rule(self, &Reduction::over(axes))
            }

            $(#[$doc])*
            ///
            /// Reduces the given axes, which are kept with size 1.
            ///
            /// # Panics
            /// Panics if an axis is out of range or given twice.
            #[track_caller]
            pub fn $keep(&self, axes: &[isize]) -> Array {
                $rule(self, &Reduction::over(axes).keepdims())
            }

            $(#[$doc])*
            ///
            /// Reduces the elements selected by `how`.
            ///
            /// # Panics
            /// Panics if an axis is out of range or given twice, or if the mask is not boolean.
            #[track_caller]
            pub fn $with(&self, how: &Reduction) -> Array {
                $rule(self, how)
            }
        )* }
    };
}

nan_reductions! {
    /// Computes the sum of the elements that are not NaN.
    nansum nansum_axes nansum_keepdims nansum_with = sum;
    /// Computes the product of the elements that are not NaN.
    nanprod nanprod_axes nanprod_keepdims nanprod_with = product;
    /// Computes the maximum of the elements that are not NaN, or NaN if there are none.
    nanmax nanmax_axes nanmax_keepdims nanmax_with = largest;
    /// Computes the minimum of the elements that are not NaN, or NaN if there are none.
    nanmin nanmin_axes nanmin_keepdims nanmin_with = smallest;
    /// Computes the mean of the elements that are not NaN.
    nanmean nanmean_axes nanmean_keepdims nanmean_with = mean;
    /// Computes the variance of the elements that are not NaN.
    nanvar nanvar_axes nanvar_keepdims nanvar_with = variance;
    /// Computes the standard deviation of the elements that are not NaN.
    nanstd nanstd_axes nanstd_keepdims nanstd_with = deviation;
}

#[track_caller]
fn sum(x: &Array, how: &Reduction) -> Array {
    how.total(&without_nan(x, 0.0))
}

#[track_caller]
fn product(x: &Array, how: &Reduction) -> Array {
    how.product(&without_nan(x, 1.0))
}

/// Returns `value`, or NaN if all elements are NaN and no initial value is set.
#[track_caller]
fn unless_all_nan(x: &Array, how: &Reduction, value: Array) -> Array {
    if !x.dtype().is_inexact() || how.has_initial() {
        return value;
    }
    let plain = how.unmasked();
    where_(plain.every_true(&x.is_nan()), f64::NAN, value)
}

#[track_caller]
fn largest(x: &Array, how: &Reduction) -> Array {
    unless_all_nan(x, how, how.largest(&without_nan(x, lowest(x.dtype()))))
}

#[track_caller]
fn smallest(x: &Array, how: &Reduction) -> Array {
    unless_all_nan(x, how, how.smallest(&without_nan(x, highest(x.dtype()))))
}

/// Counts the elements that are not NaN, in `dtype`.
#[track_caller]
fn numbers(x: &Array, how: &Reduction, dtype: DType) -> Array {
    how.in_dtype(dtype).total(&x.is_nan().logical_not())
}

#[track_caller]
fn mean(x: &Array, how: &Reduction) -> Array {
    if !x.dtype().is_inexact() {
        return how.average(x);
    }
    let (computed, out) = how.float_types(x);
    let sum = how.in_dtype(computed).total(&without_nan(x, 0.0));
    (sum / numbers(x, how, computed)).astype(out)
}

#[track_caller]
fn variance(x: &Array, how: &Reduction) -> Array {
    let (computed, out) = how.variance_types("nanvar", x);
    let x = x.astype(computed);
    let about = match how.given_mean() {
        Some(mean) => mean.clone(),
        None => mean(&x, &how.kept().in_dtype(computed)),
    };
    let centred = where_(x.is_nan(), 0, &x - about.astype(computed));
    let squares = centred.squared_magnitude();
    let divisor = numbers(&x, how, squares.dtype()) - how.freedom();
    let none = divisor.le(0);
    let squares = how.in_dtype(squares.dtype()).total(&squares);
    let variance = where_(&none, f64::NAN, squares) / where_(&none, 1, &divisor);
    variance.astype(out)
}

#[track_caller]
fn deviation(x: &Array, how: &Reduction) -> Array {
    variance(x, how).sqrt()
}

/// Returns the indices, or -1 where all elements along the axis are NaN.
#[track_caller]
fn position(x: &Array, axis: isize, found: Array) -> Array {
    if !x.dtype().is_float() {
        return found;
    }
    where_(x.is_nan().all_axes(&[axis]), -1, found)
}

macro_rules! nan_arg_reductions {
    ($($f:ident $keep:ident $of:ident $end:ident $word:literal;)*) => {
        impl Array { $(
            #[doc = concat!("Returns the index (`i32`) of the ", $word, " element along an axis that is not NaN, or")]
            /// -1 if all elements are NaN. With `None` instead of an axis, the array is flattened first.
            ///
            /// # Panics
            /// Panics if the axis is out of range or has size 0, or the array is complex.
            #[track_caller]
            pub fn $f(&self, axis: impl Into<Option<isize>>) -> Array {
                require_real(stringify!($f), &[self]);
                let (x, axis) = self.flattened_without(axis.into());
                let found = without_nan(&x, $end(x.dtype())).$of(axis);
                position(&x, axis, found)
            }

            #[doc = concat!("Same as [`", stringify!($f), "`](Array::", stringify!($f), "), but keeps the axis with size 1.")]
            /// Without an axis, all axes have size 1.
            ///
            /// # Panics
            #[doc = concat!("Panics in the same cases as `", stringify!($f), "`.")]
            #[track_caller]
            pub fn $keep(&self, axis: impl Into<Option<isize>>) -> Array {
                let axis = axis.into();
                self.with_axis_kept(axis, &self.$f(axis))
            }
        )* }
    };
}

nan_arg_reductions! {
    nanargmax nanargmax_keepdims argmax lowest "largest";
    nanargmin nanargmin_keepdims argmin highest "smallest";
}

impl Array {
    /// Computes [`cumsum`](Array::cumsum) with NaN treated as 0.
    ///
    /// # Panics
    /// Panics if the axis is out of range.
    #[track_caller]
    pub fn nancumsum(&self, axis: isize) -> Array {
        without_nan(self, 0.0).cumsum(axis)
    }

    /// Computes [`cumprod`](Array::cumprod) with NaN treated as 1.
    ///
    /// # Panics
    /// Panics if the axis is out of range.
    #[track_caller]
    pub fn nancumprod(&self, axis: isize) -> Array {
        without_nan(self, 1.0).cumprod(axis)
    }
}
