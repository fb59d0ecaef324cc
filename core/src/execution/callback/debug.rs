//! Inspecting programs while they run: printing and debug callbacks, also from compiled
//! functions, loops and derivatives.

use super::{HostFunction, Ordered, VmapMethod};
use crate::execution::callback::primitive::{CallbackKind, HostCallback};
use crate::program::array::format::Format;
pub use crate::program::array::format::FormatArgs;
use crate::program::array::type_only;
use crate::program::trace::bind;
use crate::program::tree;
use crate::{Array, Tree};
use std::io::Write;

/// Calls `f` with the values of `args` whenever execution reaches this point
/// (`jax.debug.callback`).
///
/// Inside `jit` the call is part of the program, even if nothing depends on it. Under `vmap` it
/// happens once for each example, under `grad` once for the primal computation. If examples take
/// different branches or different numbers of steps, all of them are executed together, and calls
/// also happen with values that are not used. Calls of one program may happen in any order and on
/// any thread; [`effects_barrier`](crate::effects_barrier) waits for them.
///
/// `f` receives arrays with elements. It can read them, but operations on arrays fail in it,
/// because the device may be waiting for it.
///
/// ```no_run
/// use ramie_core::{Array, debug, effects_barrier, jit};
/// use std::sync::{Arc, Mutex};
/// let seen = Arc::new(Mutex::new(Vec::new()));
/// let log = seen.clone();
/// let f = jit(move |x: Array| {
///     let log = log.clone();
///     debug::callback(move |x: Array| log.lock().unwrap().push(x.item::<f32>()), x.clone());
///     x * 2.0
/// });
/// f(Array::from(3.0f32));
/// effects_barrier()?;
/// assert_eq!(*seen.lock().unwrap(), [3.0]);
/// # Ok::<(), ramie_core::Error>(())
/// ```
///
/// # Panics
/// Panics outside `jit` if `f` panics.
#[track_caller]
pub fn callback<A: Tree>(f: impl Fn(A) + Send + Sync + 'static, args: A) {
    call(f, args, false);
}

/// Same as [`callback`], with calls in program order, also across programs (`ordered=True` in JAX).
///
/// # Panics
/// Panics under `vmap`, which has no order. Panics outside `jit` if `f` panics.
#[track_caller]
pub fn callback_with<A: Tree>(f: impl Fn(A) + Send + Sync + 'static, args: A, _: Ordered) {
    call(f, args, true);
}

#[track_caller]
fn call<A: Tree>(f: impl Fn(A) + Send + Sync + 'static, args: A, ordered: bool) {
    let leaves = tree::leaves(&args);
    let like = tree::map(&args, type_only);
    let body = move |arrays: &[Array]| {
        f(tree::with_leaves(&like, arrays.iter().cloned()));
        Vec::new()
    };
    let function = HostFunction::new("debug_callback", body);
    bind_debug(function, ordered, &leaves.iter().collect::<Vec<_>>());
}

#[track_caller]
fn bind_debug(function: HostFunction, ordered: bool, args: &[&Array]) {
    let method = Some(VmapMethod::Sequential);
    let call = HostCallback::new(CallbackKind::Debug, function, Vec::new(), ordered, method);
    bind(call, args);
}

/// Prints values whenever execution reaches this point (`jax.debug.print`).
///
/// `{}` in `format` is replaced by the next array, `{loss}` by the array of this name.
/// `{:.3}` sets the number of decimal places, `{:8}` and `{:>8}` the width, `{:e}` prints an
/// exponent, and `{:?}` also the dtype; the types `d` and `f` of Python are accepted. `{{` and
/// `}}` are braces. A newline is appended. [`callback`] documents when printing happens.
///
/// ```no_run
/// use ramie_core::{Array, debug, jit};
/// let f = jit(|x: Array| {
///     let y = x.sin();
///     debug::print("x = {}, y = {:.2}", &[&x, &y]);
///     debug::print("{loss:.3} at {step}", [("loss", &y), ("step", &x)]);
///     y
/// });
/// f(Array::from(1.0f32)); // x = 1.0, y = 0.84, then 0.841 at 1.0
/// ```
///
/// # Panics
/// Panics if the placeholders in `format` do not match the arrays.
#[track_caller]
pub fn print<'a>(format: &str, args: impl FormatArgs<'a>) {
    print_named(format, &args.named(), false);
}

/// Same as [`print()`], with lines in program order, also across programs (`ordered=True` in JAX).
///
/// # Panics
/// Panics in the same cases as [`print()`], and under `vmap`, which has no order.
#[track_caller]
pub fn print_with<'a>(format: &str, args: impl FormatArgs<'a>, _: Ordered) {
    print_named(format, &args.named(), true);
}

#[track_caller]
fn print_named(format: &str, args: &[(&str, &Array)], ordered: bool) {
    let (names, args): (Vec<&str>, Vec<&Array>) = args.iter().copied().unzip();
    let format = Format::new("debug::print", format, &names);
    let body = move |arrays: &[Array]| {
        let line = format.fill(arrays) + "\n";
        // A closed pipe must not fail a computation.
        let _ = std::io::stdout().lock().write_all(line.as_bytes());
        Vec::new()
    };
    bind_debug(HostFunction::new("debug_callback", body), ordered, &args);
}
