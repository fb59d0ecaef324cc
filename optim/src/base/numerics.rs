//! Arithmetic shared by the transformations.

use crate::base::wide::{wide, wide_dtype};
use crate::tree::abs_sq;
use crate::{Hyperparam, tree};
use ramie_core::linalg::{self, NormOrder};
use ramie_core::options::Reduction;
use ramie_core::{Array, DType, IntoArray, State, custom_jvp, where_};

/// Returns the count plus one. A count at `i32::MAX` does not change.
///
/// # Panics
/// Panics if the dtype of the count is not `i32`.
#[doc(alias = "safe_int32_increment")]
#[track_caller]
pub fn safe_increment(count: &Array) -> Array {
    assert!(
        count.dtype() == DType::I32,
        "safe_increment: the count is {}, expected i32\n  help: create it with Array::scalar(0, \
         DType::I32)",
        count.aval()
    );
    where_(count.lt(i32::MAX), count + 1, i32::MAX)
}

/// Returns a step count of zero.
pub(crate) fn count_zero() -> Array {
    Array::scalar(0, DType::I32)
}

/// Computes the Euclidean norm of all arrays together, 0-d, in at least `f32`.
///
/// # Panics
/// Panics if the state is empty.
#[track_caller]
pub fn global_norm(updates: &State) -> Array {
    assert!(!updates.is_empty(), "global_norm: the state has no arrays");
    tree::norm(updates)
}

/// Computes the Euclidean norm of an array, 0-d, in at least `f32`, or returns `min_norm` if the
/// norm is smaller. The derivative is finite everywhere.
#[track_caller]
pub fn safe_norm(x: &Array, min_norm: impl Into<Hyperparam>) -> Array {
    at_least(x, min_norm.into(), |x| abs_sq(x).sum().sqrt())
}

/// Computes a [`safe_norm`] of another order or along some axes: one or more axes for vector
/// norms, two for matrix norms such as [`NormOrder::Nuclear`] (`optax.safe_norm` with `ord`,
/// `axis` and `keepdims`).
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_core::linalg::NormOrder;
/// use ramie_optim::safe_norm_over;
/// let x = Array::from([[3.0f32, -4.0], [0.0, 0.0]]);
/// assert_eq!(safe_norm_over(&x, 0.5, NormOrder::P(1.0), 1).to_vec::<f32>(), [7.0, 0.5]);
/// ```
///
/// # Panics
/// Panics in the same cases as [`norm_over`](ramie_core::linalg::norm_over).
#[track_caller]
pub fn safe_norm_over(
    x: &Array,
    min_norm: impl Into<Hyperparam>,
    order: NormOrder,
    over: impl Into<Reduction>,
) -> Array {
    let (least, over) = (min_norm.into(), over.into());
    let x = &*wide(x);
    let size = |x: &Array| linalg::norm_over(x, order, &over);
    let kept = linalg::norm_over(x, order, over.clone().keepdims());
    let safe = where_(kept.le(&least), 1.0, x);
    where_(size(x).le(&least), &least, size(&safe))
}

/// Computes the root mean square of an array, 0-d, in at least `f32`, or returns `min_rms` if it is
/// smaller. The derivative is finite everywhere.
#[track_caller]
pub fn safe_root_mean_squares(x: &Array, min_rms: impl Into<Hyperparam>) -> Array {
    at_least(x, min_rms.into(), |x| abs_sq(x).mean().sqrt())
}

#[track_caller]
fn at_least(x: &Array, least: Hyperparam, size: impl Fn(&Array) -> Array) -> Array {
    let x = &*wide(x);
    let small = size(x).le(&least);
    let safe = where_(&small, x.ones_like(), x);
    where_(&small, &least, size(&safe))
}

/// Multiplies the gradient that flows through `x` by `scale`. The value does not change.
///
/// ```no_run
/// use ramie_core::{Array, grad};
/// use ramie_optim::scale_gradient;
/// let f = |x: Array| scale_gradient(&x, 0.5) * 3.0;
/// assert_eq!(grad(f)(Array::from(1.0f32)).item::<f32>(), 1.5);
/// ```
#[track_caller]
pub fn scale_gradient(x: &Array, scale: impl Into<Hyperparam>) -> Array {
    let scaled = custom_jvp(
        |x: Array, _scale: Array| x,
        |(x, scale): (Array, Array), (slope, _): (Array, Array)| {
            let dtype = wide_dtype(x.dtype());
            let slope = (slope.astype(dtype) * scale.astype(dtype)).astype(x.dtype());
            (x, slope)
        },
    );
    scaled(x.clone(), scale.into().into_array())
}
