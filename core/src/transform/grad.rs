//! `jvp`, `linearize`, `vjp`, `grad` and related transformations of functions of trees.

use super::differentiable::{Numbers, at_path};
use super::tangents::filled;
use super::{ArgTuple, Function, FunctionOnce, HasAux, Holomorphic, Objective, Packed};
use crate::base::location::{self, Caller};
use crate::passes::{backward, jvp_eval, linearize_eval};
use crate::program::array::type_only;
use crate::program::jaxpr::ClosedJaxpr;
use crate::program::trace::OpenTrace;
use crate::program::traced::trace_tree;
use crate::program::tree;
use crate::{Array, Tree};

/// Converts a function to one of all arguments as one value.
pub(super) fn packed<F: FunctionOnce<M>, M>(f: F) -> impl FnOnce(Packed<F, M>) -> F::Output {
    |args| f.call_once(F::Args::unpack(args))
}

/// Returns whether each array of a tree can be differentiated.
pub(super) fn inexact<T: Tree>(tree: &T) -> Vec<bool> {
    tree::leaves(tree)
        .iter()
        .map(|a| a.dtype().is_inexact())
        .collect()
}

/// Checks that tangents or cotangents have the structure and types of their primals. `made` is
/// the location where the function that takes them was created, if not by this call.
#[track_caller]
fn check_like<T: Tree, U: Tree>(
    operation: &str,
    what: &str,
    expected: &T,
    got: &U,
    made: Option<Caller>,
) {
    let at = made.map_or(String::new(), |caller| format!("\n  {caller}"));
    if let Some(lines) = tree::structure_mismatch(["expected", what], expected, got) {
        panic!(
            "{operation}: the structure of {what} differs from that of its value\n  {lines}{at}\n  \
             help: return a tree with the containers and keys of that value, for example from \
             `tree::map`"
        );
    }
    const HELP: &str = "help: tangents and cotangents must have the shape and dtype of the values to which they \
         belong";
    let (e, g) = (tree::leaves(expected), tree::leaves(got));
    for ((path, e), g) in tree::paths(expected).iter().zip(&e).zip(&g) {
        let (e, g) = (e.aval(), g.aval());
        // `matches` ignores varying axes; a difference in these has another remedy.
        let fits = e.matches(g);
        let help = if fits {
            "help: a value and its tangent must vary over the same mesh axes; mark the one \
             that varies over fewer with `pvary`"
        } else {
            HELP
        };
        assert!(
            fits && e.varying() == g.varying(),
            "{operation}: {what}{} is {g}, expected {e}{at}\n  {help}",
            at_path(path),
        );
    }
}

/// Computes the value of `f` and its directional derivative by forward mode, which propagates
/// tangents (`jax.jvp`).
///
/// ```no_run
/// use ramie_core::{Array, DType, jvp};
/// let x = Array::scalar(3.0, DType::F32);
/// let (y, dy) = jvp(|x: Array| &x * &x, x, Array::scalar(1.0, DType::F32));
/// assert_eq!((y.item::<f32>(), dy.item::<f32>()), (9.0, 6.0));
/// ```
///
/// The arguments of a function of several are passed as a tuple, and so are their tangents:
///
/// ```
/// use ramie_core::{Array, jvp};
/// let (x, y) = (Array::from(2.0f32), Array::from(3.0f32));
/// let tangents = (Array::from(1.0f32), Array::from(0.0f32));
/// let (_, dz) = jvp(|x: Array, y: Array| x * y, (x, y), tangents);
/// assert_eq!(dz.item::<f32>(), 3.0);
/// ```
///
/// If the function also returns auxiliary values (`has_aux=True` in JAX), ignore their tangents.
///
/// # Panics
/// Panics if the tangents do not have the types of the primals.
#[track_caller]
pub fn jvp<F: FunctionOnce<M>, M>(
    f: F,
    primals: Packed<F, M>,
    tangents: Packed<F, M>,
) -> (F::Output, F::Output) {
    check_like("jvp", "the tangent", &primals, &tangents, None);
    let traced = trace_tree(&primals, packed(f));
    // Integers have tangents in this tree, too, because it has the type of the primals. `jvp_eval`
    // ignores them.
    let ts: Vec<Option<Array>> = tree::leaves(&tangents).into_iter().map(Some).collect();
    let (outs, dots) = jvp_eval(
        &traced.program.jaxpr,
        &traced.program.consts,
        &tree::leaves(&primals),
        &ts,
    );
    let value = tree::with_leaves(&traced.result, outs);
    let tangent = filled(&value, dots);
    (value, tangent)
}

