//! Custom root finding with derivatives of the solution.

use super::LinearFn;
use crate::extend::{ClosedJaxpr, Jaxpr};
use crate::options::HasAux;
use crate::passes::jvp_eval;
use crate::prim::control::functions::{differences, types_of};
use crate::prim::custom::{CustomJvpCall, Identity, JvpRule};
use crate::program::trace::{bind, trace_to_jaxpr};
use crate::program::traced::trace_tree;
use crate::program::tree;
use crate::{Array, Aval, Tree, linearize};
use std::ops::Range;
use std::sync::Arc;

/// A function from a tree to a tree of the same type, whose root is computed. Transformations such
/// as [`grad`](crate::grad()) accept closures that call it.
pub type RootFn<'a, T> = &'a (dyn Fn(T) -> T + Send + Sync);

/// Solves `f(x) = 0` by `solve(f, initial_guess)` (`jax.lax.custom_root`).
///
/// Derivatives with respect to what `f` captures follow from the implicit function theorem.
/// `solve` itself is not differentiated, so it may be an iteration with a dynamic number of
/// steps. `tangent_solve(g, y)` solves `g(x) = y` for a linear function `g`, the derivative of
/// `f` at the root. For a scalar, the solution is `y / g(1)`. Reverse mode requires a solve that
/// can be transposed, such as [`custom_linear_solve`](crate::lax::custom_linear_solve) or
/// [`linalg::cg`](crate::functions::linalg::cg).
///
/// ```
/// use ramie_core::lax::{custom_root, while_loop};
/// use ramie_core::typing::{LinearFn, RootFn};
/// use ramie_core::{grad, Array};
/// // The square root, by halving an interval.
/// let sqrt = |a: Array| {
///     let solve = |f: RootFn<'_, Array>, top: Array| {
///         let narrow = |(low, high): (Array, Array)| {
///             let middle = (&low + &high) * 0.5;
///             let above = f(middle.clone()).gt(0.0);
///             let pick = |yes: &Array, no: &Array| ramie_core::where_(&above, yes, no);
///             (pick(&low, &middle), pick(&middle, &high))
///         };
///         let wide = |(low, high): (Array, Array)| (high - low).gt(1e-5);
///         while_loop(wide, narrow, (top.zeros_like(), top)).1
///     };
///     let one = Array::from(1.0f32);
///     let tangent_solve = |g: LinearFn<'_, Array>, y: Array| y / g(one.clone());
///     custom_root(|x: Array| x.square() - &a, Array::from(10.0f32), solve, tangent_solve)
/// };
/// let slope = grad(sqrt)(Array::from(4.0f32)).item::<f32>();
/// assert!((slope - 0.25).abs() < 1e-5);
/// ```
///
/// # Panics
/// Panics if `f`, `solve` or `tangent_solve` returns other types than those of the guess.
#[track_caller]
pub fn custom_root<T: Tree>(
    f: impl Fn(T) -> T + Send + Sync,
    initial_guess: T,
    solve: impl Fn(RootFn<'_, T>, T) -> T,
    tangent_solve: impl Fn(LinearFn<'_, T>, T) -> T,
) -> T {
    let solve = |f: RootFn<'_, T>, guess: T| (solve(f, guess), ());
    custom_root_with(f, initial_guess, solve, tangent_solve, HasAux).0
}

/// Same as [`custom_root`], but `solve` also returns auxiliary values, for example the number of
/// steps, which have no derivatives (`has_aux=True` in JAX).
///
/// # Panics
/// Panics in the same cases as [`custom_root`].
#[track_caller]
pub fn custom_root_with<T: Tree, A: Tree>(
    f: impl Fn(T) -> T + Send + Sync,
    initial_guess: T,
    solve: impl Fn(RootFn<'_, T>, T) -> (T, A),
    tangent_solve: impl Fn(LinearFn<'_, T>, T) -> T,
    _: HasAux,
) -> (T, A) {
    let types = types_of(&initial_guess, |a| a.aval().strong());
    let function = trace_tree(&types, &f);
    expect_like("f", &initial_guess, &function.result);
    let solution = trace_tree(&types, |guess| solve(&f, guess));
    expect_like("solve", &initial_guess, &solution.result.0);
    let both = (tree::copy(&types), tree::copy(&types));
    let tangent = trace_tree(&both, |(x, y): (T, T)| {
        let (_, push) = linearize(&f, x);
        tangent_solve(&push, y)
    });
    expect_like("tangent_solve", &initial_guess, &tangent.result);

    let result = solution.result;
    let mut operands = Vec::new();
    let mut open = |program: ClosedJaxpr| {
        let (jaxpr, captured) = program.open();
        let range = operands.len()..operands.len() + captured.len();
        operands.extend(captured);
        Part { jaxpr, range }
    };
    let root = Root {
        function: open(function.program),
        solve: open(solution.program),
        tangent: open(tangent.program),
    };
    operands.extend(tree::leaves(&initial_guess));
    tree::with_leaves(&result, Arc::new(root).bind(&operands))
}

/// # Panics
/// Panics if a function returns a tree that differs from the guess.
#[track_caller]
fn expect_like<T: Tree>(name: &str, guess: &T, result: &T) {
    if let Some(lines) = differences([name, "the guess"], "", (result, guess)) {
        panic!(
            "custom_root: {name} returns a tree that differs from the guess\n  {}\n  help: f, \
             solve and tangent_solve must return trees like the guess",
            lines.join("\n  ")
        );
    }
}

/// A program, and the range of the operands that it takes first.
struct Part {
    jaxpr: Arc<Jaxpr>,
    range: Range<usize>,
}

impl Part {
    fn eval(&self, operands: &[Array], rest: &[Array]) -> Vec<Array> {
        let args = [&operands[self.range.clone()], rest].concat();
        self.jaxpr.eval(&[], &args)
    }
}

/// The programs of a root. Their operands are the captured arrays and the guess.
struct Root {
    function: Part,
    solve: Part,
    /// Maps the root and the right-hand side to the tangent.
    tangent: Part,
}

impl Root {
    /// Returns the number of arrays of the root.
    fn size(&self) -> usize {
        self.function.jaxpr.outvars.len()
    }

    /// Computes the root and the auxiliary values of `solve`.
    fn bind(self: &Arc<Root>, operands: &[Array]) -> Vec<Array> {
        let avals: Vec<Aval> = operands.iter().map(|a| a.aval().strong()).collect();
        let program = trace_to_jaxpr(&avals, |operands| {
            let guess = &operands[operands.len() - self.size()..];
            self.solve.eval(operands, guess)
        });
        let (call_jaxpr, captured) = program.open();
        let parts = [&self.function, &self.solve, &self.tangent];
        let identity = Identity::of_programs(parts.map(|part| part.jaxpr.clone()));
        let root = self.clone();
        let run =
            move |primals: &[Array], tangents: &[Option<Array>]| root.tangents(primals, tangents);
        let call = CustomJvpCall {
            name: "custom_root".into(),
            call_jaxpr,
            num_consts: captured.len(),
            symbolic_zeros: true,
            jvp: JvpRule::new("implicit", identity, Arc::new(run)),
        };
        let refs: Vec<&Array> = captured.iter().chain(operands).collect();
        bind(call, &refs).into_vec()
    }

    /// Computes the root and its tangent: since `f(m, x(m)) = 0` for all `m`,
    /// `∂f/∂x x' = -∂f/∂m m'`.
    fn tangents(
        self: &Arc<Root>,
        primals: &[Array],
        tangents: &[Option<Array>],
    ) -> (Vec<Array>, Vec<Option<Array>>) {
        let outs = self.bind(primals);
        let root = &outs[..self.size()];
        let range = self.function.range.clone();
        let args = [&primals[range.clone()], root].concat();
        let mut dots = tangents[range].to_vec();
        dots.resize(args.len(), None);
        let (_, moved) = jvp_eval(&self.function.jaxpr, &[], &args, &dots);
        if moved.iter().all(Option::is_none) {
            let none = vec![None; outs.len()];
            return (outs, none);
        }
        let sides = root.iter().zip(moved).map(|(x, moved)| match moved {
            Some(moved) => -moved,
            None => x.zeros_like(),
        });
        let sides: Vec<Array> = root.iter().cloned().chain(sides).collect();
        let dots = self.tangent.eval(primals, &sides);
        let mut dots: Vec<Option<Array>> = dots.into_iter().map(Some).collect();
        dots.resize(outs.len(), None);
        (outs, dots)
    }
}
