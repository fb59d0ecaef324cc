//! `jacfwd` and `jacrev`: full Jacobians.

use super::custom::First;
use super::differentiable::Numbers;
use super::grad::{Pullback, inexact, pullback, stopped};
use super::{ArgTuple, Function, HasAux, Holomorphic};
use crate::base::location::{Caller, at_location};
use crate::passes::{batch_eval, linearize_eval};
use crate::program::trace::trace_to_jaxpr;
use crate::program::traced::trace_tree;
use crate::program::tree;
use crate::{Array, Aval, DType, Tree};
use std::collections::BTreeMap;

/// A result that has a Jacobian: an array, or arrays in tuples, lists, maps and structs.
///
/// The Jacobian of an array with respect to a tree has the structure of that tree; each of its
/// arrays has the axes of the result, followed by those of the argument's array. The Jacobian of
/// several arrays contains one such tree for each of them. For a struct or enum with
/// `#[derive(Tree)]` it is a map from the dotted paths of the arrays to these trees.
#[diagnostic::on_unimplemented(
    message = "a result of type `{Self}` has no Jacobian",
    note = "return an array, arrays in a tuple, a Vec or a map, or a type with `#[derive(Tree)]`"
)]
pub trait Codomain<A: Tree>: Tree {
    /// The Jacobian with respect to `A`.
    type Jacobian: Tree;
    /// Collects the Jacobian from the Jacobians of the arrays, which `of` returns in order.
    fn collect(&self, of: &mut dyn FnMut(&Array) -> A) -> Self::Jacobian;
}

impl<A: Tree> Codomain<A> for Array {
    type Jacobian = A;
    fn collect(&self, of: &mut dyn FnMut(&Array) -> A) -> A {
        of(self)
    }
}

macro_rules! tuple {
    ($($t:ident $i:tt),+) => {
        impl<Input: Tree, $($t: Codomain<Input>),+> Codomain<Input> for ($($t,)+) {
            type Jacobian = ($($t::Jacobian,)+);
            fn collect(&self, of: &mut dyn FnMut(&Array) -> Input) -> Self::Jacobian {
                ($(self.$i.collect(of),)+)
            }
        }
    };
}
tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);

impl<A: Tree, T: Codomain<A>> Codomain<A> for Vec<T> {
    type Jacobian = Vec<T::Jacobian>;
    fn collect(&self, of: &mut dyn FnMut(&Array) -> A) -> Self::Jacobian {
        self.iter().map(|x| x.collect(of)).collect()
    }
}

impl<A: Tree, T: Codomain<A>, const N: usize> Codomain<A> for [T; N] {
    type Jacobian = [T::Jacobian; N];
    fn collect(&self, of: &mut dyn FnMut(&Array) -> A) -> Self::Jacobian {
        std::array::from_fn(|i| self[i].collect(of))
    }
}

impl<A: Tree, T: Codomain<A>> Codomain<A> for BTreeMap<String, T> {
    type Jacobian = BTreeMap<String, T::Jacobian>;
    fn collect(&self, of: &mut dyn FnMut(&Array) -> A) -> Self::Jacobian {
        let entries = self.iter();
        entries.map(|(k, x)| (k.clone(), x.collect(of))).collect()
    }
}

/// An option of [`jacfwd_with`], [`jacrev_with`] and [`hessian_with`](super::hessian_with):
/// [`HasAux`] or [`Holomorphic`].
#[diagnostic::on_unimplemented(
    message = "a function that returns `{R}` has no Jacobian with these options",
    note = "with `HasAux` return `(result, aux)`"
)]
pub trait JacobianOptions<R: Tree>: Send + Sync {
    /// Whether the function is holomorphic.
    const HOLOMORPHIC: bool;
    /// The differentiated result.
    type Value: Tree;
    /// The result that is not differentiated.
    type Aux: Tree;
    /// The result of the transformed function.
    type Result<J: Tree>: Tree;
    /// Splits a result into the value and the auxiliary values.
    fn split(result: R) -> (Self::Value, Self::Aux);
    /// Returns the result of the transformed function.
    fn join<J: Tree>(parts: (J, Self::Aux)) -> Self::Result<J>;
}

macro_rules! without_aux {
    ($($options:ty, $holomorphic:literal;)*) => { $(
        impl<R: Tree> JacobianOptions<R> for $options {
            const HOLOMORPHIC: bool = $holomorphic;
            type Value = R;
            type Aux = ();
            type Result<J: Tree> = J;
            fn split(result: R) -> (R, ()) {
                (result, ())
            }
            fn join<J: Tree>((jacobian, ()): (J, ())) -> J {
                jacobian
            }
        }
    )* };
}
// `()` is the absence of options.
without_aux! { (), false; Holomorphic, true; }

