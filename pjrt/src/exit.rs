//! Functions that run when the process exits.

use crate::lock::lock;
use std::sync::Mutex;

/// The functions registered with [`at_exit`], in order.
static FUNCTIONS: Mutex<Vec<fn()>> = Mutex::new(Vec::new());

/// Registers a function to be called when the process exits: when `main` returns or panics, and
/// at [`std::process::exit`], on the thread that ends the process.
///
/// Functions run in reverse order of registration, before the exit waits for unfinished programs
/// of the clients that existed at the registration. They do not run if the process aborts or is
/// killed by a signal.
///
/// ```
/// ramie_pjrt::at_exit(|| println!("bye"));
/// ```
pub fn at_exit(function: fn()) {
    lock(&FUNCTIONS).push(function);
    register(call_last);
}

/// Calls the most recently registered function that has not run yet.
extern "C" fn call_last() {
    let last = lock(&FUNCTIONS).pop();
    if let Some(function) = last {
        function();
    }
}

/// Registers a function with the C library. This only fails if memory is exhausted.
pub(crate) fn register(function: extern "C" fn()) {
    unsafe extern "C" {
        safe fn atexit(function: extern "C" fn()) -> std::ffi::c_int;
    }
    atexit(function);
}
