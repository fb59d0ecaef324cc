//! Staging a function without running it: its program, and the types of its
//! results.

use super::{ArgTuple, Function};
use crate::array::Repr;
use crate::jaxpr::ClosedJaxpr;
use crate::{Array, Tree, trace, tree};
use std::panic::Location;

/// The program of a function at the types of its arguments
/// (`jax.make_jaxpr`). Arrays without elements serve as arguments too.
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
/// The returned function panics where the traced function does.
#[track_caller]
pub fn make_jaxpr<'f, F, M>(f: F) -> Box<<F::Args as ArgTuple>::Fn<'f, ClosedJaxpr>>
where
    F: Function<M> + 'f,
    M: 'f,
{
    let at = Location::caller();
    F::Args::spread(move |args| {
        trace::at_location(at, || {
            super::grad::trace(&args, |args| f.call(args)).program
        })
    })
}

/// The result of `f` with types in the place of elements: nothing is computed
/// (`jax.eval_shape`). Arrays without elements serve as arguments too.
///
/// ```
/// use ramie_core::{Array, DType, eval_shape};
/// let x = Array::shape_dtype_struct(&[1000, 1000, 1000], DType::F32);
/// let y = eval_shape(|x: Array| x.sum_axes(&[0]).astype(DType::BF16), x);
/// assert_eq!(y.aval().to_string(), "bf16[1000,1000]");
/// ```
///
/// # Panics
/// Where `f` does.
#[track_caller]
pub fn eval_shape<A: Tree, R: Tree>(f: impl FnOnce(A) -> R, args: A) -> R {
    let traced = super::grad::trace(&args, f);
    tree::map(&traced.result, |a| Array(Repr::Abstract(a.aval(), None)))
}