impl<R: Tree, X: Tree> JacobianOptions<(R, X)> for HasAux {
    const HOLOMORPHIC: bool = false;
    type Value = R;
    type Aux = X;
    type Result<J: Tree> = (J, X);
    fn split(result: (R, X)) -> (R, X) {
        result
    }
    fn join<J: Tree>(parts: (J, X)) -> (J, X) {
        parts
    }
}

/// The differentiated result of a function.
pub(super) type ValueOf<F, M, O> = <O as JacobianOptions<<F as Function<M>>::Output>>::Value;

/// The Jacobian of the differentiated result with respect to the first argument.
pub(super) type JacobianOf<F, M, O> = <ValueOf<F, M, O> as Codomain<First<F, M>>>::Jacobian;

/// The order in which the derivatives of the steps are multiplied.
#[derive(Clone, Copy)]
enum Mode {
    Forward,
    Reverse,
}

/// Returns the function that computes the Jacobian in a mode, with options of the type `O`.
fn jacobian<'f, F, M, O>(
    mode: Mode,
    f: F,
    caller: Caller,
) -> Box<F::Fn<'f, O::Result<JacobianOf<F, M, O>>>>
where
    F: Function<M> + 'f,
    O: JacobianOptions<F::Output> + 'f,
    O::Value: Codomain<First<F, M>>,
    M: 'f,
{
    F::untupled(move |args| {
        let (first, rest) = args.split();
        let value = |x| O::split(f.call(F::Args::join(x, &rest)));
        O::join(match mode {
            Mode::Forward => forward(value, &first, caller, O::HOLOMORPHIC),
            Mode::Reverse => reverse(value, &first, caller, O::HOLOMORPHIC),
        })
    })
}

/// Returns the standard basis of the concatenation of several arrays, whose `total` elements are
/// also returned: for each array the unit vectors, along a leading axis of size `total`.
fn basis(avals: &[Aval]) -> (Vec<Array>, usize) {
    let total: usize = avals.iter().map(Aval::size).sum();
    let mut start = 0;
    // Arrays of 2 and 1 elements: the columns of the identity, `[3, 3]`, are split into `[3, 2]`
    // and `[3, 1]`, and each part gets the shape of its array behind the leading axis.
    let arrays = avals.iter().map(|aval| {
        let limit = start + aval.size();
        let columns = Array::eye(total, aval.dtype()).slice(&[0, start], &[total, limit]);
        start = limit;
        columns.reshape(&[&[total], aval.shape()].concat())
    });
    (arrays.collect(), total)
}

/// Splits an array along an axis into consecutive parts, of the sizes of `avals`.
fn parts(array: &Array, avals: &[Aval], axis: usize) -> Vec<Array> {
    let mut start = 0;
    let pieces = avals.iter().map(|aval| {
        let mut starts = vec![0; array.ndim()];
        let mut limits = array.shape().to_vec();
        (starts[axis], limits[axis]) = (start, start + aval.size());
        start += aval.size();
        array.slice(&starts, &limits)
    });
    pieces.collect()
}

fn avals<T: Tree>(tree: &T) -> Vec<Aval> {
    tree::leaves(tree).iter().map(Array::aval).collect()
}

/// Assembles the Jacobian from its blocks, by result and by argument.
fn assemble<A: Tree, R: Codomain<A>>(value: &R, first: &A, blocks: Vec<Vec<Array>>) -> R::Jacobian {
    let mut blocks = blocks.into_iter();
    value.collect(&mut |out| {
        let row = blocks.next().expect("a row for each result");
        let inputs = tree::leaves(first);
        let shaped = row.iter().zip(&inputs);
        // `[…result, size]` in forward mode and `[size, …argument]` in reverse mode become
        // `[…result, …argument]`.
        let shaped = shaped.map(|(b, x)| b.reshape(&[out.shape(), x.shape()].concat()));
        tree::with_leaves(first, shaped.collect::<Vec<_>>())
    })
}

/// Returns a function that computes the Jacobian with respect to the first argument by forward
/// mode: one tangent for each element of the argument (`jax.jacfwd`). Prefer it if the result has
/// more elements than the argument.
///
/// ```
/// use ramie_core::{Array, jacfwd};
/// let f = |x: Array| x.square() * 2.0;
/// let jacobian = jacfwd(f)(Array::from([1.0f32, 2.0]));
/// assert_eq!(jacobian.to_vec::<f32>(), [4.0, 0.0, 0.0, 8.0]);
/// ```
///
/// The result may be complex; the derivatives are then complex, too.
///
/// # Panics
/// The returned function panics if the argument contains anything but floating-point numbers, or
/// the result anything but floating-point and complex numbers.
#[track_caller]
pub fn jacfwd<'f, F, M>(f: F) -> Box<F::Fn<'f, <F::Output as Codomain<First<F, M>>>::Jacobian>>
where
    F: Function<M> + 'f,
    F::Output: Codomain<First<F, M>>,
    M: 'f,
{
    jacobian::<F, M, ()>(Mode::Forward, f, Caller::of("jacfwd"))
}

