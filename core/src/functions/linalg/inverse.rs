//! Least squares, pseudo-inverses, ranks and inverses.

use super::matrix::{
    adjoint, epsilon, matrix_shape, product, squared_magnitude, symmetrized, transposed,
};
use super::{Cutoff, SvdMode, expect_square, inexact, inv, solve, svd_with, svdvals_with};
use crate::options::Reduction;
use crate::prim::fused::{fused, fused1};
use crate::prim::operands::promote_all;
use crate::{Array, DType, custom_jvp, where_};

/// Computes the pseudo-inverses (`jax.numpy.linalg.pinv`) of matrices `[.., m, n]`, as
/// `[.., n, m]`. Singular values up to `10 max(m, n)` times the largest and the machine epsilon of
/// the dtype count as zero.
///
/// ```no_run
/// use ramie_core::{Array, linalg};
/// let a = Array::from([[2.0f32, 0.0], [0.0, 0.0], [0.0, 4.0]]);
/// let inverse = linalg::pinv(&a);
/// let known = Array::from([[0.5f32, 0.0, 0.0], [0.0, 0.0, 0.25]]);
/// assert!(inverse.allclose(&known).item::<bool>());
/// ```
///
/// # Panics
/// Panics if `a` has fewer than two axes, or if its dtype is not `f32`, `f64`, `c64` or `c128`.
#[track_caller]
pub fn pinv(a: &Array) -> Array {
    pinv_with(a, Cutoff::new())
}

/// Same as [`pinv`], with a [`Cutoff`]: its threshold is relative to the largest singular value
/// (`rtol` in JAX).
///
/// # Panics
/// Panics in the same cases as `pinv`, and with [`Cutoff::hermitian`] if the matrices are not
/// square.
#[track_caller]
pub fn pinv_with(a: &Array, cutoff: impl Into<Cutoff>) -> Array {
    let (a, cutoff) = (inexact(a), cutoff.into());
    if cutoff.hermitian {
        return pinv_of(&symmetrized(&expect_square("pinv", &a)), cutoff);
    }
    assert!(
        a.ndim() >= 2,
        "pinv: {} is not a matrix\n  help: pass an array with at least two axes",
        a.aval()
    );
    pinv_of(&a, cutoff)
}

#[track_caller]
fn pinv_of(a: &Array, cutoff: Cutoff) -> Array {
    let fixed = (cutoff.threshold.map(f64::to_bits), cutoff.hermitian);
    fused1("pinv", fixed, std::slice::from_ref(a), |args| {
        pinv_with_rule(&args[0], cutoff)
    })
}

/// Defines the derivative of Golub and Pereyra, The differentiation of pseudo-inverses and
/// nonlinear least squares problems whose variables separate (1973).
fn pinv_with_rule(a: &Array, cutoff: Cutoff) -> Array {
    let f = custom_jvp(
        move |a: Array| pinv_by_svd(&a, cutoff),
        move |a: Array, tangent: Array| {
            let p = pinv_of(&a, cutoff);
            let (pt, tt) = (adjoint(&p), adjoint(&tangent));
            let outer = product(&product(&p, &pt), &tt);
            let inner = product(&tt, &product(&pt, &p));
            let dot = &outer - product(&outer, &product(&a, &p)) + &inner
                - product(&product(&p, &a), &inner)
                - product(&product(&p, &tangent), &p);
            (p, dot)
        },
    );
    f(a.clone())
}

fn pinv_by_svd(a: &Array, cutoff: Cutoff) -> Array {
    let (m, n) = matrix_shape(a);
    if a.size() == 0 {
        return transposed(a);
    }
    let mode = if cutoff.hermitian {
        SvdMode::Hermitian
    } else {
        SvdMode::Reduced
    };
    let parts = svd_with(a, mode);
    let rtol = cutoff
        .threshold
        .unwrap_or(10.0 * m.max(n) as f64 * epsilon(a.dtype()));
    let cutoff = parts.s.slice_in_dim(0, 1, 1, -1) * rtol;
    let sizes = where_(parts.s.gt(cutoff), &parts.s, f64::INFINITY);
    let scaled = adjoint(&parts.u) / sizes.expand_dims(&[-1]);
    product(&adjoint(&parts.vt), &scaled)
}

