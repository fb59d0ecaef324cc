//! Gradients with respect to all arguments.

use super::custom::Packed;
use super::grad::evaluate;
use super::{ArgTuple, Function, Objective};
use crate::base::location::Caller;

/// Returns a function that computes the gradient of a scalar function with respect to all its
/// arguments, as a tuple (`jax.grad` with all `argnums`). To differentiate with respect to some
/// of the arguments, pass a closure that takes these and captures the others.
///
/// ```
/// use ramie_core::{Array, grad_all};
/// let f = |x: Array, y: Array| (x * y).sum();
/// let (dx, dy) = grad_all(f)(Array::from([1.0f32, 2.0]), Array::from([3.0f32, 4.0]));
/// assert_eq!(dx.to_vec::<f32>(), [3.0, 4.0]);
/// assert_eq!(dy.to_vec::<f32>(), [1.0, 2.0]);
/// ```
///
/// # Panics
/// Panics in the same cases as [`grad`](super::grad()).
#[track_caller]
pub fn grad_all<'f, F, M>(f: F) -> Box<F::Fn<'f, Packed<F, M>>>
where
    F: Function<M> + 'f,
    F::Output: Objective,
    M: 'f,
{
    let caller = Caller::of("grad_all");
    F::untupled(move |args| evaluate_all(&f, args, caller).1)
}

/// Returns a function that computes the value of a scalar function and its gradient with respect
/// to all its arguments (`jax.value_and_grad` with all `argnums`).
///
/// # Panics
/// Panics in the same cases as [`grad`](super::grad()).
#[track_caller]
pub fn value_and_grad_all<'f, F, M>(f: F) -> Box<F::Fn<'f, (F::Output, Packed<F, M>)>>
where
    F: Function<M> + 'f,
    F::Output: Objective,
    M: 'f,
{
    let caller = Caller::of("value_and_grad_all");
    F::untupled(move |args| evaluate_all(&f, args, caller))
}

fn evaluate_all<F, M>(f: &F, args: F::Args, caller: Caller) -> (F::Output, Packed<F, M>)
where
    F: Function<M>,
    F::Output: Objective,
{
    let packed = |args: Packed<F, M>| f.call(F::Args::unpack(args));
    evaluate(&packed, (args.pack(),), caller, false)
}
