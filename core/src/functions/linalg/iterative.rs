//! Iterative solvers of linear systems whose matrices are given as functions
//! (`jax.scipy.sparse.linalg`).

use crate::functions::implicit::{LinearFn, TransposeSolve, custom_linear_solve};
use crate::prim::control::functions::while_loop;
use crate::program::tree;
use crate::{Array, DType, Tree};

/// Initial guess and stopping criteria of an iteration.
#[derive(Clone, Debug)]
pub struct Iteration<T> {
    /// Initial guess. Defaults to zeros.
    pub x0: Option<T>,
    /// Relative tolerance: the norm of the residual divided by that of `b`. Defaults to 1e-5.
    pub tol: f64,
    /// Absolute tolerance of the residual's norm. Defaults to 0.
    pub atol: f64,
    /// Maximum number of steps. Defaults to ten times the number of unknowns.
    pub max_iterations: Option<usize>,
}

impl<T> Default for Iteration<T> {
    fn default() -> Self {
        Iteration {
            x0: None,
            tol: 1e-5,
            atol: 0.0,
            max_iterations: None,
        }
    }
}

/// Computes the sum of products of two trees' elements, those of the first tree conjugated, in
/// the widest dtype of both.
fn dot<T: Tree>(a: &T, b: &T) -> Array {
    let pairs = tree::leaves(a).into_iter().zip(tree::leaves(b));
    pairs
        .map(|(a, b)| (a.conj() * b).sum())
        .reduce(|sum, x| sum + x)
        .unwrap_or_else(|| Array::scalar(0.0, DType::F32))
}

/// Returns whether a right-hand side has complex leaves.
fn is_complex<T: Tree>(b: &T) -> bool {
    tree::leaves(b).iter().any(|x| x.dtype().is_complex())
}

/// Panics if a right-hand side has both real and complex leaves, for methods with complex
/// coefficients.
#[track_caller]
pub(super) fn expect_one_field<T: Tree>(operation: &str, b: &T) {
    let real = tree::leaves(b)
        .into_iter()
        .find(|x| !x.dtype().is_complex());
    if let Some(real) = real.filter(|_| is_complex(b)) {
        panic!(
            "{operation}: b has complex leaves, but {} is real\n  help: make all leaves complex: \
             x.astype(DType::C64)",
            real.aval()
        );
    }
}

/// Panics if a leaf of a right-hand side is an integer or a boolean.
#[track_caller]
pub(super) fn expect_inexact<T: Tree>(operation: &str, b: &T) {
    let leaves = tree::leaves(b);
    if let Some(leaf) = leaves.iter().find(|x| !x.dtype().is_inexact()) {
        panic!(
            "{operation}: b must contain floats or complex numbers, but a leaf is {}\n  help: \
             convert it first: x.astype(DType::F32)",
            leaf.aval()
        );
    }
}

/// Computes `a + scale * b`.
fn plus<T: Tree>(a: &T, scale: &Array, b: &T) -> T {
    tree::map2(a, b, |a, b| {
        (a + scale.astype(b.dtype()) * b).astype(a.dtype())
    })
}

fn zeros<T: Tree>(like: &T) -> T {
    tree::map(like, |a| a.zeros_like())
}

impl<T: Tree> Iteration<T> {
    /// Returns the squared tolerance of the residual's norm, and the maximum number of steps.
    pub(super) fn limits(&self, b: &T) -> (Array, i32) {
        let relative = dot(b, b).real() * (self.tol * self.tol);
        let unknowns: usize = tree::leaves(b).iter().map(Array::size).sum();
        let most = self.max_iterations.unwrap_or(10 * unknowns);
        let most = i32::try_from(most).unwrap_or(i32::MAX);
        (relative.maximum(self.atol * self.atol), most)
    }

    pub(super) fn first(&self, b: &T) -> T {
        match &self.x0 {
            Some(x) => tree::copy(x),
            None => zeros(b),
        }
    }

    /// Returns the initial guess and its residual.
    fn start(&self, matvec: impl Fn(T) -> T, b: &T) -> (T, T) {
        let x = self.first(b);
        let moved = matvec(tree::copy(&x));
        let r = plus(b, &Array::from(-1.0f32), &moved);
        (x, r)
    }

    /// Returns the condition of a loop over `((x, residual, direction), _, steps)`.
    fn goes_on(&self, b: &T) -> impl Fn(((T, T, T), Array, Array)) -> Array + use<T> {
        let (enough, most) = self.limits(b);
        move |((_, r, _), _, k)| dot(&r, &r).real().gt(&enough) & k.lt(most)
    }
}

/// Solves `matvec(x) = b` for a symmetric or Hermitian positive definite matrix by conjugate
/// gradients (Hestenes and Stiefel 1952; `jax.scipy.sparse.linalg.cg`). The solution is
/// differentiable, in both modes, with respect to `b` and to what `matvec` captures; derivatives
/// solve systems of the same matrix.
///
/// ```
/// use ramie_core::{Array, linalg};
/// let a = Array::from([[4.0f32, 1.0], [1.0, 3.0]]);
/// let x = linalg::cg(|x| a.dot(&x), Array::from([1.0f32, 2.0]));
/// let near = x.allclose_with(&Array::from([1.0f32 / 11.0, 7.0 / 11.0]), (1e-4, 1e-4));
/// assert!(near.item::<bool>());
/// ```
///
/// # Panics
/// Panics if `matvec` returns a tree that differs from `b`, or if a leaf of `b` is an integer or a
/// boolean.
#[track_caller]
pub fn cg<T: Tree>(matvec: impl Fn(T) -> T, b: T) -> T {
    cg_with(matvec, b, |r| r, Iteration::default())
}

