//! Reductions that ignore NaN.

use super::reduce::reductions;
use super::reduction::Reduction;
use crate::dtypes::Scalar;
use crate::prim::reduce::{highest, lowest};
use crate::{Array, DType, where_};

/// Replaces NaN by `value`.
#[track_caller]
pub(super) fn without_nan(x: &Array, value: impl Into<Scalar>) -> Array {
    if !x.dtype().is_inexact() {
        return x.clone();
    }
    where_(x.is_nan(), Array::scalar(value, x.dtype()), x)
}

reductions! {
    /// Computes the sum of the elements that are not NaN.
    nansum nansum_over = sum;
    /// Computes the product of the elements that are not NaN.
    nanprod nanprod_over = product;
    /// Computes the maximum of the elements that are not NaN, or NaN if there are none.
    nanmax nanmax_over = largest;
    /// Computes the minimum of the elements that are not NaN, or NaN if there are none.
    nanmin nanmin_over = smallest;
    /// Computes the mean of the elements that are not NaN.
    nanmean nanmean_over = mean;
    /// Computes the variance of the elements that are not NaN.
    nanvar nanvar_over = variance;
    /// Computes the standard deviation of the elements that are not NaN.
    nanstd nanstd_over = deviation;
}

#[track_caller]
fn sum(how: &Reduction, x: &Array) -> Array {
    how.total(&without_nan(x, 0.0))
}

#[track_caller]
fn product(how: &Reduction, x: &Array) -> Array {
    how.product(&without_nan(x, 1.0))
}

/// Returns `value`, or NaN if all elements are NaN and no initial value is set.
#[track_caller]
fn unless_all_nan(how: &Reduction, x: &Array, value: Array) -> Array {
    if !x.dtype().is_inexact() || how.has_initial() {
        return value;
    }
    let plain = how.unmasked();
    where_(plain.every_true(&x.is_nan()), f64::NAN, value)
}

#[track_caller]
fn largest(how: &Reduction, x: &Array) -> Array {
    unless_all_nan(how, x, how.largest(&without_nan(x, lowest(x.dtype()))))
}

#[track_caller]
fn smallest(how: &Reduction, x: &Array) -> Array {
    unless_all_nan(how, x, how.smallest(&without_nan(x, highest(x.dtype()))))
}

/// Counts the elements that are not NaN, in `dtype`.
#[track_caller]
fn numbers(how: &Reduction, x: &Array, dtype: DType) -> Array {
    how.in_dtype(dtype).total(&x.is_nan().logical_not())
}

#[track_caller]
fn mean(how: &Reduction, x: &Array) -> Array {
    how.refuse_initial("nanmean");
    if !x.dtype().is_inexact() {
        return how.average(x);
    }
    let (computed, out) = how.float_types(x);
    let sum = how.in_dtype(computed).total(&without_nan(x, 0.0));
    (sum / numbers(how, x, computed)).astype(out)
}

#[track_caller]
fn variance(how: &Reduction, x: &Array) -> Array {
    how.refuse_initial("nanvar");
    let (computed, out) = how.variance_types("nanvar", x);
    let x = x.astype(computed);
    let about = match how.given_mean() {
        Some(mean) => mean.clone(),
        None => mean(&how.kept().in_dtype(computed), &x),
    };
    let centred = where_(x.is_nan(), 0, &x - about.astype(computed));
    let squares = centred.squared_magnitude();
    let divisor = numbers(how, &x, squares.dtype()) - how.freedom();
    let none = divisor.le(0);
    let squares = how.in_dtype(squares.dtype()).total(&squares);
    let variance = where_(&none, f64::NAN, squares) / where_(&none, 1, &divisor);
    variance.astype(out)
}

#[track_caller]
fn deviation(how: &Reduction, x: &Array) -> Array {
    variance(how, x).sqrt()
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