/// Computes the value of `f` and returns its derivative at that point as a linear function
/// (`jax.linearize`). Work that does not depend on the tangent is done once. Several arguments, and
/// their tangents, are passed as a tuple.
///
/// If the function also returns auxiliary values (`has_aux=True` in JAX), ignore their tangents.
///
/// # Panics
/// The returned function panics if its argument does not have the types of
/// `primals`.
#[track_caller]
pub fn linearize<F: FunctionOnce<M>, M>(
    f: F,
    primals: Packed<F, M>,
) -> (F::Output, impl Fn(Packed<F, M>) -> F::Output + Send + Sync) {
    let traced = trace_tree(&primals, packed(f));
    let perturbed = inexact(&primals);
    let lin = linearize_eval(
        &traced.program.jaxpr,
        &traced.program.consts,
        &tree::leaves(&primals),
        &perturbed,
    );
    let value = tree::with_leaves(&traced.result, lin.outs.iter().cloned());
    let like = tree::copy(&value);
    let at = Caller::of("linearize");
    let push = move |tangents: Packed<F, M>| {
        check_like("linearize", "the tangent", &primals, &tangents, Some(at));
        // The linear program has inputs for the differentiable arrays only.
        let ts: Vec<Array> = tree::leaves(&tangents)
            .into_iter()
            .zip(&perturbed)
            .filter(|(_, on)| **on)
            .map(|(t, _)| t)
            .collect();
        filled(&like, lin.per_result(lin.linear.eval(&ts)))
    };
    (value, push)
}

/// Stops derivatives of auxiliary values, so that none are computed.
pub(super) fn stopped<R, X: Tree>((value, aux): (R, X)) -> (R, X) {
    (value, tree::map(&aux, Array::stop_gradient))
}

pub(super) struct Pullback {
    linear: ClosedJaxpr,
    nonzero: Vec<bool>,
    perturbed: Vec<bool>,
}

impl Pullback {
    /// Returns the cotangents of all inputs, given those of all outputs.
    pub(super) fn apply(&self, cts: impl Iterator<Item = Option<Array>>) -> Vec<Option<Array>> {
        // A result with a zero tangent is no output of the linear program, so its cotangent has no
        // effect.
        let cts: Vec<Option<Array>> = cts
            .zip(&self.nonzero)
            .filter(|(_, nz)| **nz)
            .map(|(ct, _)| ct)
            .collect();
        // Only the perturbed arrays are inputs of the linear program.
        let mut grads = backward(&self.linear, &cts).into_iter();
        self.perturbed
            .iter()
            .map(|&on| if on { grads.next().flatten() } else { None })
            .collect()
    }
}

#[track_caller]
pub(super) fn pullback<A: Tree, R: Tree>(f: impl FnOnce(A) -> R, primals: &A) -> (R, Pullback) {
    let traced = trace_tree(primals, f);
    let perturbed = inexact(primals);
    let lin = linearize_eval(
        &traced.program.jaxpr,
        &traced.program.consts,
        &tree::leaves(primals),
        &perturbed,
    );
    let value = tree::with_leaves(&traced.result, lin.outs);
    let pull = Pullback {
        linear: lin.linear,
        nonzero: lin.nonzero,
        perturbed,
    };
    (value, pull)
}

/// Computes the value of `f` and returns the function that maps cotangents of the result to
/// cotangents of the arguments (`jax.vjp`). Several arguments, and their cotangents, are a tuple.
///
/// ```no_run
/// use ramie_core::{Array, DType, vjp};
/// let x = Array::from(vec![1.0f32, 2.0]);
/// let (_, pull) = vjp(|x: Array| x.sin(), x);
/// let grads = pull(Array::from(vec![1.0f32, 1.0]));
/// ```
///
/// # Panics
/// The returned function panics if its argument does not have the types of the
/// result.
#[track_caller]
pub fn vjp<F: FunctionOnce<M>, M>(
    f: F,
    primals: Packed<F, M>,
) -> (F::Output, impl Fn(F::Output) -> Packed<F, M> + Send + Sync) {
    let (value, pull) = pullback(packed(f), &primals);
    let like = tree::copy(&value);
    let at = Caller::of("vjp");
    let back = move |cts: F::Output| {
        check_like("vjp", "the cotangent", &like, &cts, Some(at));
        filled(
            &primals,
            pull.apply(tree::leaves(&cts).into_iter().map(Some)),
        )
    };
    (value, back)
}

