//! GMRES, the generalized minimal residual method, for matrices given as functions.

use super::Iteration;
use super::iterative::{expect_inexact, expect_one_field};
use super::matrix::squared_magnitude;
use crate::functions::implicit::{LinearFn, TransposeSolve, custom_linear_solve};
use crate::prim::control::functions::while_loop;
use crate::program::tree;
use crate::{Array, DType, Tree, concatenate, where_};

/// Solves `matvec(x) = b` for any matrix by GMRES (Saad and Schultz 1986;
/// `jax.scipy.sparse.linalg.gmres`). The solution is differentiable, in both modes, with respect
/// to `b` and to what `matvec` captures; derivatives solve systems of the same matrix and its
/// transpose.
///
/// It restarts after twenty steps; use [`gmres_with`] for another number.
///
/// ```
/// use ramie_core::{Array, linalg};
/// let a = Array::from([[4.0f32, 2.0], [1.0, 3.0]]);
/// let x = linalg::gmres(|x| a.dot(&x), Array::from([8.0f32, 7.0]));
/// assert!(x.allclose_with(&Array::from([1.0f32, 2.0]), (1e-4, 1e-4)).item::<bool>());
/// ```
///
/// # Panics
/// Panics if `matvec` returns a tree that differs from `b`, if `b` has both real and complex
/// leaves, or if a leaf of `b` is an integer or a boolean.
#[track_caller]
pub fn gmres<T: Tree>(matvec: impl Fn(T) -> T, b: T) -> T {
    gmres_with(matvec, b, |r| r, 20, Iteration::default())
}

/// Runs [`gmres`] with a preconditioner, which approximates the inverse matrix, the number of
/// steps between restarts, and limits. Memory is needed for one vector per step; `max_iterations`
/// limits the number of restarts. The gradient solves the transposed system with the same
/// preconditioner.
///
/// The least-squares problem of each cycle is solved incrementally by rotations, like JAX's
/// `solve_method="incremental"`, so that a cycle ends as soon as the residual is small enough.
///
/// # Panics
/// Panics in the same cases as [`gmres`], or if `restart` is 0.
#[track_caller]
pub fn gmres_with<T: Tree>(
    matvec: impl Fn(T) -> T,
    b: T,
    preconditioner: impl Fn(T) -> T,
    restart: usize,
    options: Iteration<T>,
) -> T {
    assert!(
        restart > 0,
        "gmres: restart is 0\n  help: pass the number of steps between restarts, for example 20"
    );
    expect_inexact("gmres", &b);
    expect_one_field("gmres", &b);
    let solve = |matvec: LinearFn<'_, T>, b: T| {
        let (side, unravel) = tree::ravel(&b);
        let size = side.size();
        if size == 0 {
            return b;
        }
        let ravel = |x: T| tree::ravel(&x).0.astype(side.dtype());
        let condition = |r: &Array| ravel(preconditioner(unravel(r)));
        let multiply = |x: &Array| ravel(matvec(unravel(x)));
        let krylov = Krylov {
            multiply: &|v| condition(&multiply(v)),
            steps: restart.min(size),
        };
        let (enough, most) = options.limits(&b);
        let enough = enough.sqrt().astype(side.dtype().real());
        let length = norm(&side);
        let empty = length.eq(0.0);
        let part = &enough / where_(&empty, 1.0, &length);
        let enough_within = norm(&condition(&side)) * part.minimum(1.0);
        let residual = |x: &Array| condition(&(&side - multiply(x)));
        let first = ravel(options.first(&b));
        let rest = residual(&first);
        let goes_on = |(_, rest, k): (Array, Array, Array)| norm(&rest).gt(&enough) & k.lt(most);
        let start = |(x, rest, k): (Array, Array, Array)| {
            let x = x + krylov.correction(&rest, &enough_within);
            let rest = residual(&x);
            (x, rest, k + 1)
        };
        let (x, ..) = while_loop(goes_on, start, (first, rest, Array::from(0i32)));
        unravel(&x)
    };
    custom_linear_solve(matvec, b, solve, TransposeSolve::By(&solve))
}

fn norm(x: &Array) -> Array {
    squared_magnitude(x).sum().sqrt()
}

