//! Determinants.

use super::matrix::{diagonals, matrix_shape, permuted, typed_as};
use super::{TriangularSolve, inexact, lu, solve, triangular_solve};
use crate::prim::fused::{fused, fused1};
use crate::{Array, DType, concatenate, custom_jvp, where_};

/// Computes the signs and the logarithms of the magnitudes of determinants
/// (`jax.numpy.linalg.slogdet`) of square matrices `[.., n, n]`. The sign of a complex
/// determinant is a complex number of magnitude 1; the logarithm is real. For a determinant of 0,
/// the results are 0 and -∞.
///
/// ```no_run
/// use ramie_core::{Array, linalg};
/// let (sign, logabsdet) = linalg::slogdet(&Array::from([[0.0f32, 1.0], [1.0, 0.0]]));
/// assert_eq!((sign.item::<f32>(), logabsdet.item::<f32>()), (-1.0, 0.0));
/// ```
///
/// # Panics
/// Panics if the matrices are not square, or if the dtype is not `f32`, `f64`, `c64` or `c128`.
#[track_caller]
pub fn slogdet(a: &Array) -> (Array, Array) {
    let a = super::expect_square("slogdet", &inexact(a));
    let mut parts = fused("slogdet", (), &[a], |args| {
        // The derivative of the logarithm of the determinant is the trace of A⁻¹ A'. Its real
        // part belongs to the magnitude, its imaginary part to the sign.
        let f = custom_jvp(
            |a: Array| match matrix_shape(&a).0 {
                1 | 2 => slogdet_of_few(&a),
                _ => slogdet_by_lu(&a),
            },
            |a: Array, tangent: Array| {
                let (sign, value) = slogdet(&a);
                let dot = diagonals(&solve(&a, &tangent)).sum_over(-1);
                let (value_dot, sign_dot) = if a.dtype().is_complex() {
                    (dot.real(), (&dot - typed_as(&dot.real(), &dot)) * &sign)
                } else {
                    (dot, sign.zeros_like())
                };
                ((sign, value), (sign_dot, value_dot))
            },
        );
        let (sign, value) = f(args[0].clone());
        vec![sign, value]
    })
    .into_iter();
    let mut next = || parts.next().expect("two results");
    (next(), next())
}

/// Computes the result for matrices of one or two rows from their elements.
fn slogdet_of_few(a: &Array) -> (Array, Array) {
    let value = match matrix_shape(a).0 {
        1 => a.squeeze(&[-2, -1]),
        _ => det_of(a),
    };
    (value.sign(), value.abs().log())
}

fn slogdet_by_lu(a: &Array) -> (Array, Array) {
    let factors = lu(a);
    let diagonal = diagonals(&factors.lu);
    let zero = diagonal.eq(0).any_over(-1);
    let sign = if a.dtype().is_complex() {
        let factor = where_(zero.expand_dims(&[-1]), diagonal.ones_like(), &diagonal);
        let turns = odd(&exchanges(&factors.pivots));
        where_(&turns, -1, Array::scalar(1, a.dtype())) * factor.sign().prod_over(-1)
    } else {
        let negative = diagonal.lt(0).astype(DType::I32).sum_over(-1);
        let turns = odd(&(exchanges(&factors.pivots) + negative));
        where_(&turns, -1, Array::scalar(1, a.dtype()))
    };
    let value = diagonal.abs().log().sum_over(-1);
    (
        where_(&zero, sign.zeros_like(), &sign),
        where_(&zero, f64::NEG_INFINITY, value),
    )
}

/// Counts the pivots that are not on the diagonal.
fn exchanges(pivots: &Array) -> Array {
    let index = Array::iota(&[pivots.shape()[pivots.ndim() - 1]], 0, DType::I32);
    pivots.ne(index).astype(DType::I32).sum_over(-1)
}

fn odd(count: &Array) -> Array {
    count.bitwise_and(1).ne(0)
}

/// Computes the determinants of square matrices `[.., n, n]` (`jax.numpy.linalg.det`).
///
/// Derivatives of up to three rows are also correct for a determinant of 0. Those of more rows
/// are 0 if a pivot of the LU decomposition before the last is 0, as in JAX. This is wrong for some
/// matrices of rank `n - 1`.
///
/// ```no_run
/// use ramie_core::{Array, linalg};
/// assert_eq!(linalg::det(&Array::from([[1.0f32, 2.0], [2.0, 3.0]])).item::<f32>(), -1.0);
/// ```
///
/// # Panics
/// Panics if the matrices are not square, or if the dtype is not `f32`, `f64`, `c64` or `c128`.
#[track_caller]
pub fn det(a: &Array) -> Array {
    let a = super::expect_square("det", &inexact(a));
    fused1("det", (), &[a], |args| det_of(&args[0]))
}

