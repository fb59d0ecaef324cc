//! Turning captured values into arguments.

use crate::jaxpr::ClosedJaxpr;
use crate::{Array, Tree, tree};

/// The function at arguments of these types, with the values of enclosing traces
/// that it captures as arguments of their own, and these values
/// (`jax.closure_convert`).
///
/// A function with a derivative of its own cannot capture what is
/// differentiated; it can take it as an argument. Where the function is
/// someone else's, this finds what it captures.
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
/// The returned function panics if its arguments do not have the types of
/// `example` and of the captured values.
#[track_caller]
pub fn closure_convert<A: Tree, R: Tree>(
    f: impl FnOnce(A) -> R,
    example: A,
) -> (impl Fn(A, &[Array]) -> R + Send + Sync, Vec<Array>) {
    let traced = super::grad::trace(&example, f);
    let ClosedJaxpr { jaxpr, consts } = traced.program;
    let captured: Vec<Array> = consts.iter().filter(|a| a.is_tracer()).cloned().collect();
    let result = tree::shape_dtype_structs(&traced.result);
    let converted = move |args: A, captured: &[Array]| {
        let mut captured = captured.iter().cloned();
        let consts: Vec<Array> = consts
            .iter()
            .map(|a| match a.is_tracer() {
                true => captured.next().expect("a value for each captured one"),
                false => a.clone(),
            })
            .collect();
        tree::with_leaves(&result, jaxpr.eval(&consts, &tree::leaves(&args)))
    };
    (converted, captured)
}
