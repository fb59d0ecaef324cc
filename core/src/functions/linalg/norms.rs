//! Norms and condition numbers.

use super::{inexact, inv, svdvals};
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
        "norm: expects a vector or a matrix, got {}\n  help: use `norm_axes` to choose one axis for \
         vectors or two axes for matrices",
        x.aval()
    );
    norm_axes(x, order, &[0, 1][..x.ndim()], false)
}

/// Computes [`norm`] over one axis of vectors or two axes of matrices, rows first
/// (`jax.numpy.linalg.norm` with `axis=`). If `keepdims` is true, the axes are kept with size 1.
/// For the Euclidean norm over any axes, use [`Array::norm_axes`].
///
/// ```no_run
/// use ramie_core::{Array, linalg};
/// let x = Array::from([[3.0f32, -4.0], [0.0, 5.0]]);
/// assert_eq!(linalg::norm_axes(&x, 1, &[1], false).to_vec::<f32>(), [7.0, 5.0]);
/// ```
///
/// # Panics
/// Panics if there are not one or two axes, if an axis is out of range, or if the order is not
/// defined for matrices.
#[track_caller]
pub fn norm_axes(x: &Array, order: impl Into<NormOrder>, axes: &[isize], keepdims: bool) -> Array {
    let order = order.into();
    match axes {
        [_] => match order {
            NormOrder::P(p) => vector_norm(x, p, axes, keepdims),
            other => panic!(
                "norm: the {other:?} norm is not defined for vectors\n  help: pass two axes for \
                 matrices, or a number as the order"
            ),
        },
        [_, _] => norm_of_matrices(x, order, axes, keepdims),
        _ => panic!(
            "norm: expects one or two axes, got {} axes\n  help: pass one axis for vectors or \
             two axes for matrices; `vector_norm` and `Array::norm_axes` accept any number",
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
/// assert_eq!(linalg::vector_norm(&x, 0.0, &[0], false).item::<f32>(), 2.0);
/// assert_eq!(linalg::vector_norm(&x, f64::INFINITY, &[0], false).item::<f32>(), 4.0);
/// ```
///
/// # Panics
/// Panics if an axis is out of range or given twice, or if `p` is -∞ and there are no elements.
#[track_caller]
pub fn vector_norm(x: &Array, p: f64, axes: &[isize], keepdims: bool) -> Array {
    let x = inexact(x);
    let sum = |x: &Array| match keepdims {
        true => x.sum_keepdims(axes),
        false => x.sum_axes(axes),
    };
    if p == 2.0 {
        sum(&x.squared_magnitude()).sqrt()
    } else if p == f64::INFINITY {
        largest(&x.abs(), axes, keepdims)
    } else if p == f64::NEG_INFINITY {
        smallest(&x.abs(), axes, keepdims)
    } else if p == 0.0 {
        sum(&x.ne(0).astype(x.dtype().real()))
    } else if p == 1.0 {
        sum(&x.abs())
    } else {
        sum(&x.abs().power(p)).power(1.0 / p)
    }
}

/// Computes a norm of the matrices along the last two axes (`jax.numpy.linalg.matrix_norm`).
///
/// # Panics
/// Panics if `x` has fewer than two axes, or if the order is not defined for matrices.
#[track_caller]
pub fn matrix_norm(x: &Array, order: impl Into<NormOrder>, keepdims: bool) -> Array {
    norm_axes(x, order, &[-2, -1], keepdims)
}

/// Computes the largest magnitude, or 0 if there are no elements.
#[track_caller]
fn largest(x: &Array, axes: &[isize], keepdims: bool) -> Array {
    if axes.iter().any(|&d| x.shape()[x.axis("norm", d)] == 0) {
        return match keepdims {
            true => x.sum_keepdims(axes),
            false => x.sum_axes(axes),
        };
    }
    match keepdims {
        true => x.max_keepdims(axes),
        false => x.max_axes(axes),
    }
}

#[track_caller]
fn smallest(x: &Array, axes: &[isize], keepdims: bool) -> Array {
    match keepdims {
        true => x.min_keepdims(axes),
        false => x.min_axes(axes),
    }
}

#[track_caller]
fn norm_of_matrices(x: &Array, order: NormOrder, axes: &[isize], keepdims: bool) -> Array {
    let x = inexact(x);
    let normalized = x.axes("norm", axes);
    let (row, column) = (normalized[0] as isize, normalized[1] as isize);
    let sums = |axis: isize| x.abs().sum_keepdims(&[axis]);
    let kept = match order {
        NormOrder::Frobenius => x.squared_magnitude().sum_keepdims(axes).sqrt(),
        NormOrder::P(1.0) => largest(&sums(row), &[column], true),
        NormOrder::P(-1.0) => smallest(&sums(row), &[column], true),
        NormOrder::P(f64::INFINITY) => largest(&sums(column), &[row], true),
        NormOrder::P(f64::NEG_INFINITY) => smallest(&sums(column), &[row], true),
        NormOrder::Nuclear | NormOrder::P(2.0 | -2.0) => {
            let mut rest: Vec<isize> = (0..x.ndim() as isize)
                .filter(|d| *d != row && *d != column)
                .collect();
            rest.extend([row, column]);
            let s = svdvals(&x.transpose(&rest));
            let value = match order {
                NormOrder::Nuclear => s.sum_axes(&[-1]),
                NormOrder::P(2.0) => largest(&s, &[-1], false),
                _ => smallest(&s, &[-1], false),
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
    match keepdims {
        true => kept,
        false => kept.squeeze(&[row, column]),
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
        _ => matrix_norm(&x, order, false) * matrix_norm(&inv(&x), order, false),
    };
    let unknown = x.is_nan().any_axes(&[-2, -1]);
    let singular = ratio.is_nan().bitwise_and(unknown.logical_not());
    where_(&singular, f64::INFINITY, ratio)
}