/// Runs [`cg`] with a preconditioner, which approximates the inverse matrix, and limits.
///
/// # Panics
/// Panics in the same cases as [`cg`].
#[track_caller]
pub fn cg_with<T: Tree>(
    matvec: impl Fn(T) -> T,
    b: T,
    preconditioner: impl Fn(T) -> T,
    options: Iteration<T>,
) -> T {
    expect_inexact("cg", &b);
    let solve = |matvec: LinearFn<'_, T>, b: T| {
        let goes_on = options.goes_on(&b);
        let (x, r) = options.start(&matvec, &b);
        let z = preconditioner(tree::copy(&r));
        let (gamma, k) = (dot(&r, &z).real(), Array::from(0i32));
        let step = |((x, r, p), gamma, k): ((T, T, T), Array, Array)| {
            let moved = matvec(tree::copy(&p));
            let alpha = &gamma / dot(&p, &moved).real();
            let x = plus(&x, &alpha, &p);
            let r = plus(&r, &-alpha, &moved);
            let z = preconditioner(tree::copy(&r));
            let next = dot(&r, &z).real();
            let p = plus(&z, &(&next / gamma), &p);
            ((x, r, p), next, k + 1)
        };
        while_loop(goes_on, step, ((x, r, z), gamma, k)).0.0
    };
    // The transpose of a Hermitian matrix is its conjugate, which is also Hermitian.
    let transpose = if is_complex(&b) {
        TransposeSolve::By(&solve)
    } else {
        TransposeSolve::Symmetric
    };
    custom_linear_solve(matvec, b, solve, transpose)
}

/// Solves `matvec(x) = b` for any matrix by stabilized biconjugate gradients (van der Vorst 1992;
/// `jax.scipy.sparse.linalg.bicgstab`). The solution is differentiable in both modes.
///
/// ```
/// use ramie_core::{Array, linalg};
/// let a = Array::from([[4.0f32, 2.0], [1.0, 3.0]]);
/// let x = linalg::bicgstab(|x| a.dot(&x), Array::from([8.0f32, 7.0]));
/// assert!(x.allclose_with(&Array::from([1.0f32, 2.0]), (1e-4, 1e-4)).item::<bool>());
/// ```
///
/// # Panics
/// Panics if `matvec` returns a tree that differs from `b`, if `b` has both real and complex
/// leaves, or if a leaf of `b` is an integer or a boolean.
#[track_caller]
pub fn bicgstab<T: Tree>(matvec: impl Fn(T) -> T, b: T) -> T {
    bicgstab_with(matvec, b, |r| r, Iteration::default())
}

/// Runs [`bicgstab`] with a preconditioner, which approximates the inverse matrix, and
/// limits. The gradient solves the transposed system with the same preconditioner.
///
/// # Panics
/// Panics in the same cases as [`bicgstab`].
#[track_caller]
pub fn bicgstab_with<T: Tree>(
    matvec: impl Fn(T) -> T,
    b: T,
    preconditioner: impl Fn(T) -> T,
    options: Iteration<T>,
) -> T {
    expect_inexact("bicgstab", &b);
    expect_one_field("bicgstab", &b);
    let solve = |matvec: LinearFn<'_, T>, b: T| {
        let goes_on = options.goes_on(&b);
        let (x, r) = options.start(&matvec, &b);
        let shadow = tree::copy(&r);
        let rho = dot(&r, &r);
        let step = |((x, r, p), rho, k): ((T, T, T), Array, Array)| {
            let p_hat = preconditioner(tree::copy(&p));
            let v = matvec(tree::copy(&p_hat));
            let alpha = &rho / dot(&shadow, &v);
            let s = plus(&r, &-&alpha, &v);
            let s_hat = preconditioner(tree::copy(&s));
            let t = matvec(tree::copy(&s_hat));
            // If s is zero, x is the solution.
            let length = dot(&t, &t).real();
            let found = length.eq(0.0);
            let omega = crate::where_(
                &found,
                0.0,
                dot(&t, &s) / crate::where_(&found, 1.0, &length),
            );
            let x = plus(&plus(&x, &alpha, &p_hat), &omega, &s_hat);
            let r = plus(&s, &-&omega, &t);
            let next = dot(&shadow, &r);
            let beta = (&next / rho) * (alpha / crate::where_(&found, 1.0, &omega));
            let p = plus(&r, &beta, &plus(&p, &-omega, &v));
            ((x, r, p), next, k + 1)
        };
        let first = tree::copy(&r);
        while_loop(goes_on, step, ((x, r, first), rho, Array::from(0i32)))
            .0
            .0
    };
    custom_linear_solve(matvec, b, solve, TransposeSolve::By(&solve))
}
