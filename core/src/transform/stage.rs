//! Staging a function without running it: `make_jaxpr` and `eval_shape`.

use super::{Function, FunctionOnce, Packed};
use crate::base::location;
use crate::program::array::type_only;
use crate::program::jaxpr::ClosedJaxpr;
use crate::program::traced::trace_tree;
use crate::program::tree;
use std::panic::Location;

/// Returns a function that traces `f` at the types of its arguments to a jaxpr
/// (`jax.make_jaxpr`). Arrays without elements are accepted as arguments.
///
/// ```
/// use ramie_core::{Array, DType, make_jaxpr};
/// let x = Array::shape_dtype_struct(&[3], DType::F32);
/// let jaxpr = make_jaxpr(|x: Array| x.sin() * 2.0)(x);
/// assert_eq!(
///     jaxpr.to_string(),
///     "{ lambda ; a:f32[3]. let b:f32[3] = sin a; c:f32[3] = mul b 2.0:f32[] in (c,) }"
/// );
/// ```
///
/// # Panics
/// The returned function panics if the traced function panics.
#[track_caller]
pub fn make_jaxpr<'f, F, M>(f: F) -> Box<F::Fn<'f, ClosedJaxpr>>
where
    F: Function<M> + 'f,
    M: 'f,
{
    let at = Location::caller();
    F::untupled(move |args| {
        location::at_location(at, || trace_tree(&args, |args| f.call(args)).program)
    })
}

/// Returns the result of `f` as arrays without elements, and computes nothing (`jax.eval_shape`).
/// Arrays without elements are accepted as arguments. Several arguments are a tuple.
///
/// ```
/// use ramie_core::{Array, DType, eval_shape};
/// let x = Array::shape_dtype_struct(&[1000, 1000, 1000], DType::F32);
/// let y = eval_shape(|x: Array| x.sum_over(0).astype(DType::BF16), x);
/// assert_eq!(y.aval().to_string(), "bf16[1000,1000]");
/// ```
///
/// # Panics
/// Panics if `f` panics.
#[track_caller]
pub fn eval_shape<F: FunctionOnce<M>, M>(f: F, args: Packed<F, M>) -> F::Output {
    let traced = trace_tree(&args, super::grad::packed(f));
    tree::map(&traced.result, type_only)
}
