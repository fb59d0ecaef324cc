//! Looking into programs while they run: printing and calling back, also from
//! compiled functions, loops and derivatives.

use super::format::Format;
use super::{HostFunction, VmapMethod};
use crate::prim::callback::{CallbackKind, HostCallback};
use crate::trace::bind;
use crate::{Array, Tree, tree};
use std::io::Write;

/// Calls `f` with the values of `args` whenever the program gets here
/// (`jax.debug.callback`).
///
/// Inside of `jit` the call is part of the program, also where nothing depends
/// on it. Under `vmap` it happens once for each example, under `grad` once for
/// the value. Examples that choose different branches, or run for different
/// numbers of steps, run together, and calls then also happen for values that
/// are not used. Calls of one program may happen in any order, and on any thread;
/// [`effects_barrier`](crate::effects_barrier) waits for them.
///
/// `f` gets arrays with elements. It can read them; operations on arrays fail
/// in it, because the device may be waiting for it.
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
/// Outside of `jit`, if `f` panics.
#[track_caller]
pub fn callback<A: Tree>(f: impl Fn(A) + Send + Sync + 'static, args: A) {
    call(f, args, false);
}

/// [`callback`] in order: calls happen in the order in which programs make
/// them, also those of several programs.
///
/// # Panics
/// Under `vmap`, where there is no order. Outside of `jit`, if `f` panics.
#[track_caller]
pub fn callback_ordered<A: Tree>(f: impl Fn(A) + Send + Sync + 'static, args: A) {
    call(f, args, true);
}

#[track_caller]
fn call<A: Tree>(f: impl Fn(A) + Send + Sync + 'static, args: A, ordered: bool) {
    let leaves = tree::leaves(&args);
    let like = super::external::without_elements(&args);
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

/// Prints values whenever the program gets here (`jax.debug.print`).
///
/// Each `{}` in `format` stands for an array, in order; `{:.3}` asks for digits
/// after the point, `{:?}` for the form with the element type, `{{` and `}}`
/// are braces. A line break is added. See [`callback`] for when it happens.
///
/// ```no_run
/// use ramie_core::{Array, debug, jit};
/// let f = jit(|x: Array| {
///     let y = x.sin();
///     debug::print("x = {}, y = {:.2}", &[&x, &y]);
///     y
/// });
/// f(Array::from(1.0f32)); // x = 1.0, y = 0.84
/// ```
///
/// # Panics
/// If the places in `format` are not as many as the arrays.
#[track_caller]
pub fn print(format: &str, args: &[&Array]) {
    print_with(format, args, false);
}

/// [`print()`] in order: lines come in the order in which programs make them,
/// also those of several programs.
///
/// # Panics
/// As [`print()`], and under `vmap`, where there is no order.
#[track_caller]
pub fn print_ordered(format: &str, args: &[&Array]) {
    print_with(format, args, true);
}

#[track_caller]
fn print_with(format: &str, args: &[&Array], ordered: bool) {
    let format = Format::new("debug::print", format, args.len());
    let body = move |arrays: &[Array]| {
        let line = format.fill(arrays) + "\n";
        // A closed pipe is no reason to fail a computation.
        let _ = std::io::stdout().lock().write_all(line.as_bytes());
        Vec::new()
    };
    bind_debug(HostFunction::new("debug_callback", body), ordered, args);
}
