//! Norms and condition numbers.

use super::{inexact, inv, svdvals};
use crate::options::Reduction;
use crate::{Array, where_};

/// The order of a norm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NormOrder {
    /// The square root of the sum of squared magnitudes.
    Frobenius,
    /// The sum of the singular values.
    Nuclear,
    /// For vectors, the `p`-norm: the largest (∞) or smallest (-∞) magnitude, the number of
    /// nonzero elements (0), otherwise the `p`-th root of the sum of `p`-th powers of magnitudes.
    /// For matrices, the largest (1) or smallest (-1) column sum of magnitudes, the largest (∞)
    /// or smallest (-∞) row sum, or the largest (2) or smallest (-2) singular value.
    P(f64),
}

impl From<f64> for NormOrder {
    fn from(p: f64) -> NormOrder {
        NormOrder::P(p)
    }
}

impl From<i32> for NormOrder {
    fn from(p: i32) -> NormOrder {
        NormOrder::P(f64::from(p))
    }
}

/// Computes the norm, which is real, of a vector or of a matrix (`jax.numpy.linalg.norm`). For the
/// Euclidean norm of all elements, use [`Array::norm`].
///
/// ```no_run
/// use ramie_core::{Array, linalg::{NormOrder, norm}};
/// let x = Array::from([[3.0f32, -4.0], [0.0, 5.0]]);
/// assert_eq!(norm(&x, NormOrder::Frobenius).item::<f32>(), 50f32.sqrt());
/// assert_eq!(norm(&x, f64::INFINITY).item::<f32>(), 7.0);
/// assert_eq!(norm(&Array::from([3.0f32, -4.0]), 1).item::<f32>(), 7.0);
/// ```
///
/// # Panics
/// Panics if `x` has neither one nor two axes, or if the order is not defined for matrices.
#[track_caller]
pub fn norm(x: &Array, order: impl Into<NormOrder>) -> Array {
    assert!(
        matches!(x.ndim(), 1 | 2),
        "norm: expects a vector or a matrix, got {}\n  help: use `norm_over` to choose one axis for \
         vectors or two axes for matrices",
        x.aval()
    );
    norm_over(x, order, Reduction::all())
}

/// Computes [`norm`] over one axis of vectors or two axes of matrices, rows first
/// (`jax.numpy.linalg.norm` with `axis=`). For the Euclidean norm over any axes, use
/// [`Array::norm_over`].
///
/// ```no_run
/// use ramie_core::{Array, linalg};
/// let x = Array::from([[3.0f32, -4.0], [0.0, 5.0]]);
/// assert_eq!(linalg::norm_over(&x, 1, -1).to_vec::<f32>(), [7.0, 5.0]);
/// ```
///
/// # Panics
/// Panics if there are not one or two axes, if an axis is out of range, or if the order is not
/// defined for matrices.
#[track_caller]
pub fn norm_over(x: &Array, order: impl Into<NormOrder>, over: impl Into<Reduction>) -> Array {
    let (order, over) = (order.into(), over.into());
    let axes = over.plain_axes("norm", x);
    match axes[..] {
        [_] => match order {
            NormOrder::P(p) => vector_norm(x, p, over),
            other => panic!(
                "norm: the {other:?} norm is not defined for vectors\n  help: pass two axes for \
                 matrices, or a number as the order"
            ),
        },
        [row, column] => norm_of_matrices(x, order, [row, column], over.keeps()),
        _ => panic!(
            "norm: expects one or two axes, got {} axes\n  help: pass one axis for vectors or \
             two axes for matrices; `vector_norm` and `Array::norm_over` accept any number",
            axes.len()
        ),
    }
}

/// Computes the `p`-norm of the elements along several axes together
/// (`jax.numpy.linalg.vector_norm`); see [`NormOrder::P`].
///
/// ```no_run
/// use ramie_core::{Array, linalg};
/// let x = Array::from([3.0f32, 0.0, -4.0]);
/// assert_eq!(linalg::vector_norm(&x, 0.0, 0).item::<f32>(), 2.0);
/// assert_eq!(linalg::vector_norm(&x, f64::INFINITY, 0).item::<f32>(), 4.0);
/// ```
///
/// # Panics
/// Panics if an axis is out of range or given twice, or if `p` is -∞ and there are no elements.
#[track_caller]
pub fn vector_norm(x: &Array, p: f64, over: impl Into<Reduction>) -> Array {
    let (x, over) = (inexact(x), over.into());
    over.plain_axes("norm", &x);
    let sum = |x: &Array| x.sum_over(&over);
    if p == 2.0 {
        sum(&x.squared_magnitude()).sqrt()
    } else if p == f64::INFINITY {
        largest(&x.abs(), &over)
    } else if p == f64::NEG_INFINITY {
        x.abs().min_over(&over)
    } else if p == 0.0 {
        sum(&x.ne(0).astype(x.dtype().real()))
    } else if p == 1.0 {
        sum(&x.abs())
    } else {
        sum(&x.abs().power(p)).power(1.0 / p)
    }
}

