//! Systems of linear equations.

use super::matrix::{adjoint, matrix_shape, permuted};
use super::{CholeskyFactor, Transposed, Triangle, inexact, triangular_solve};
use crate::functions::linalg::primitives::{
    LinearSolve, Lu, LuPivotsToPermutation, TriangularSolve,
};
use crate::numpy::broadcast_shapes;
use crate::prim::operands::promote_all;
use crate::program::trace::{bind, bind1};
use crate::typing::Dims;
use crate::{Array, DType};

/// An LU decomposition, `P A = L U`, of matrices `A` of shape `[.., m, n]`.
#[derive(Clone, Debug)]
pub struct LuFactors {
    /// `U` on and above the diagonal, and `L` without its unit diagonal below it, `[.., m, n]`.
    pub lu: Array,
    /// The row with which each row was exchanged, in order; `i32`, `[.., min(m, n)]`.
    pub pivots: Array,
    /// The rows of `A` in the order of the rows of `L U`; `i32`, `[.., m]`.
    pub permutation: Array,
}

super::tree_of_arrays!(LuFactors {
    lu,
    pivots,
    permutation
});

impl LuFactors {
    /// Returns `L`, lower triangular with a unit diagonal, `[.., m, min(m, n)]`.
    pub fn lower(&self) -> Array {
        let (rows, columns) = matrix_shape(&self.lu);
        let k = rows.min(columns);
        let lower = self.lu.slice_in_dim(0, k, 1, -1).tril(-1);
        lower + Array::tri(rows, k, 0, self.lu.dtype()).triu(0)
    }

    /// Returns `U`, upper triangular, `[.., min(m, n), n]`.
    pub fn upper(&self) -> Array {
        let (rows, columns) = matrix_shape(&self.lu);
        self.lu.slice_in_dim(0, rows.min(columns), 1, -2).triu(0)
    }

    /// Returns the transposes of `P` as matrices, with `A = Pᵀ L U`, `[.., m, m]`.
    pub fn permutation_matrix(&self) -> Array {
        let rows = matrix_shape(&self.lu).0;
        let index = Array::iota(&[rows, 1], 0, DType::I32);
        index
            .eq(self.permutation.expand_dims(&[-2]))
            .astype(self.lu.dtype())
    }
}

/// Computes the LU decomposition with partial pivoting (`jax.lax.linalg.lu`,
/// `jax.scipy.linalg.lu_factor`) of matrices `[.., m, n]`.
///
/// ```no_run
/// use ramie_core::{Array, linalg};
/// let a = Array::from([[1.0f32, 2.0], [2.0, 2.0]]);
/// let factors = linalg::lu(&a);
/// assert_eq!(factors.permutation.to_vec::<i32>(), [1, 0]);
/// assert_eq!(factors.upper().to_vec::<f32>(), [2.0, 2.0, 0.0, 1.0]);
/// ```
///
/// # Panics
/// Panics if `a` has fewer than two axes, or if its dtype is not `f32`, `f64`, `c64` or `c128`.
#[track_caller]
pub fn lu(a: &Array) -> LuFactors {
    let mut parts = bind(Lu, &[&inexact(a)]).into_iter();
    let mut next = || parts.next().expect("three results");
    LuFactors {
        lu: next(),
        pivots: next(),
        permutation: next(),
    }
}

/// Converts the pivots of [`lu`], `[.., k]`, to the permutations of `permutation_size` rows that
/// result from the exchanges, `[.., permutation_size]`
/// (`jax.lax.linalg.lu_pivots_to_permutation`).
///
/// # Panics
/// Panics if the pivots are not integers, or if there are more pivots than rows.
#[track_caller]
pub fn lu_pivots_to_permutation(pivots: &Array, permutation_size: usize) -> Array {
    bind1(LuPivotsToPermutation { permutation_size }, &[pivots])
}

/// Solves `L U X = P B`, or `(Pᵀ L U)ᵀ X = B`, for operands of the same batch shape.
pub(crate) fn solve_by_factors(
    lu: &Array,
    permutation: &Array,
    b: &Array,
    transpose: bool,
) -> Array {
    let left = TriangularSolve::new().left_side();
    let unit = left.lower().unit_diagonal();
    if !transpose {
        let x = triangular_solve(lu, &permuted(b, permutation), unit);
        return triangular_solve(lu, &x, left);
    }
    let x = triangular_solve(lu, b, left.transpose_a());
    let x = triangular_solve(lu, &x, unit.transpose_a());
    permuted(&x, &permutation.argsort(-1))
}

/// Solves `A x = b` (`jax.scipy.linalg.lu_solve`) with the LU decomposition of `A`.
///
/// For a matrix `[n, n]`, `b` is `[n]` or `[n, k]`; batch axes broadcast as in [`solve`].
/// Derivatives propagate through the decomposition.
///
/// # Panics
/// Panics if the matrices are not square, if the shapes do not fit, or if the dtypes differ.
#[track_caller]
pub fn lu_solve(factors: &LuFactors, b: &Array) -> Array {
    lu_solve_of(factors, b, false)
}

