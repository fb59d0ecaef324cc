//! Callbacks to the host that return results.

use super::HostFunction;
use crate::execution::callback::primitive::{CallbackKind, HostCallback};
use crate::program::array::type_only;
use crate::program::trace::bind;
use crate::program::tree;
use crate::{Array, Aval, Tree};

/// The behavior of a callback under `vmap`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VmapMethod {
    /// Calls it once for each example.
    Sequential,
    /// Calls it once, with a leading batch axis in every argument and result. For arguments that
    /// are the same for all examples the axis has size 1.
    ExpandDims,
    /// Calls it once, with a leading batch axis in every argument and result; arguments that are
    /// the same for all examples are broadcast.
    BroadcastAll,
}

/// The option of [`io_callback_with`] and of [`debug`](super::debug) callbacks whose calls happen in
/// program order, also across programs (`ordered=True` in JAX).
#[derive(Clone, Copy, Debug, Default)]
pub struct Ordered;

/// Calls a function of the host whose result depends only on its arguments (`jax.pure_callback`).
///
/// `result` specifies shapes and dtypes of the values that `f` returns
/// ([`Array::shape_dtype_struct`]). Inside `jit` the program calls `f` with the values of `args`;
/// it may do so several times, or not at all if nothing needs the result. Calls may happen on any
/// thread, and concurrently.
///
/// `f` can read elements and create arrays from them, but operations on arrays fail in it,
/// because the device may be waiting for it.
///
/// There is no derivative: define one with `custom_jvp`. For `vmap`, use [`pure_callback_with`].
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
/// Panics outside `jit` if `f` panics or returns other shapes or dtypes than `result`; in a
/// program that is an error of the execution.
#[track_caller]
pub fn pure_callback<A: Tree, R: Tree>(
    f: impl Fn(A) -> R + Send + Sync + 'static,
    result: R,
    args: A,
) -> R {
    call(CallbackKind::Pure, f, result, args, false, None)
}

/// Calls a function like [`pure_callback`], but supports `vmap`.
///
/// ```no_run
/// use ramie_core::options::VmapMethod;
/// use ramie_core::{pure_callback_with, vmap, Array, DType};
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
/// Panics in the same cases as [`pure_callback`].
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

/// Calls a function of the host that has side effects, such as input and output
/// (`jax.experimental.io_callback`).
///
/// Behaves like [`pure_callback`], but is called exactly once each time execution reaches this
/// point, even if nothing needs the result. Calls of one program may happen in any order. Under
/// `vmap` it is called once for each example.
///
/// # Panics
/// Panics in the same cases as [`pure_callback`].
#[track_caller]
pub fn io_callback<A: Tree, R: Tree>(
    f: impl Fn(A) -> R + Send + Sync + 'static,
    result: R,
    args: A,
) -> R {
    let method = Some(VmapMethod::Sequential);
    call(CallbackKind::Io, f, result, args, false, method)
}

/// Same as [`io_callback`], with calls in program order, also across programs.
///
/// # Panics
/// Panics in the same cases as [`pure_callback`], and under `vmap`, which has no order.
#[track_caller]
pub fn io_callback_with<A: Tree, R: Tree>(
    f: impl Fn(A) -> R + Send + Sync + 'static,
    result: R,
    args: A,
    _: Ordered,
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
    let like = tree::map(&args, type_only);
    let body =
        move |arrays: &[Array]| tree::leaves(&f(tree::with_leaves(&like, arrays.iter().cloned())));
    let function = HostFunction::new(operation, body);
    let primitive = HostCallback::new(kind, function, results, ordered, method);
    let refs: Vec<&Array> = leaves.iter().collect();
    tree::with_leaves(&result, bind(primitive, &refs))
}