/// Computes the Frobenius norm of the matrices along the last two axes
/// (`jax.numpy.linalg.matrix_norm`).
///
/// # Panics
/// Panics if `x` has fewer than two axes.
#[track_caller]
pub fn matrix_norm(x: &Array) -> Array {
    matrix_norm_with(x, NormOrder::Frobenius)
}

/// Computes another norm of the matrices along the last two axes. To keep the axes, use
/// [`norm_over`] with `Reduction::over([-2, -1]).keepdims()`.
///
/// # Panics
/// Panics if `x` has fewer than two axes, or if the order is not defined for matrices.
#[track_caller]
pub fn matrix_norm_with(x: &Array, order: impl Into<NormOrder>) -> Array {
    norm_over(x, order, [-2, -1])
}

/// Computes the largest magnitude, or 0 if there are no elements.
#[track_caller]
fn largest(x: &Array, over: &Reduction) -> Array {
    let axes = over.axes_of("norm", x);
    if axes.iter().any(|&d| x.shape()[d] == 0) {
        x.sum_over(over)
    } else {
        x.max_over(over)
    }
}

#[track_caller]
fn norm_of_matrices(x: &Array, order: NormOrder, axes: [isize; 2], keepdims: bool) -> Array {
    let x = inexact(x);
    let normalized = x.axes("norm", &axes);
    let (row, column) = (normalized[0] as isize, normalized[1] as isize);
    let kept = |axis: isize| Reduction::over(axis).keepdims();
    let sums = |axis: isize| x.abs().sum_over(kept(axis));
    let norm = match order {
        NormOrder::Frobenius => {
            let over = Reduction::over(axes).keepdims();
            x.squared_magnitude().sum_over(over).sqrt()
        }
        NormOrder::P(1.0) => largest(&sums(row), &kept(column)),
        NormOrder::P(-1.0) => sums(row).min_over(kept(column)),
        NormOrder::P(f64::INFINITY) => largest(&sums(column), &kept(row)),
        NormOrder::P(f64::NEG_INFINITY) => sums(column).min_over(kept(row)),
        NormOrder::Nuclear | NormOrder::P(2.0 | -2.0) => {
            let mut rest: Vec<isize> = (0..x.ndim() as isize)
                .filter(|d| *d != row && *d != column)
                .collect();
            rest.extend([row, column]);
            let s = svdvals(&x.transpose(&rest));
            let value = match order {
                NormOrder::Nuclear => s.sum_over(-1),
                NormOrder::P(2.0) => largest(&s, &(-1).into()),
                _ => s.min_over(-1),
            };
            let mut ends = [row, column];
            ends.sort_unstable();
            value.expand_dims(&ends)
        }
        NormOrder::P(p) => panic!(
            "norm: the norm of order {p} is not defined for matrices\n  help: use the order 1, \
             -1, 2, -2, ∞, -∞, Frobenius or Nuclear, or pass one axis for vectors"
        ),
    };
    if keepdims {
        norm
    } else {
        norm.squeeze(&[row, column])
    }
}

/// Computes the condition numbers of the matrices along the last two axes
/// (`jax.numpy.linalg.cond`): the norm times the norm of the inverse, which is infinite for
/// singular matrices. The usual order is 2. For the orders 2 and -2, the matrices need not be
/// square.
///
/// ```no_run
/// use ramie_core::{Array, linalg};
/// let x = Array::from([[4.0f32, 0.0], [0.0, 2.0]]);
/// assert_eq!(linalg::cond(&x, 1).item::<f32>(), 2.0);
/// ```
///
/// # Panics
/// Panics if `x` has fewer than two axes or empty matrices, if the order is not defined for
/// matrices, or if the matrices are not square and the order is neither 2 nor -2.
#[track_caller]
pub fn cond(x: &Array, order: impl Into<NormOrder>) -> Array {
    let (x, order) = (inexact(x), order.into());
    assert!(
        x.ndim() >= 2 && !x.shape()[x.ndim() - 2..].contains(&0),
        "cond: {} has no nonempty matrices along the last two axes\n  help: pass matrices with \
         at least one row and one column",
        x.aval()
    );
    let ratio = match order {
        NormOrder::P(2.0 | -2.0) => {
            let s = svdvals(&x);
            let (first, last) = (s.slice_in_dim(0, 1, 1, -1), {
                let n = s.shape()[s.ndim() - 1];
                s.slice_in_dim(n - 1, n, 1, -1)
            });
            let ratio = match order {
                NormOrder::P(2.0) => return (first / last).squeeze(&[-1]),
                _ => last / first,
            };
            ratio.squeeze(&[-1])
        }
        _ => matrix_norm_with(&x, order) * matrix_norm_with(&inv(&x), order),
    };
    let unknown = x.is_nan().any_over([-2, -1]);
    let singular = ratio.is_nan().bitwise_and(unknown.logical_not());
    where_(&singular, f64::INFINITY, ratio)
}
