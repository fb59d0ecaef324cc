//! Functions of the host with results.

use super::HostFunction;
use crate::array::Repr;
use crate::prim::callback::{CallbackKind, HostCallback};
use crate::trace::bind;
use crate::{Array, Aval, Tree, tree};

/// How a callback is called for many examples at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VmapMethod {
    /// Once for each example.
    Sequential,
    /// Once, with an axis over the examples in front of every argument and
    /// result. In arguments that are the same for all examples its size is 1.
    ExpandDims,
    /// Once, with an axis over the examples in front of every argument and
    /// result; arguments that are the same for all examples are repeated.
    BroadcastAll,
}

/// A tree with types in the place of elements.
pub(super) fn without_elements<T: Tree>(tree: &T) -> T {
    tree::map(tree, |a| Array(Repr::Abstract(a.aval(), None)))
}

/// The result of a function of the host that depends on its arguments only
/// (`jax.pure_callback`).
///
/// `result` gives shapes and types of what `f` returns
/// ([`Array::shape_dtype_struct`]). Inside of `jit` the program calls `f` with
/// the values of `args`; it may do so several times, or not at all if nothing
/// needs the result. It can be called on any thread, on several at once.
///
/// In `f` elements can be read, and arrays made of them; operations on arrays
/// fail in it, because the device may be waiting for it.
///
/// There is no derivative: give one with `custom_jvp`. For `vmap` see
/// [`pure_callback_with`].
///
/// ```no_run
/// use ramie_core::{Array, DType, jit, pure_callback};
/// let f = jit(|x: Array| {
///     let shape = Array::shape_dtype_struct(&[], DType::F32);
///     pure_callback(
///         |x: Array| Array::from(x.to_vec::<f32>().iter().copied().fold(0.0, f32::max)),
///         shape,
///         x,
///     )
/// });
/// assert_eq!(f(Array::from([1.0f32, 5.0, 3.0])).item::<f32>(), 5.0);
/// ```
///
/// # Panics
/// Outside of `jit`, if `f` panics or returns something else than promised; in
/// a program that is an error of the execution.
#[track_caller]
pub fn pure_callback<A: Tree, R: Tree>(
    f: impl Fn(A) -> R + Send + Sync + 'static,
    result: R,
    args: A,
) -> R {
    call(CallbackKind::Pure, f, result, args, false, None)
}

/// [`pure_callback`] that can be mapped by `vmap`.
///
/// ```no_run
/// use ramie_core::{Array, DType, VmapMethod, pure_callback_with, vmap};
/// let round = |x: Array| Array::from(x.item::<f32>().round());
/// let f = move |x: Array| {
///     let shape = Array::shape_dtype_struct(&[], DType::F32);
///     pure_callback_with(round, shape, x, VmapMethod::Sequential)
/// };
/// let y = vmap(f)(Array::from([0.4f32, 1.6]));
/// assert_eq!(y.to_vec::<f32>(), [0.0, 2.0]);
/// ```
///
/// # Panics
/// As [`pure_callback`].
#[track_caller]
pub fn pure_callback_with<A: Tree, R: Tree>(
    f: impl Fn(A) -> R + Send + Sync + 'static,
    result: R,
    args: A,
    method: VmapMethod,
) -> R {
    let method = Some(method);
    call(CallbackKind::Pure, f, result, args, false, method)
}

/// The result of a function of the host that reads or writes the world outside
/// (`jax.experimental.io_callback`).
///
/// As [`pure_callback`], but it is called exactly once each time the program
/// gets here, also if nothing needs the result. Calls of one program may happen
/// in any order. `vmap` calls it once for each example.
///
/// # Panics
/// As [`pure_callback`].
#[track_caller]
pub fn io_callback<A: Tree, R: Tree>(
    f: impl Fn(A) -> R + Send + Sync + 'static,
    result: R,
    args: A,
) -> R {
    let method = Some(VmapMethod::Sequential);
    call(CallbackKind::Io, f, result, args, false, method)
}

/// [`io_callback`] in order: calls happen in the order in which programs make
/// them, also those of several programs.
///
/// # Panics
/// As [`pure_callback`], and under `vmap`, where there is no order.
#[track_caller]
pub fn io_callback_ordered<A: Tree, R: Tree>(
    f: impl Fn(A) -> R + Send + Sync + 'static,
    result: R,
    args: A,
) -> R {
    call(CallbackKind::Io, f, result, args, true, None)
}

#[track_caller]
fn call<A: Tree, R: Tree>(
    kind: CallbackKind,
    f: impl Fn(A) -> R + Send + Sync + 'static,
    result: R,
    args: A,
    ordered: bool,
    method: Option<VmapMethod>,
) -> R {
    let operation = match kind {
        CallbackKind::Io => "io_callback",
        _ => "pure_callback",
    };
    let results: Vec<Aval> = tree::leaves(&result)
        .iter()
        .map(|a| a.aval().strong())
        .collect();
    let leaves = tree::leaves(&args);
    let like = without_elements(&args);
    let body =
        move |arrays: &[Array]| tree::leaves(&f(tree::with_leaves(&like, arrays.iter().cloned())));
    let function = HostFunction::new(operation, body);
    let primitive = HostCallback::new(kind, function, results, ordered, method);
    let refs: Vec<&Array> = leaves.iter().collect();
    tree::with_leaves(&result, bind(primitive, &refs))
}
