//! `hessian` and Hessian-vector products.

use super::custom::First;
use super::grad::evaluate;
use super::jacobian::{JacobianOf, JacobianOptions, forward, reverse};
use super::{ArgTuple, Codomain, Function, Objective, jvp};
use crate::Tree;
use crate::base::location::Caller;

type Rows<F, M> = <<F as Function<M>>::Output as Codomain<First<F, M>>>::Jacobian;

type HessianOf<F, M, O> = <JacobianOf<F, M, O> as Codomain<First<F, M>>>::Jacobian;

/// Returns a function that computes the Hessian with respect to the first argument: the Jacobian
/// of the Jacobian, by forward mode over reverse mode (`jax.hessian`).
///
/// ```
/// use ramie_core::{Array, hessian};
/// let f = |x: Array| (x.square() * &x).sum();
/// let curvature = hessian(f)(Array::from([1.0f32, 2.0]));
/// assert_eq!(curvature.to_vec::<f32>(), [6.0, 0.0, 0.0, 12.0]);
/// ```
///
/// # Panics
/// Panics in the same cases as [`jacfwd`](super::jacfwd).
#[track_caller]
pub fn hessian<'f, F, M>(f: F) -> Box<F::Fn<'f, <Rows<F, M> as Codomain<First<F, M>>>::Jacobian>>
where
    F: Function<M> + 'f,
    F::Output: Codomain<First<F, M>>,
    Rows<F, M>: Codomain<First<F, M>>,
    M: 'f,
{
    hessian_with(f, ())
}

/// Same as [`hessian`], with the options of [`jacfwd_with`](super::jacfwd_with) (`jax.hessian` with
/// `holomorphic` or `has_aux`).
///
/// # Panics
/// Panics in the same cases as [`jacfwd_with`](super::jacfwd_with).
#[track_caller]
pub fn hessian_with<'f, F, M, O>(f: F, _: O) -> Box<F::Fn<'f, O::Result<HessianOf<F, M, O>>>>
where
    F: Function<M> + 'f,
    O: JacobianOptions<F::Output> + 'f,
    O::Value: Codomain<First<F, M>>,
    JacobianOf<F, M, O>: Codomain<First<F, M>>,
    M: 'f,
{
    let caller = Caller::of("hessian");
    F::untupled(move |args| {
        let (first, rest) = args.split();
        let value = |x| O::split(f.call(F::Args::join(x, &rest)));
        let rows = |x| reverse(value, &x, caller, O::HOLOMORPHIC);
        O::join(forward(rows, &first, caller, O::HOLOMORPHIC))
    })
}

/// Computes the product of a scalar function's Hessian and a tangent, by forward mode over
/// reverse mode. It costs about as much as two gradients.
///
/// ```
/// use ramie_core::{Array, hvp};
/// let f = |x: Array| (x.square() * &x).sum();
/// let x = Array::from([1.0f32, 2.0]);
/// let product = hvp(f, x, Array::from([1.0f32, 10.0]));
/// assert_eq!(product.to_vec::<f32>(), [6.0, 120.0]);
/// ```
///
/// # Panics
/// Panics in the same cases as [`grad`](super::grad()) and [`jvp`].
#[track_caller]
pub fn hvp<A: Tree, R: Objective>(f: impl Fn(A) -> R + Send + Sync, primals: A, tangents: A) -> A {
    let caller = Caller::of("hvp");
    let gradient = |x: A| evaluate(&f, (x,), caller, false).1;
    jvp(gradient, primals, tangents).1
}