/// Same as [`vjp`], for a function that also returns auxiliary values, which are not
/// differentiated (`jax.vjp(…, has_aux=True)`).
///
/// ```
/// use ramie_core::options::HasAux;
/// use ramie_core::{vjp_with, Array};
/// let f = |x: Array| (x.square(), x + 1.0);
/// let (y, pull, aux) = vjp_with(f, Array::from(3.0f32), HasAux);
/// assert_eq!((y.item::<f32>(), aux.item::<f32>()), (9.0, 4.0));
/// assert_eq!(pull(Array::from(1.0f32)).item::<f32>(), 6.0);
/// ```
///
/// # Panics
/// Panics in the same cases as [`vjp`].
#[track_caller]
pub fn vjp_with<F: FunctionOnce<M, Output = (R, X)>, M, R: Tree, X: Tree>(
    f: F,
    primals: Packed<F, M>,
    _: HasAux,
) -> (R, impl Fn(R) -> Packed<F, M> + Send + Sync, X) {
    let ((value, aux), pull) = pullback(packed(f), &primals);
    let like = tree::copy(&value);
    let at = Caller::of("vjp");
    let back = move |cts: R| {
        check_like("vjp", "the cotangent", &like, &cts, Some(at));
        // The leaves of `aux` follow those of the result, and their cotangents are zero.
        let cts = tree::leaves(&cts).into_iter().map(Some);
        filled(&primals, pull.apply(cts.chain(std::iter::repeat(None))))
    };
    (value, back, aux)
}

/// Computes the value and the gradient with respect to the first argument.
///
/// A `holomorphic` function maps complex numbers to a complex result.
pub(super) fn evaluate<F, M>(
    f: &F,
    args: F::Args,
    caller: Caller,
    holomorphic: bool,
) -> (F::Output, First<F, M>)
where
    F: Function<M>,
    F::Output: Objective,
{
    let (first, rest) = args.split();
    let Caller { operation, at } = caller;
    let numbers = if holomorphic {
        Numbers::Complex
    } else {
        Numbers::Any
    };
    // With `Numbers::Any` no complex argument is rejected, so no help is needed.
    caller.check_argument(&first, numbers, "");
    let (value, pull) = location::at_location(at, || {
        pullback(|first| f.call(F::Args::join(first, &rest)), &first)
    });
    let loss = value.loss().aval();
    assert!(
        loss.ndim() == 0,
        "{operation}: the function must return a scalar, but it returned {loss}\n  {caller}\n  \
         help: reduce it, for example with .mean() or .sum(); for the whole \
         Jacobian use jacrev or vjp"
    );
    let expected = if holomorphic {
        loss.dtype().is_complex()
    } else {
        loss.dtype().is_float()
    };
    assert!(
        expected,
        "{operation}: the function must return a {} scalar, but it returned {loss}\n  {caller}\n  \
         help: {}",
        if holomorphic {
            "complex"
        } else {
            "floating-point"
        },
        match (loss.dtype().is_complex(), holomorphic) {
            (true, _) =>
                "return the real or imaginary part, or use grad_with(f, Holomorphic) for a \
                 holomorphic function",
            (false, true) => "use grad: a real function is not holomorphic",
            (false, false) => "convert it with astype(DType::F32)",
        }
    );
    // The gradient is the pullback of 1. The loss is the first result; the auxiliary values behind
    // it have zero cotangents.
    let seed = Array::ones(&[], loss.dtype());
    let grads = location::at_location(at, || {
        pull.apply(std::iter::once(Some(seed)).chain(std::iter::repeat(None)))
    });
    let grads = filled(&first, grads);
    (value, grads)
}

type First<F, M> = <<F as Function<M>>::Args as ArgTuple>::First;

