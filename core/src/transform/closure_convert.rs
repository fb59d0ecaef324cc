//! Conversion of captured values to arguments.

use crate::program::jaxpr::ClosedJaxpr;
use crate::program::traced::trace_tree;
use crate::program::tree;
use crate::{Array, Tree};

/// Returns `f` at arguments of the types of `example`, with the values that it captures from
/// enclosing traces as additional arguments, and these values (`jax.closure_convert`).
///
/// A function with a custom derivative cannot capture values that are differentiated, but it can
/// take them as arguments. This finds the values that a function written elsewhere captures.
///
/// ```
/// use ramie_core::{Array, closure_convert, grad};
/// let outer = |scale: Array| {
///     let f = move |x: Array| x * &scale;
///     let (converted, captured) = closure_convert(f, Array::from(2.0f32));
///     assert_eq!(captured.len(), 1);
///     converted(Array::from(3.0f32), &captured)
/// };
/// assert_eq!(grad(outer)(Array::from(5.0f32)).item::<f32>(), 3.0);
/// ```
///
/// # Panics
/// The returned function panics if its arguments do not have the types of `example` and of the
/// captured values.
#[track_caller]
pub fn closure_convert<A: Tree, R: Tree>(
    f: impl FnOnce(A) -> R,
    example: A,
) -> (impl Fn(A, &[Array]) -> R + Send + Sync, Vec<Array>) {
    let traced = trace_tree(&example, f);
    let ClosedJaxpr { jaxpr, consts } = traced.program;
    let captured: Vec<Array> = consts.iter().filter(|a| a.is_tracer()).cloned().collect();
    let result = tree::shape_dtype_structs(&traced.result);
    let converted = move |args: A, captured: &[Array]| {
        let mut captured = captured.iter().cloned();
        let consts: Vec<Array> = consts
            .iter()
            .map(|a| {
                if a.is_tracer() {
                    captured.next().expect("a value for each captured one")
                } else {
                    a.clone()
                }
            })
            .collect();
        tree::with_leaves(&result, jaxpr.eval(&consts, &tree::leaves(&args)))
    };
    (converted, captured)
}