/// Same as [`lu_solve`], but solves `Aᵀ x = b` (`trans=1` in JAX).
///
/// # Panics
/// Panics in the same cases as `lu_solve`.
#[track_caller]
pub fn lu_solve_with(factors: &LuFactors, b: &Array, _: Transposed) -> Array {
    lu_solve_of(factors, b, true)
}

#[track_caller]
fn lu_solve_of(factors: &LuFactors, b: &Array, transpose: bool) -> Array {
    let lu = super::expect_square("lu_solve", &factors.lu);
    solve_broadcast("lu_solve", lu.shape(), b, |batch, b| {
        let lu = lu.broadcast_to(&[batch, &lu.shape()[lu.ndim() - 2..]].concat());
        let rows = matrix_shape(&lu).0;
        let permutation = factors.permutation.broadcast_to(&[batch, &[rows]].concat());
        solve_by_factors(&lu, &permutation, b, transpose)
    })
}

/// Broadcasts the batch axes of square matrices of `shape` and of right-hand sides, and solves
/// for columns. `solve` receives the batch shape and `b` as `[batch.., n, k]`.
#[track_caller]
fn solve_broadcast(
    operation: &str,
    shape: &[usize],
    b: &Array,
    solve: impl FnOnce(&[usize], &Array) -> Array,
) -> Array {
    let (matrices, size) = (&shape[..shape.len() - 2], shape[shape.len() - 1]);
    let vector = b.ndim() == 1;
    let columns = if vector {
        b.expand_dims(&[-1])
    } else {
        b.clone()
    };
    let rows = (columns.ndim() >= 2).then(|| columns.shape()[columns.ndim() - 2]);
    if rows != Some(size) {
        panic!(
            "{operation}: matrices of shape {shape:?} do not fit right-hand sides of shape \
             {:?}\n  help: pass a vector [{size}], or columns [.., {size}, k]; for a batch of \
             vectors, add an axis: b.expand_dims(&[-1])",
            b.shape()
        );
    }
    let (own, right) = (columns.ndim() - 2, columns.shape()[columns.ndim() - 1]);
    if matrices.is_empty() && own > 0 {
        // One matrix: places the columns of the whole batch side by side.
        let moved = columns.move_axis(-2, 0);
        let x = solve(&[], &moved.reshape(&[size, moved.size() / size.max(1)]));
        return x.reshape(moved.shape()).move_axis(0, -2);
    }
    let Some(batch) = broadcast_shapes(&[matrices, &columns.shape()[..own]]) else {
        panic!(
            "{operation}: the batch axes of matrices {shape:?} and right-hand sides {:?} do not \
             broadcast together\n  help: all axes except the last two must agree or be 1",
            b.shape()
        );
    };
    let columns = columns.broadcast_to(&[&batch, &[size, right][..]].concat());
    let x = solve(&batch, &columns);
    if vector { x.squeeze(&[-1]) } else { x }
}

/// Solves `A x = b` (`jax.numpy.linalg.solve`) for square matrices `[.., n, n]`.
///
/// A 1-d `b` is a single vector; otherwise it has columns, `[.., n, k]`. Batch axes broadcast. A
/// singular matrix gives infinities or NaN. Derivatives reuse the decomposition of the solution.
///
/// ```no_run
/// use ramie_core::{Array, linalg};
/// let a = Array::from([[2.0f32, 0.0], [0.0, 4.0]]);
/// assert_eq!(linalg::solve(&a, &Array::from([2.0f32, 2.0])).to_vec::<f32>(), [1.0, 0.5]);
/// ```
///
/// # Panics
/// Panics if the matrices are not square, if the shapes do not fit, or if a dtype is not `f32`,
/// `f64`, `c64` or `c128`.
#[track_caller]
pub fn solve(a: &Array, b: &Array) -> Array {
    let [a, b] = [a, b].map(inexact);
    let [a, b]: [Array; 2] = promote_all("solve", &[a, b])
        .try_into()
        .expect("two arrays");
    let a = super::expect_square("solve", &a);
    let factors = lu(&a.stop_gradient());
    solve_broadcast("solve", a.shape(), &b, |batch, b| {
        let whole =
            |x: &Array, own: usize| x.broadcast_to(&[batch, &x.shape()[x.ndim() - own..]].concat());
        let system = [
            &whole(&a, 2),
            &whole(&factors.lu, 2),
            &whole(&factors.permutation, 1),
            b,
        ];
        bind1(LinearSolve { transpose: false }, &system)
    })
}