/// Same as [`jacfwd`], of a holomorphic function, or of a function that also returns auxiliary
/// values (`jax.jacfwd` with `holomorphic` or `has_aux`).
///
/// ```
/// use ramie_core::numpy::complex;
/// use ramie_core::options::{HasAux, Holomorphic};
/// use ramie_core::{jacfwd_with, Array};
/// let z = complex(Array::from([1.0f32]), 2.0);
/// let jacobian = jacfwd_with(|z: Array| z.square(), Holomorphic)(z);
/// assert_eq!(jacobian.imag().to_vec::<f32>(), [4.0]);
///
/// let f = |x: Array| (x.square(), x.sum());
/// let (jacobian, total) = jacfwd_with(f, HasAux)(Array::from([1.0f32, 2.0]));
/// assert_eq!(jacobian.to_vec::<f32>(), [2.0, 0.0, 0.0, 4.0]);
/// assert_eq!(total.item::<f32>(), 3.0);
/// ```
///
/// # Panics
/// Panics in the same cases as [`jacfwd`]. With [`Holomorphic`], the argument and the result must be
/// complex.
#[track_caller]
pub fn jacfwd_with<'f, F, M, O>(f: F, _: O) -> Box<F::Fn<'f, O::Result<JacobianOf<F, M, O>>>>
where
    F: Function<M> + 'f,
    O: JacobianOptions<F::Output> + 'f,
    O::Value: Codomain<First<F, M>>,
    M: 'f,
{
    jacobian::<F, M, O>(Mode::Forward, f, Caller::of("jacfwd"))
}

/// Computes the Jacobian by forward mode, of a `holomorphic` function or of one of real numbers, and
/// the auxiliary values.
pub(super) fn forward<A: Tree, R: Codomain<A>, X: Tree>(
    f: impl FnOnce(A) -> (R, X),
    first: &A,
    caller: Caller,
    holomorphic: bool,
) -> (R::Jacobian, X) {
    let (arguments, results) = if holomorphic {
        (Numbers::Complex, Numbers::Complex)
    } else {
        (Numbers::Real, Numbers::Any)
    };
    let instead = format!(
        "use {}_with(f, Holomorphic) for a holomorphic function; for other functions pass the real and the \
         imaginary part as arguments",
        caller.operation
    );
    caller.check_argument(first, arguments, &instead);
    let check = |value: &R| caller.check_result(value, results, "");
    at_location(caller.at, || forward_columns(f, first, check))
}

fn forward_columns<A: Tree, R: Codomain<A>, X: Tree>(
    f: impl FnOnce(A) -> (R, X),
    first: &A,
    check: impl FnOnce(&R),
) -> (R::Jacobian, X) {
    // Unless it is stopped, the linear program would also compute the tangents of `aux`.
    let traced = trace_tree(first, |x| stopped(f(x)));
    let (jaxpr, consts) = (&traced.program.jaxpr, &traced.program.consts);
    let lin = linearize_eval(jaxpr, consts, &tree::leaves(first), &inexact(first));
    let (value, aux) = tree::with_leaves(&traced.result, lin.outs.iter().cloned());
    check(&value);
    // Every array of the argument is an input of the linear program, since `check_argument` accepts
    // differentiable dtypes only. Each input therefore has its unit vectors.
    let inputs = avals(first);
    let (units, total) = basis(&inputs);
    let axes = vec![Some(0); units.len()];
    // Column `j` of the Jacobian is the tangent for the unit vector `j`; a batch computes all of
    // them.
    let linear = &lin.linear;
    let (dots, out_axes) = batch_eval(&linear.jaxpr, &linear.consts, &units, &axes, total.into());
    let columns = dots.iter().zip(out_axes).map(|(dot, axis)| {
        // The axis of the unit vectors moves last, behind the axes of the result.
        let last = dot.ndim() - usize::from(axis.is_some());
        crate::prim::move_batch_axis(dot, axis, last, total)
    });
    let columns = lin.per_result(columns.collect::<Vec<_>>());
    // The results of `aux` follow those of `value`, so that `zip` ends before them.
    let blocks = columns
        .into_iter()
        .zip(avals(&value))
        .map(|(column, out)| match column {
            Some(column) => parts(&column, &inputs, out.ndim()),
            // A tangent has the dtype of the result, which may be complex where the argument is
            // real.
            None => inputs.iter().map(|x| zeros(&out, x, out.dtype())).collect(),
        });
    let blocks = blocks.collect();
    (assemble(&value, first, blocks), aux)
}

fn zeros(out: &Aval, input: &Aval, dtype: DType) -> Array {
    Array::zeros(&[out.shape(), input.shape()].concat(), dtype)
}