/// Computes the ranks of matrices (`jax.numpy.linalg.matrix_rank`), `i32`: the number of singular
/// values above the largest times `max(m, n)` times the machine epsilon of the dtype. An array of
/// fewer than two axes has rank 1 unless it is zero.
///
/// # Panics
/// Panics if the dtype is not `f32`, `f64`, `c64` or `c128`.
#[track_caller]
pub fn matrix_rank(a: &Array) -> Array {
    matrix_rank_with(a, Cutoff::new())
}

/// Same as [`matrix_rank`], with a [`Cutoff`]: its threshold is compared with the singular values
/// themselves, as in JAX.
///
/// # Panics
/// Panics in the same cases as `matrix_rank`, and with [`Cutoff::hermitian`] if the matrices are
/// not square.
#[track_caller]
pub fn matrix_rank_with(a: &Array, cutoff: impl Into<Cutoff>) -> Array {
    let (a, cutoff) = (inexact(a), cutoff.into());
    if cutoff.hermitian {
        let s = svdvals_with(&expect_square("matrix_rank", &a), SvdMode::Hermitian);
        return rank_of(&s, matrix_shape(&a), cutoff.threshold);
    }
    if a.ndim() < 2 {
        return a.ne(0).any().astype(DType::I32);
    }
    let s = svdvals_with(&a, SvdMode::Reduced);
    rank_of(&s, matrix_shape(&a), cutoff.threshold)
}

/// Counts the nonzero singular values of matrices of the given shape.
fn rank_of(s: &Array, (m, n): (usize, usize), tol: Option<f64>) -> Array {
    if s.size() == 0 {
        return s.sum_over(-1).astype(DType::I32);
    }
    let above =
        match tol {
            Some(tol) => s.gt(tol),
            None => s
                .gt(s.max_over(Reduction::over(-1).keepdims())
                    * (m.max(n) as f64 * epsilon(s.dtype()))),
        };
    above.astype(DType::I32).sum_over(-1)
}

/// The result of [`lstsq`].
#[derive(Clone, Debug)]
pub struct LeastSquares {
    /// The solution, `[n]` or `[n, k]`.
    pub x: Array,
    /// Sums of squared magnitudes of `b - A x`, one for each column, `[k]`. Real.
    pub residuals: Array,
    /// The rank of `A`, `i32`.
    pub rank: Array,
    /// Singular values of `A`, `[min(m, n)]`. Real.
    pub s: Array,
}

super::tree_of_arrays!(LeastSquares {
    x,
    residuals,
    rank,
    s
});

/// Solves a least-squares problem (`jax.numpy.linalg.lstsq`): among the `x` that minimize
/// `|A x - b|`, returns the one of least norm. `a` is one matrix `[m, n]`, `b` has shape `[m]` or
/// `[m, k]`. Singular values below `max(m, n)` times the largest and the machine epsilon of the
/// dtype count as zero.
///
/// ```no_run
/// use ramie_core::{Array, linalg};
/// // The line through (0, 1), (1, 3), (2, 5).
/// let a = Array::from([[0.0f32, 1.0], [1.0, 1.0], [2.0, 1.0]]);
/// let line = linalg::lstsq(&a, &Array::from([1.0f32, 3.0, 5.0])).x;
/// assert!(line.allclose_with(&Array::from([2.0f32, 1.0]), (1e-4, 1e-4)).item::<bool>());
/// ```
///
/// # Panics
/// Panics if `a` is not a single matrix, or if `b` has a different number of rows.
#[track_caller]
pub fn lstsq(a: &Array, b: &Array) -> LeastSquares {
    least_squares(a, b, None)
}

/// Same as [`lstsq`], but singular values below `rcond` times the largest count as zero. A
/// negative `rcond` stands for the machine epsilon of the dtype.
///
/// # Panics
/// Panics in the same cases as `lstsq`.
#[track_caller]
pub fn lstsq_with(a: &Array, b: &Array, rcond: f64) -> LeastSquares {
    least_squares(a, b, Some(rcond))
}

#[track_caller]
fn least_squares(a: &Array, b: &Array, rcond: Option<f64>) -> LeastSquares {
    let [a, b] = [a, b].map(inexact);
    let [a, b]: [Array; 2] = promote_all("lstsq", &[a, b])
        .try_into()
        .expect("two arrays");
    let fits = a.ndim() == 2 && matches!(b.ndim(), 1 | 2) && b.shape()[0] == a.shape()[0];
    assert!(
        fits,
        "lstsq: {} and {} do not fit\n  help: pass one matrix [m, n], and a right-hand side [m] \
         or [m, k]",
        a.aval(),
        b.aval()
    );
    let fixed = rcond.map(f64::to_bits);
    let mut parts = fused("lstsq", fixed, &[a, b], |args| {
        least_squares_by_svd(&args[0], &args[1], rcond)
    })
    .into_iter();
    let mut next = || parts.next().expect("four results");
    LeastSquares {
        x: next(),
        residuals: next(),
        rank: next(),
        s: next(),
    }
}

