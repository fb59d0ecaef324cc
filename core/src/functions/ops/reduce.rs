//! NumPy's reductions: sums, products, means, variances, extrema, counts and norms.
//!
//! Each reduction has two forms: over all axes (`x.sum()`), and over an axis, axes or a
//! [`Reduction`] (`x.sum_over(0)`, `x.sum_over([0, 1])`). With an empty list of axes, the second
//! form reduces nothing.
//!
//! As in JAX, sums and means of 16-bit floats are accumulated in `f32` and rounded once, sums and
//! products of booleans and small integers are computed in 32 bits, and means of integers are
//! floats.

use crate::options::Reduction;
use crate::typing::Dims;
use crate::{Array, DType};

/// Returns the indices of all axes.
pub(super) fn every(x: &Array) -> Dims {
    (0..x.ndim()).collect()
}

/// Returns the given axes as sorted non-negative indices.
#[track_caller]
pub(super) fn in_order(operation: &str, x: &Array, axes: &[isize]) -> Dims {
    let mut axes = x.axes(operation, axes);
    axes.sort_unstable();
    axes
}

pub(super) fn signed(axes: &[usize]) -> smallvec::SmallVec<[isize; 6]> {
    axes.iter().map(|&a| a as isize).collect()
}

/// Defines methods that reduce all elements, or those that a [`Reduction`] selects.
macro_rules! reductions {
    ($( $(#[$doc:meta])* $all:ident $over:ident $(, panics $why:literal)? = $rule:path; )*) => {
        impl Array { $(
            $(#[$doc])*
            ///
            /// Reduces all elements; the result is 0-d.
            $(#[doc = concat!("\n\n# Panics\n", $why)])?
            #[track_caller]
            pub fn $all(&self) -> Array {
                $rule(&Reduction::all(), self)
            }

            $(#[$doc])*
            ///
            /// Reduces the elements that `over` selects: an axis, axes, or a
            /// [`Reduction`] with options. The axes are removed unless it keeps
            /// them.
            ///
            /// # Panics
            /// Panics if an axis is out of range or given twice, or if the mask is not boolean.
            $(#[doc = $why])?
            #[track_caller]
            pub fn $over(&self, over: impl Into<Reduction>) -> Array {
                $rule(&over.into(), self)
            }
        )* }
    };
}
pub(super) use reductions;

reductions! {
    /// Computes the sum of the elements.
    sum sum_over = Reduction::total;
    /// Computes the product of the elements.
    prod prod_over = Reduction::product;
    /// Computes the mean of the elements, or NaN if there are none.
    mean mean_over = Reduction::average;
    /// Computes the variance, the mean squared distance from the mean. The result is real. With
    /// [`Reduction::ddof`], the sum of squared distances is divided by the number of elements
    /// minus `ddof`; the result is NaN if that difference is not positive.
    var var_over = Reduction::variance;
    /// Computes the standard deviation, the square root of the variance.
    std std_over = Reduction::deviation;
    /// Computes the maximum of the elements. NaN propagates.
    max max_over, panics "Panics if there are no elements to choose from." = Reduction::largest;
    /// Computes the minimum of the elements. NaN propagates.
    min min_over, panics "Panics if there are no elements to choose from." = Reduction::smallest;
    /// Computes the difference between the largest and the smallest element.
    ptp ptp_over, panics "Panics if there are no elements to choose from." = Reduction::range;
    /// Computes whether all elements are nonzero (or `true`).
    all all_over = Reduction::every_true;
    /// Computes whether any element is nonzero (or `true`).
    any any_over = Reduction::some_true;
    /// Counts the nonzero (or `true`) elements. The result is `i32`.
    count_nonzero count_nonzero_over = Reduction::nonzero;
    /// Computes the Euclidean norm, the square root of the sum of squared magnitudes. The result
    /// is real. The gradient at zero is NaN, as in JAX.
    norm norm_over = Reduction::euclidean;
}

/// Restores the reduced axes of a reduced array with size 1.
#[track_caller]
pub(super) fn restore(reduced: &Array, axes: &[usize]) -> Array {
    if axes.is_empty() {
        return reduced.clone();
    }
    reduced.expand_dims(&signed(axes))
}

/// Returns the dtype in which sums of `dtype` are accumulated.
pub(super) fn wide(dtype: DType) -> DType {
    match dtype {
        DType::BF16 | DType::F16 => DType::F32,
        other => other,
    }
}

/// Returns the dtype of NumPy's sums and products of `dtype`.
pub(super) fn promoted(dtype: DType) -> DType {
    match dtype {
        DType::Bool | DType::I8 | DType::I16 => DType::I32,
        DType::U8 | DType::U16 => DType::U32,
        other => other,
    }
}

/// Returns the number of elements reduced into each result.
pub(super) fn combined(x: &Array, axes: &[usize]) -> usize {
    axes.iter().map(|&a| x.shape()[a]).product()
}

/// Panics if the reduced axes have no elements to choose from.
#[track_caller]
pub(super) fn require_elements(operation: &str, x: &Array, axes: &[usize]) {
    assert!(
        combined(x, axes) > 0,
        "{operation}: {} has no elements along axes {axes:?} to choose from\n  help: reduce an \
         axis with elements, or handle the empty case separately",
        x.aval()
    );
}