/// Returns a function that computes the Jacobian with respect to the first argument by reverse
/// mode: one cotangent for each element of the result (`jax.jacrev`). Prefer it if the argument
/// has more elements than the result.
///
/// ```
/// use ramie_core::{Array, jacrev};
/// let f = |x: Array, y: Array| (x.sum(), x * y);
/// let (of_sum, of_product) = jacrev(f)(Array::from([1.0f32, 2.0]), Array::from(3.0f32));
/// assert_eq!(of_sum.to_vec::<f32>(), [1.0, 1.0]);
/// assert_eq!(of_product.to_vec::<f32>(), [3.0, 0.0, 0.0, 3.0]);
/// ```
///
/// The argument may be complex: the derivatives of a real result then follow the convention of
/// [`grad`](super::grad()).
///
/// # Panics
/// The returned function panics if the argument contains anything but floating-point and complex
/// numbers, or the result anything but floating-point numbers.
#[doc(alias = "jacobian")]
#[track_caller]
pub fn jacrev<'f, F, M>(f: F) -> Box<F::Fn<'f, <F::Output as Codomain<First<F, M>>>::Jacobian>>
where
    F: Function<M> + 'f,
    F::Output: Codomain<First<F, M>>,
    M: 'f,
{
    jacobian::<F, M, ()>(Mode::Reverse, f, Caller::of("jacrev"))
}

/// Same as [`jacrev`], with the options of [`jacfwd_with`] (`jax.jacrev` with `holomorphic`
/// or `has_aux`).
///
/// # Panics
/// Panics in the same cases as [`jacrev`]. With [`Holomorphic`], the argument and the result must be
/// complex.
#[track_caller]
pub fn jacrev_with<'f, F, M, O>(f: F, _: O) -> Box<F::Fn<'f, O::Result<JacobianOf<F, M, O>>>>
where
    F: Function<M> + 'f,
    O: JacobianOptions<F::Output> + 'f,
    O::Value: Codomain<First<F, M>>,
    M: 'f,
{
    jacobian::<F, M, O>(Mode::Reverse, f, Caller::of("jacrev"))
}

/// Computes the Jacobian by reverse mode, of a `holomorphic` function or of one with real
/// results, and the auxiliary values.
pub(super) fn reverse<A: Tree, R: Codomain<A>, X: Tree>(
    f: impl FnOnce(A) -> (R, X),
    first: &A,
    caller: Caller,
    holomorphic: bool,
) -> (R::Jacobian, X) {
    let (arguments, results) = if holomorphic {
        (Numbers::Complex, Numbers::Complex)
    } else {
        (Numbers::Any, Numbers::Real)
    };
    caller.check_argument(first, arguments, "");
    at_location(caller.at, || {
        let ((value, aux), pull) = pullback(|x| stopped(f(x)), first);
        let instead = format!(
            "use {}_with(f, Holomorphic) for a holomorphic function; for other functions return the real \
             and the imaginary part",
            caller.operation
        );
        caller.check_result(&value, results, &instead);
        (reverse_rows(&value, &pull, first), aux)
    })
}

fn reverse_rows<A: Tree, R: Codomain<A>>(value: &R, pull: &Pullback, first: &A) -> R::Jacobian {
    let (inputs, outs) = (avals(first), avals(value));
    let (units, total) = basis(&outs);
    let mut nonzero = Vec::new();
    // Row `i` of the Jacobian is the cotangent for the unit vector `i`. The pullback is traced,
    // since only a program can be batched.
    let program = trace_to_jaxpr(&outs, |cts| {
        let none = std::iter::repeat(None);
        let grads = pull.apply(cts.iter().cloned().map(Some).chain(none));
        nonzero = grads.iter().map(Option::is_some).collect();
        grads.into_iter().flatten().collect()
    });
    let axes = vec![Some(0); units.len()];
    let (grads, out_axes) =
        batch_eval(&program.jaxpr, &program.consts, &units, &axes, total.into());
    let rows = grads.iter().zip(out_axes);
    // `[total, …argument]`: consecutive parts along the first axis belong to the results.
    let mut rows = rows.map(|(g, axis)| crate::prim::move_batch_axis(g, axis, 0, total));
    // By argument; transposed below to be by result.
    let columns: Vec<Vec<Array>> = nonzero
        .iter()
        .zip(&inputs)
        .map(|(nonzero, input)| match nonzero {
            true => parts(&rows.next().expect("one per gradient"), &outs, 0),
            // A cotangent has the dtype of the argument.
            false => outs
                .iter()
                .map(|out| zeros(out, input, input.dtype()))
                .collect(),
        })
        .collect();
    let blocks = (0..outs.len()).map(|i| columns.iter().map(|c| c[i].clone()).collect());
    let blocks = blocks.collect();
    assemble(value, first, blocks)
}