fn det_of(a: &Array) -> Array {
    let f = custom_jvp(
        |a: Array| match matrix_shape(&a).0 {
            2 | 3 => det_of_few(&a),
            _ => {
                let (sign, value) = slogdet_by_lu(&a);
                sign * value.exp()
            }
        },
        |a: Array, tangent: Array| match matrix_shape(&a).0 {
            2 | 3 => (det_of(&a), tangent_of_few(&a, &tangent)),
            _ => {
                let (value, product) = cofactors_times(&a, &tangent);
                (value, diagonals(&product).sum_over(-1))
            }
        },
    );
    f(a.clone())
}

/// Computes determinants of few rows by elimination with row exchanges. The products of elements
/// would overflow or cancel where the determinant does not.
fn det_of_few(a: &Array) -> Array {
    let mut rows = a.unstack(-2);
    let column = |row: &Array, j: usize| row.slice_in_dim(j, j + 1, 1, -1);
    let mut value = column(&rows[0], 0).ones_like();
    for k in 0..rows.len() {
        for i in k + 1..rows.len() {
            let larger = column(&rows[i], k).abs().gt(column(&rows[k], k).abs());
            let upper = where_(&larger, &rows[i], &rows[k]);
            rows[i] = where_(&larger, &rows[k], &rows[i]);
            rows[k] = upper;
            value = where_(&larger, -&value, &value);
        }
        let pivot = column(&rows[k], k);
        let zero = pivot.eq(0);
        let divisor = where_(&zero, pivot.ones_like(), &pivot);
        for i in k + 1..rows.len() {
            let factor = where_(&zero, pivot.zeros_like(), column(&rows[i], k) / &divisor);
            rows[i] = &rows[i] - factor * &rows[k];
        }
        value *= pivot;
    }
    value.squeeze(&[-1])
}

/// Computes the derivative of determinants of two or three rows: the sum of the determinants in
/// which the tangent replaces one row.
fn tangent_of_few(a: &Array, tangent: &Array) -> Array {
    let (rows, tangents) = (a.unstack(-2), tangent.unstack(-2));
    let with_tangent = |i: usize| {
        let mut rows = rows.clone();
        rows[i] = tangents[i].clone();
        sum_of_products(&rows)
    };
    (1..rows.len()).fold(with_tangent(0), |sum, i| sum + with_tangent(i))
}

/// Computes the determinants of two or three rows as sums of products of elements.
fn sum_of_products(rows: &[Array]) -> Array {
    let at = |i: usize, j: usize| rows[i].slice_in_dim(j, j + 1, 1, -1).squeeze(&[-1]);
    if rows.len() == 2 {
        return at(0, 0) * at(1, 1) - at(0, 1) * at(1, 0);
    }
    let term = |i: usize, j: usize, k: usize| at(0, i) * at(1, j) * at(2, k);
    term(0, 1, 2) + term(1, 2, 0) + term(2, 0, 1) - term(2, 1, 0) - term(0, 2, 1) - term(1, 0, 2)
}

/// Computes determinants and the transposed cofactors times `b`, which equal `det(A) A⁻¹ B` if
/// the inverse exists.
///
/// The last elimination step divides by the last pivot, which is 0 for a singular matrix of rank
/// `n - 1`. Multiplied by the determinant, this quotient is the product of the other pivots.
fn cofactors_times(a: &Array, b: &Array) -> (Array, Array) {
    let n = matrix_shape(a).0;
    if n == 0 {
        return (
            Array::ones(&a.shape()[..a.ndim() - 2], a.dtype()),
            b.clone(),
        );
    }
    if n == 1 {
        return (a.squeeze(&[-2, -1]), b.clone());
    }
    let factors = lu(a);
    let sign = where_(
        odd(&exchanges(&factors.pivots)),
        -1,
        Array::scalar(1, a.dtype()),
    );
    let partial = diagonals(&factors.lu).cumprod(-1) * sign.expand_dims(&[-1]);
    let last = |x: &Array, back: usize| x.slice_in_dim(n - back, n - back + 1, 1, -1);
    let value = last(&partial, 1);
    let corner = Array::iota(&[n, n], 0, DType::I32) + Array::iota(&[n, n], 1, DType::I32);
    let others = last(&partial, 2).expand_dims(&[-1]);
    let changed = where_(corner.eq(2 * n - 2), 1 / others, &factors.lu);
    let left = TriangularSolve::new().left_side();
    // For a lower rank, all cofactors are 0.
    let ones = Array::ones(&[&b.shape()[..b.ndim() - 1], &[1]].concat(), b.dtype());
    let known = triangular_solve(&changed, &ones, left).abs().is_finite();
    let known = known.all_over([-2, -1]).expand_dims(&[-2, -1]);
    let x = permuted(&where_(&known, b, b.zeros_like()), &factors.permutation);
    let x = triangular_solve(&factors.lu, &x, left.lower().unit_diagonal());
    let x = concatenate(
        &[
            x.slice_in_dim(0, n - 1, 1, -2) * value.expand_dims(&[-1]),
            x.slice_in_dim(n - 1, n, 1, -2),
        ],
        -2,
    );
    let x = triangular_solve(&changed, &x, left);
    (value.squeeze(&[-1]), where_(&known, &x, x.zeros_like()))
}
