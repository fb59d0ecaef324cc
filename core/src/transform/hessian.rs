//! `hessian` and Hessian-vector products.

use super::argnums::{Argnums, of_selected};
use super::custom::First;
use super::grad::evaluate;
use super::jacobian::{forward, forward_with_aux, reverse, reverse_with_aux};
use super::{ArgTuple, Codomain, Function, Objective, jvp};
use crate::Tree;
use crate::base::location::Caller;

type Jacobian<F, M, N> = <<F as Function<M>>::Output as Codomain<
    <N as Argnums<<F as Function<M>>::Args>>::Selected,
>>::Jacobian;
type Rows<F, M> = <<F as Function<M>>::Output as Codomain<First<F, M>>>::Jacobian;

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
    let caller = Caller::of("hessian");
    F::untupled(move |args| {
        let (first, rest) = args.split();
        let value = |x| f.call(F::Args::join(x, &rest));
        let rows = |x| reverse(value, &x, caller, false);
        forward(rows, &first, caller, false)
    })
}

/// Same as [`hessian`], with respect to the arguments that `of` selects (`jax.hessian` with
/// `argnums` or `holomorphic`).
///
/// # Panics
/// Panics in the same cases as [`jacfwd_with`](super::jacfwd_with).
#[track_caller]
pub fn hessian_with<'f, F, M, N>(
    f: F,
    of: N,
) -> Box<F::Fn<'f, <Jacobian<F, M, N> as Codomain<N::Selected>>::Jacobian>>
where
    F: Function<M> + 'f,
    F::Output: Codomain<N::Selected>,
    Jacobian<F, M, N>: Codomain<N::Selected>,
    N: Argnums<F::Args> + 'f,
    M: 'f,
{
    let caller = Caller::of("hessian");
    let _ = of;
    F::untupled(move |args| {
        let f = of_selected::<F, M, N>(&f, &args);
        let rows = |x| reverse(&f, &x, caller, N::HOLOMORPHIC);
        forward(rows, &N::select(&args), caller, N::HOLOMORPHIC)
    })
}

/// Same as [`hessian`], for a function that also returns auxiliary values, `(result, aux)`, which
/// are not differentiated (`jax.hessian(…, has_aux=True)`). Returns the Hessian and the auxiliary
/// values.
///
/// # Panics
/// Panics in the same cases as [`hessian`].
#[track_caller]
pub fn hessian_with_aux<'f, F, M, R, X>(
    f: F,
) -> Box<F::Fn<'f, (<R::Jacobian as Codomain<First<F, M>>>::Jacobian, X)>>
where
    F: Function<M, Output = (R, X)> + 'f,
    R: Codomain<First<F, M>> + 'f,
    R::Jacobian: Codomain<First<F, M>>,
    X: Tree,
    M: 'f,
{
    let caller = Caller::of("hessian");
    F::untupled(move |args| {
        let (first, rest) = args.split();
        let value = |x| f.call(F::Args::join(x, &rest));
        let rows = |x| reverse_with_aux(value, &x, caller, false);
        forward_with_aux(rows, &first, caller, false)
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