/// Computes the inverses of square matrices `[.., n, n]` (`jax.numpy.linalg.inv`). To solve a
/// system, [`solve`] is faster and more accurate.
///
/// ```no_run
/// use ramie_core::{Array, linalg};
/// let a = Array::from([[2.0f32, 0.0], [0.0, 4.0]]);
/// assert_eq!(linalg::inv(&a).to_vec::<f32>(), [0.5, 0.0, 0.0, 0.25]);
/// ```
///
/// # Panics
/// Panics if the matrices are not square, or if the dtype is not `f32`, `f64`, `c64` or `c128`.
#[track_caller]
pub fn inv(a: &Array) -> Array {
    let a = super::expect_square("inv", &inexact(a));
    let (rows, batch) = (matrix_shape(&a).0, &a.shape()[..a.ndim() - 2]);
    let ones = Array::eye(rows, a.dtype());
    solve(&a, &ones.broadcast_to(&[batch, &[rows, rows]].concat()))
}

/// Solves `A x = b` for upper triangular matrices `[.., n, n]`
/// (`jax.scipy.linalg.solve_triangular`). Only that triangle of `a` is read.
///
/// # Panics
/// Panics in the same cases as [`solve`].
#[track_caller]
pub fn solve_triangular(a: &Array, b: &Array) -> Array {
    solve_triangular_with(a, b, TriangularSolve::new())
}

/// Same as [`solve_triangular`], with options: lower triangular matrices, a transposed system, or
/// a diagonal of ones. The matrices are always on the left.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_core::linalg::{TriangularSolve, solve_triangular_with};
/// let a = Array::from([[2.0f32, 0.0], [1.0, 4.0]]);
/// let b = Array::from([2.0f32, 9.0]);
/// let x = solve_triangular_with(&a, &b, TriangularSolve::new().lower());
/// assert_eq!(x.to_vec::<f32>(), [1.0, 2.0]);
/// ```
///
/// # Panics
/// Panics in the same cases as [`solve`].
#[track_caller]
pub fn solve_triangular_with(a: &Array, b: &Array, options: TriangularSolve) -> Array {
    let [a, b] = [a, b].map(inexact);
    let [a, b]: [Array; 2] = promote_all("solve_triangular", &[a, b])
        .try_into()
        .expect("two arrays");
    let a = super::expect_square("solve_triangular", &a);
    let options = options.left_side();
    solve_broadcast("solve_triangular", a.shape(), &b, |batch, b| {
        let shape: Dims = [batch, &a.shape()[a.ndim() - 2..]].concat().into();
        triangular_solve(&a.broadcast_to(&shape), b, options)
    })
}

/// Computes the upper triangular Cholesky decomposition for [`cho_solve`], from the upper triangle
/// of `a` (`jax.scipy.linalg.cho_factor`).
///
/// # Panics
/// Panics in the same cases as [`cholesky`](super::cholesky).
#[track_caller]
pub fn cho_factor(a: &Array) -> Array {
    cho_factor_with(a, Triangle::Upper)
}

/// Same as [`cho_factor`], but the result is computed from the given triangle of `a`, and has its
/// elements there.
///
/// # Panics
/// Panics in the same cases as `cho_factor`.
#[track_caller]
pub fn cho_factor_with(a: &Array, triangle: Triangle) -> Array {
    let lower = CholeskyFactor::new().unsymmetrized();
    match triangle {
        Triangle::Lower => super::cholesky_with(a, lower),
        Triangle::Upper => {
            let a = adjoint(&super::expect_square("cho_factor", a));
            super::cholesky_with(&a, lower.upper())
        }
    }
}

/// Solves `A x = b` with the upper triangular Cholesky decomposition of `A`
/// (`jax.scipy.linalg.cho_solve`).
///
/// # Panics
/// Panics in the same cases as [`solve`].
#[track_caller]
pub fn cho_solve(factor: &Array, b: &Array) -> Array {
    cho_solve_with(factor, b, Triangle::Upper)
}

/// Same as [`cho_solve`], with a decomposition in the given triangle.
///
/// # Panics
/// Panics in the same cases as `cho_solve`.
#[track_caller]
pub fn cho_solve_with(factor: &Array, b: &Array, triangle: Triangle) -> Array {
    let (factor, lower) = (
        super::expect_square("cho_solve", factor),
        triangle == Triangle::Lower,
    );
    let left = TriangularSolve {
        lower,
        ..TriangularSolve::new().left_side()
    };
    // L Lᴴ x = b, or Uᴴ U x = b.
    let (first, then) = if lower {
        (left, left.adjoint_a())
    } else {
        (left.adjoint_a(), left)
    };
    solve_broadcast("cho_solve", factor.shape(), b, |batch, b| {
        let factor = factor.broadcast_to(&[batch, &factor.shape()[factor.ndim() - 2..]].concat());
        triangular_solve(&factor, &triangular_solve(&factor, b, first), then)
    })
}