/// Returns a function that computes the gradient of a scalar function with respect to its first
/// argument (`jax.grad`). If `f` returns `(loss, aux)`, the loss is differentiated; use
/// [`value_and_grad`] to get the auxiliary values, too.
///
/// ```no_run
/// use ramie_core::{Array, grad};
/// let f = |x: Array| (&x * &x).sum_over(0);
/// let g = grad(f)(Array::from(vec![1.0f32, 2.0]));
/// assert_eq!(g.to_vec::<f32>(), [2.0, 4.0]);
/// ```
///
/// For the gradient with respect to other arguments (`argnums` in JAX), pass a closure of these,
/// as a tuple if there are several:
///
/// ```
/// use ramie_core::{Array, array, grad};
/// let f = |x: &Array, n: f32, y: &Array| (x * y.square() * n).sum();
/// let (x, y) = (array(2.0), array(3.0));
/// let dy = grad(|y: &Array| f(&x, 10.0, y))(&y);
/// assert_eq!(dy.item::<f32>(), 120.0);
/// let (dx, dy) = grad(|(x, y): (Array, Array)| f(&x, 10.0, &y))((x, y));
/// assert_eq!((dx.item::<f32>(), dy.item::<f32>()), (90.0, 120.0));
/// ```
///
/// # Panics
/// The returned function panics if the first argument contains arrays other than floating-point
/// or complex ones, or if the result is not a floating-point scalar.
#[track_caller]
pub fn grad<'f, F, M>(f: F) -> Box<F::Fn<'f, First<F, M>>>
where
    F: Function<M> + 'f,
    F::Output: Objective,
    First<F, M>: 'f,
    M: 'f,
{
    let caller = Caller::of("grad");
    F::untupled(move |args| evaluate(&f, args, caller, false).1)
}

/// Returns a function that computes the value of a scalar function and its gradient with respect
/// to the first argument (`jax.value_and_grad`).
///
/// # Panics
/// Panics in the same cases as [`grad`].
#[track_caller]
pub fn value_and_grad<'f, F, M>(f: F) -> Box<F::Fn<'f, (F::Output, First<F, M>)>>
where
    F: Function<M> + 'f,
    F::Output: Objective,
    (F::Output, First<F, M>): 'f,
    M: 'f,
{
    let caller = Caller::of("value_and_grad");
    F::untupled(move |args| evaluate(&f, args, caller, false))
}

/// Same as [`grad`], of a holomorphic function (`jax.grad` with `holomorphic=True`).
///
/// ```
/// use ramie_core::options::Holomorphic;
/// use ramie_core::{Array, DType, grad_with};
/// let slope = grad_with(|z: Array| &z * &z, Holomorphic)(Array::scalar(3.0, DType::C64));
/// assert_eq!(slope.real().item::<f32>(), 6.0);
/// ```
///
/// # Panics
/// Panics in the same cases as [`grad`]. The argument and the result must be complex.
#[track_caller]
pub fn grad_with<'f, F, M>(f: F, _: Holomorphic) -> Box<F::Fn<'f, First<F, M>>>
where
    F: Function<M> + 'f,
    F::Output: Objective,
    First<F, M>: 'f,
    M: 'f,
{
    let caller = Caller::of("grad_with");
    F::untupled(move |args| evaluate(&f, args, caller, true).1)
}

/// Same as [`value_and_grad`], of a holomorphic function (`jax.value_and_grad` with
/// `holomorphic=True`).
///
/// # Panics
/// Panics in the same cases as [`grad_with`].
#[track_caller]
pub fn value_and_grad_with<'f, F, M>(
    f: F,
    _: Holomorphic,
) -> Box<F::Fn<'f, (F::Output, First<F, M>)>>
where
    F: Function<M> + 'f,
    F::Output: Objective,
    (F::Output, First<F, M>): 'f,
    M: 'f,
{
    let caller = Caller::of("value_and_grad_with");
    F::untupled(move |args| evaluate(&f, args, caller, true))
}

/// Returns the transpose of a linear function, at the types of `example`
/// (`jax.linear_transpose`). Several arguments are a tuple.
///
/// # Panics
/// Panics if `f` applies a nonlinear operation to its argument.
#[track_caller]
pub fn linear_transpose<F: FunctionOnce<M>, M>(
    f: F,
    example: Packed<F, M>,
) -> impl Fn(F::Output) -> Packed<F, M> + Send + Sync {
    let traced = trace_tree(&example, packed(f));
    // In a partial trace, operations that do not depend on the arguments run now, so that
    // `backward` only sees operations on linear values.
    let linear = {
        let trace = OpenTrace::partial();
        let args: Vec<Array> = tree::leaves(&example)
            .iter()
            .map(|a| trace.input(a.aval()))
            .collect();
        let outs = traced.program.eval(&args);
        trace.finish(&outs)
    };
    // The checks need only types, so that the returned function keeps no arrays in memory for them.
    let like = tree::map(&traced.result, type_only);
    let example = tree::map(&example, type_only);
    let at = Caller::of("linear_transpose");
    move |cts: F::Output| {
        check_like("linear_transpose", "the cotangent", &like, &cts, Some(at));
        let cts: Vec<Option<Array>> = tree::leaves(&cts).into_iter().map(Some).collect();
        filled(&example, backward(&linear, &cts))
    }
}