/// One restart cycle: the Krylov space of a residual, and its images under the matrix.
struct Krylov<'a> {
    /// Multiplies by the matrix and applies the preconditioner.
    multiply: &'a dyn Fn(&Array) -> Array,
    /// Maximum number of steps.
    steps: usize,
}

/// The state of a cycle after some steps.
type CycleState = (Array, Array, Array, Array, Array);

impl Krylov<'_> {
    /// Computes the correction of `x` that minimizes the residual `rest` within this space.
    fn correction(&self, rest: &Array, enough: &Array) -> Array {
        let (m, dtype) = (self.steps, rest.dtype());
        let length = norm(rest);
        let basis = concatenate(
            &[
                (rest / &length).expand_dims(&[0]),
                Array::zeros(&[m, rest.size()], dtype),
            ],
            0,
        );
        // R is the matrix in the basis, after the rotations. Columns of steps that are not taken
        // remain those of the identity.
        let factor = Array::eye(m, dtype);
        let rotations = Array::eye(m + 1, dtype);
        let goes_on = |(_, _, _, error, k): CycleState| error.gt(enough) & k.lt(m as i32);
        let init = (basis, factor, rotations, length.clone(), Array::from(0i32));
        let step = |found: CycleState| self.step(found, &length);
        let (basis, factor, rotations, _, k) = while_loop(goes_on, step, init);
        let taken = Array::iota(&[m], 0, DType::I32).lt(&k);
        let pivots = factor.diagonal(0);
        // A pivot of zero belongs to a direction in the null space of a singular matrix.
        let found = taken & pivots.ne(0.0);
        let side = rotations.index((..m, 0)) * &length;
        let side = where_(&found, side, 0.0);
        let extra = where_(&found, pivots.zeros_like(), pivots.ones_like() - &pivots);
        let factor = factor + extra.diag(0);
        let parts = super::solve_triangular(&factor, &side);
        parts.dot(basis.index((..m,)))
    }

    /// Adds one vector to the basis, and the corresponding column of the matrix.
    fn step(&self, (basis, factor, rotations, _, k): CycleState, length: &Array) -> CycleState {
        let (m, dtype) = (self.steps, basis.dtype());
        let row = |matrix: &Array, at: &Array| matrix.dynamic_index_in_dim(at, 0).squeeze(&[0]);
        let image = (self.multiply)(&row(&basis, &k));
        // Gram-Schmidt orthogonalization, repeated to reduce rounding errors.
        let dual = basis.conj();
        let once = dual.dot(&image);
        let rest = &image - once.dot(&basis);
        let again = dual.dot(&rest);
        let rest = rest - again.dot(&basis);
        let new = norm(&rest);
        let new = where_(
            new.gt(norm(&image) * crate::dtypes::finfo(dtype.real()).eps),
            &new,
            0.0,
        );
        let none = new.eq(0.0);
        let vector = where_(&none, 0.0, rest / where_(&none, 1.0, &new));
        let next = &k + 1;
        let basis = basis.dynamic_update_index_in_dim(&vector, &next, 0);
        let indices = Array::iota(&[m + 1], 0, DType::I32);
        let column = once + again + where_(indices.eq(&next), &new, 0.0);
        // Applies the previous rotations, and one that zeroes the last element.
        let column = rotations.dot(&column);
        let (a, b) = (row(&column, &k), row(&column, &next));
        let r = a.abs().hypot(b.abs());
        let zero = r.eq(0.0);
        let divisor = where_(&zero, 1.0, &r);
        let cos = where_(&zero, 1.0, a / &divisor);
        let sin = b / divisor;
        let (upper, lower) = (row(&rotations, &k), row(&rotations, &next));
        let turned = cos.conj() * &upper + sin.conj() * &lower;
        let rotations = rotations.dynamic_update_index_in_dim(&turned, &k, 0);
        let turned = cos * lower - sin * upper;
        let rotations = rotations.dynamic_update_index_in_dim(&turned, &next, 0);
        let column = where_(indices.lt(&k), column, 0.0) + where_(indices.eq(&k), r, 0.0);
        let factor = factor.dynamic_update_index_in_dim(&column.index((..m,)), &k, 1);
        let error = row(&turned, &Array::from(0i32)).abs() * length;
        (basis, factor, rotations, error, next)
    }
}