fn least_squares_by_svd(a: &Array, b: &Array, rcond: Option<f64>) -> Vec<Array> {
    let (m, n) = matrix_shape(a);
    let columns = if b.ndim() == 1 {
        b.expand_dims(&[-1])
    } else {
        b.clone()
    };
    let (x, rank, s) = if a.size() == 0 {
        let x = Array::zeros(&[n, columns.shape()[1]], a.dtype());
        (
            x,
            Array::scalar(0, DType::I32),
            Array::zeros(&[0], a.dtype().real()),
        )
    } else {
        let parts = svd_with(a, SvdMode::Reduced);
        let rcond = match rcond {
            Some(r) if r < 0.0 => epsilon(a.dtype()),
            Some(r) => r,
            None => m.max(n) as f64 * epsilon(a.dtype()),
        };
        let s = parts.s;
        let used = s
            .ge(s.slice_in_dim(0, 1, 1, 0) * rcond)
            .bitwise_and(s.gt(0));
        let inverse = where_(&used, 1 / where_(&used, &s, s.ones_like()), s.zeros_like());
        let turned = product(&adjoint(&parts.u), &columns);
        let x = product(&adjoint(&parts.vt), &(inverse.expand_dims(&[-1]) * turned));
        (x, used.astype(DType::I32).sum(), s)
    };
    let residuals = squared_magnitude(&(&columns - product(a, &x))).sum_over(0);
    let x = if b.ndim() == 1 { x.squeeze(&[-1]) } else { x };
    vec![x, residuals, rank, s]
}

/// Computes the inverse of a linear map between arrays (`jax.numpy.linalg.tensorinv`): `a` maps
/// an array with its axes from `ind` on to an array with its axes before `ind`.
///
/// # Panics
/// Panics if `ind` is 0, or if the two groups of axes have different numbers of elements.
#[track_caller]
pub fn tensorinv(a: &Array, ind: usize) -> Array {
    let (out, into) = a.shape().split_at(ind.min(a.ndim()));
    let size: usize = out.iter().product();
    assert!(
        ind > 0 && size == into.iter().product::<usize>(),
        "tensorinv: the first {ind} axes of {} have a different number of elements than the \
         others\n  help: pass another `ind`, at least 1",
        a.aval()
    );
    inv(&a.reshape(&[size, size])).reshape(&[into, out].concat())
}

/// Solves `tensordot(a, x, x.ndim()) = b` for `x` (`jax.numpy.linalg.tensorsolve`). The first
/// axes of `a` are those of `b`, the others those of `x`.
///
/// # Panics
/// Panics if the first axes of `a` differ from those of `b`, or if the others have a different
/// number of elements.
#[track_caller]
pub fn tensorsolve(a: &Array, b: &Array) -> Array {
    let (out, into) = a.shape().split_at(b.ndim().min(a.ndim()));
    assert!(
        out == b.shape() && into.iter().product::<usize>() == b.size(),
        "tensorsolve: {} does not map arrays of {} elements to {}\n  help: the first axes of a \
         must be those of b, and the others must have as many elements as b",
        a.aval(),
        b.size(),
        b.aval()
    );
    solve(&a.reshape(&[b.size(), b.size()]), &b.ravel()).reshape(into)
}

/// Raises matrices to an integer power (`jax.numpy.linalg.matrix_power`). Negative powers are
/// powers of the inverse.
///
/// # Panics
/// Panics if the matrices are not square.
#[track_caller]
pub fn matrix_power(a: &Array, n: i64) -> Array {
    let a = expect_square("matrix_power", a);
    if n == 0 {
        return Array::eye(a.shape()[a.ndim() - 1], a.dtype()).broadcast_to(a.shape());
    }
    let mut square = if n < 0 { inv(&a) } else { a };
    let (mut left, mut power) = (n.unsigned_abs(), None::<Array>);
    while left > 0 {
        if left & 1 == 1 {
            power = Some(match power {
                Some(p) => p.matmul(&square),
                None => square.clone(),
            });
        }
        left >>= 1;
        if left > 0 {
            square = square.matmul(&square);
        }
    }
    power.expect("n is not 0")
}
