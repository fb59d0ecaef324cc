//! Custom linear solves with derivatives of the solution.

use crate::extend::ClosedJaxpr;
use crate::prim::control::CustomLinearSolve;
use crate::prim::control::functions::{differences, types_of};
use crate::program::trace::bind;
use crate::program::traced::trace_tree;
use crate::program::tree;
use crate::{Array, Tree, linear_transpose};

/// A linear function from a tree to a tree of the same type.
pub type LinearFn<'a, T> = &'a dyn Fn(T) -> T;

/// The method for solving the transposed system, which reverse mode needs.
pub enum TransposeSolve<'a, T> {
    /// No method: reverse mode is rejected.
    None,
    /// The same as for the system itself, whose matrix is symmetric.
    Symmetric,
    /// A function of the transposed matrix, given as a function, and of the right-hand side.
    By(&'a dyn Fn(LinearFn<'_, T>, T) -> T),
}

/// Solves `matvec(x) = b` by `solve(matvec, b)` (`jax.lax.custom_linear_solve`).
///
/// Derivatives are those of the solution of a linear system; they are computed by solving it for
/// other right-hand sides. `solve` itself is not differentiated, so it may be an iteration with a
/// dynamic number of steps.
///
/// ```
/// use ramie_core::lax::custom_linear_solve;
/// use ramie_core::typing::TransposeSolve;
/// use ramie_core::{grad, Array};
/// // A diagonal matrix, solved by division.
/// let f = |d: Array| {
///     let b = Array::from([6.0f32, 8.0]);
///     let solve = |_: &dyn Fn(Array) -> Array, b: Array| b / &d;
///     custom_linear_solve(|x| x * &d, b, solve, TransposeSolve::Symmetric).sum()
/// };
/// let d = Array::from([2.0f32, 4.0]);
/// assert_eq!(grad(f)(d).to_vec::<f32>(), [-1.5, -0.5]); // -b / d²
/// ```
///
/// # Panics
/// Panics if `matvec` or `solve` returns other types than those of `b`, or if `matvec` is not
/// linear where its transpose is needed.
#[track_caller]
pub fn custom_linear_solve<T: Tree>(
    matvec: impl Fn(T) -> T,
    b: T,
    solve: impl Fn(LinearFn<'_, T>, T) -> T,
    transpose_solve: TransposeSolve<'_, T>,
) -> T {
    let types = types_of(&b, |a| a.aval().strong());
    let (a, _) = part("matvec", &b, &types, &matvec);
    let (x, result) = part("solve", &b, &types, &|b| solve(&matvec, b));
    let transposed = match transpose_solve {
        TransposeSolve::None => None,
        TransposeSolve::Symmetric => Some((a.clone(), x.clone())),
        TransposeSolve::By(solve) => {
            let vecmat = |y: T| linear_transpose(&matvec, types_of(&y, Array::aval))(y);
            Some((
                part("the transpose of matvec", &b, &types, &vecmat).0,
                part("transpose_solve", &b, &types, &|c| solve(&vecmat, c)).0,
            ))
        }
    };
    let mut operands = Vec::new();
    let mut open = |program: ClosedJaxpr| {
        let (jaxpr, captured) = program.open();
        operands.extend(captured);
        jaxpr
    };
    let system = CustomLinearSolve {
        matvec: open(a),
        solve: open(x),
        transposed: transposed.map(|(a, x)| (open(a), open(x))),
    };
    operands.extend(tree::leaves(&b));
    let refs: Vec<&Array> = operands.iter().collect();
    tree::with_leaves(&result, bind(system, &refs))
}

/// Traces a function from trees like `b` to trees like `b`, and returns the program and its
/// result.
#[track_caller]
fn part<T: Tree>(name: &str, b: &T, types: &T, f: &dyn Fn(T) -> T) -> (ClosedJaxpr, T) {
    let traced = trace_tree(types, f);
    if let Some(lines) = differences([name, "b"], "", (&traced.result, b)) {
        panic!(
            "custom_linear_solve: {name} returns a tree that differs from b\n  {}\n  help: \
             matvec and solve must map trees like b to trees like b",
            lines.join("\n  ")
        );
    }
    (traced.program, traced.result)
}
