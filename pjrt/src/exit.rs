//! Functions that run when the process exits.

use crate::lock::lock;
use std::sync::Mutex;

/// The functions of [`at_exit`], in the order of their registration.
static FUNCTIONS: Mutex<Vec<fn()>> = Mutex::new(Vec::new());

/// Calls a function when the process exits: when `main` returns, when it panics, and at
/// [`std::process::exit`], on the thread that ends the process.
///
/// Functions run in reverse order of registration, before the exit waits for unfinished
/// programs of the clients that existed at the registration. Nothing runs when the process
/// aborts or a signal kills it.
///
/// ```
/// ramie_pjrt::at_exit(|| println!("bye"));
/// ```
pub fn at_exit(function: fn()) {
    lock(&FUNCTIONS).push(function);
    register(call_last);
}

/// Calls the function that was registered last and has not run yet.
extern "C" fn call_last() {
    let last = lock(&FUNCTIONS).pop();
    if let Some(function) = last {
        function();
    }
}

/// Registers a function with the C library. It fails only without memory.
pub(crate) fn register(function: extern "C" fn()) {
    unsafe extern "C" {
        safe fn atexit(function: extern "C" fn()) -> std::ffi::c_int;
    }
    atexit(function);
}
