//! NumPy's reductions: sums, products, means, variances, extrema, counts and norms.
//!
//! Each reduction has three forms: over all axes (`x.sum()`), over the given axes, which are
//! removed (`x.sum_axes(&[0])`), and over the given axes, which are kept with size 1
//! (`x.sum_keepdims(&[0])`). With an empty list of axes, the last two forms reduce nothing.
//!
//! As in JAX, sums and means of 16-bit floats are accumulated in `f32` and rounded once, sums and
//! products of booleans and small integers are computed in 32 bits, and means of integers are
//! floats.

use crate::{Array, DType, Dims, where_};

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

macro_rules! reductions {
    ($( $(#[$doc:meta])* $all:ident $named:ident $keep:ident $(, panics $why:literal)? = $f:ident; )*) => {
        impl Array { $(
            $(#[$doc])*
            ///
            /// Reduces all elements; the result is 0-d.
            $(#[doc = concat!("\n\n# Panics\n", $why)])?
            #[track_caller]
            pub fn $all(&self) -> Array {
                $f(self, &every(self))
            }

            $(#[$doc])*
            ///
            /// Reduces the given axes, which are removed.
            ///
            /// # Panics
            /// Panics if an axis is out of range or given twice.
            $(#[doc = $why])?
            #[track_caller]
            pub fn $named(&self, axes: &[isize]) -> Array {
                let axes = in_order(stringify!($all), self, axes);
                $f(self, &axes)
            }

            $(#[$doc])*
            ///
            /// Reduces the given axes, which are kept with size 1.
            ///
            /// # Panics
            /// Panics if an axis is out of range or given twice.
            $(#[doc = $why])?
            #[track_caller]
            pub fn $keep(&self, axes: &[isize]) -> Array {
                let axes = in_order(stringify!($all), self, axes);
                restore(&$f(self, &axes), &axes)
            }
        )* }
    };
}

reductions! {
    /// Computes the sum of the elements.
    sum sum_axes sum_keepdims = total;
    /// Computes the product of the elements.
    prod prod_axes prod_keepdims = product;
    /// Computes the mean of the elements, or NaN if there are none.
    mean mean_axes mean_keepdims = average;
    /// Computes the variance, the mean squared distance from the mean. The result is real.
    var var_axes var_keepdims = variance;
    /// Computes the standard deviation, the square root of the variance.
    std std_axes std_keepdims = deviation;
    /// Computes the maximum of the elements. NaN propagates.
    max max_axes max_keepdims, panics "Panics if there are no elements to choose from." = largest;
    /// Computes the minimum of the elements. NaN propagates.
    min min_axes min_keepdims, panics "Panics if there are no elements to choose from." = smallest;
    /// Computes the difference between the largest and the smallest element.
    ptp ptp_axes ptp_keepdims, panics "Panics if there are no elements to choose from." = peak_to_peak;
    /// Computes whether all elements are nonzero (or `true`).
    all all_axes all_keepdims = every_true;
    /// Computes whether any element is nonzero (or `true`).
    any any_axes any_keepdims = some_true;
    /// Counts the nonzero (or `true`) elements. The result is `i32`.
    count_nonzero count_nonzero_axes count_nonzero_keepdims = count;
    /// Computes the Euclidean norm, the square root of the sum of squared magnitudes. The result
    /// is real. The gradient at zero is NaN, as in JAX.
    norm norm_axes norm_keepdims = euclidean;
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

#[track_caller]
fn total(x: &Array, axes: &[usize]) -> Array {
    let out = promoted(x.dtype());
    if x.dtype() == DType::Bool {
        x.expect_i32_count("sum", axes.iter().map(|&d| x.shape()[d]).product());
    }
    x.astype(wide(out)).reduce_sum(&signed(axes)).astype(out)
}

#[track_caller]
fn product(x: &Array, axes: &[usize]) -> Array {
    let out = promoted(x.dtype());
    x.astype(wide(out)).reduce_prod(&signed(axes)).astype(out)
}

/// Returns the number of elements reduced into each result.
pub(super) fn combined(x: &Array, axes: &[usize]) -> usize {
    axes.iter().map(|&a| x.shape()[a]).product()
}

#[track_caller]
fn average(x: &Array, axes: &[usize]) -> Array {
    let x = x.to_inexact();
    let sum = x.astype(wide(x.dtype())).reduce_sum(&signed(axes));
    (&sum / combined(&x, axes) as f64).astype(x.dtype())
}

#[track_caller]
fn variance(x: &Array, axes: &[usize]) -> Array {
    variance_with_ddof(x, axes, 0)
}

/// Computes the sum of squared distances from the mean, divided by the number of elements minus
/// `ddof`. Returns NaN if that difference is not positive.
#[track_caller]
fn variance_with_ddof(x: &Array, axes: &[usize], ddof: usize) -> Array {
    let x = x.to_inexact();
    let out = x.dtype().real();
    let x = x.astype(wide(x.dtype()));
    let n = combined(&x, axes);
    let mean = restore(&average(&x, axes), axes);
    let squares = (&x - &mean).squared_magnitude();
    let squares = squares.reduce_sum(&signed(axes));
    let normalizer = n as f64 - ddof as f64;
    if normalizer > 0.0 {
        (&squares / normalizer).astype(out)
    } else {
        // `where_` keeps the dependency: the derivative is zero, and NaN through a square root.
        where_(Array::from(false), &squares, f64::NAN).astype(out)
    }
}

#[track_caller]
fn deviation(x: &Array, axes: &[usize]) -> Array {
    variance(x, axes).sqrt()
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

#[track_caller]
fn largest(x: &Array, axes: &[usize]) -> Array {
    require_elements("max", x, axes);
    x.reduce_max(&signed(axes))
}

#[track_caller]
fn smallest(x: &Array, axes: &[usize]) -> Array {
    require_elements("min", x, axes);
    x.reduce_min(&signed(axes))
}

#[track_caller]
fn peak_to_peak(x: &Array, axes: &[usize]) -> Array {
    require_elements("ptp", x, axes);
    largest(x, axes) - smallest(x, axes)
}

#[track_caller]
fn every_true(x: &Array, axes: &[usize]) -> Array {
    x.astype(DType::Bool).reduce_and(&signed(axes))
}

#[track_caller]
fn some_true(x: &Array, axes: &[usize]) -> Array {
    x.astype(DType::Bool).reduce_or(&signed(axes))
}

#[track_caller]
fn count(x: &Array, axes: &[usize]) -> Array {
    x.expect_i32_count(
        "count_nonzero",
        axes.iter().map(|&d| x.shape()[d]).product(),
    );
    total(&x.astype(DType::Bool), axes)
}

#[track_caller]
fn euclidean(x: &Array, axes: &[usize]) -> Array {
    let x = x.to_inexact();
    total(&x.squared_magnitude(), axes).sqrt()
}

impl Array {
    /// Computes the variance over the given axes, which are removed, dividing by the number of
    /// elements minus `ddof`; 1 gives the unbiased estimate. Returns NaN if that difference is
    /// not positive.
    ///
    /// # Panics
    /// Panics if an axis is out of range or given twice.
    #[track_caller]
    pub fn var_ddof(&self, axes: &[isize], ddof: usize) -> Array {
        variance_with_ddof(self, &self.axes("var", axes), ddof)
    }

    /// Computes the standard deviation, the square root of [`var_ddof`](Array::var_ddof).
    ///
    /// # Panics
    /// Panics if an axis is out of range or given twice.
    #[track_caller]
    pub fn std_ddof(&self, axes: &[isize], ddof: usize) -> Array {
        self.var_ddof(axes, ddof).sqrt()
    }
}
