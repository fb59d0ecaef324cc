//! Functions that run when the process exits.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
use crate::host_calls;
use ramie_base::lock::lock;
use std::ffi::c_int;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use std::ffi::c_void;
use std::sync::Mutex;

/// The functions registered with [`at_exit`], in order.
static FUNCTIONS: Mutex<Vec<fn()>> = Mutex::new(Vec::new());

/// Registers a function to be called when the process exits: when `main` returns or panics, and
/// at [`std::process::exit`], on the thread that ends the process.
///
/// On Windows, [`std::process::exit`] stops all threads and calls no functions. There, return an
/// [`ExitCode`](std::process::ExitCode) from `main` instead.
///
/// Functions run in reverse order of registration, before the exit waits for unfinished programs
/// of the clients that existed at the registration. They do not run if the process aborts or is
/// killed by a signal. An exit inside a callback does not wait.
///
/// ```
/// ramie_pjrt::at_exit(|| println!("bye"));
/// ```
pub fn at_exit(function: fn()) {
    lock(&FUNCTIONS).push(function);
    register(call_last);
}

extern "C" fn call_last() {
    call_one();
}

/// Calls the most recently registered function that has not run yet. Returns `false` if there is none.
fn call_one() -> bool {
    let last = lock(&FUNCTIONS).pop();
    last.inspect(|function| function()).is_some()
}

/// Registers `wait`, which waits for unfinished programs. An exit inside a callback does not wait,
/// because a program waits for the callback; it ends the process without destroying global objects,
/// which threads of the plugin use.
pub(crate) fn register_wait(wait: extern "C" fn()) {
    register(wait);
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            safe fn on_exit(
                function: extern "C" fn(c_int, *mut c_void),
                argument: *mut c_void,
            ) -> c_int;
        }
        // Runs before `wait`.
        on_exit(leave_callback, std::ptr::null_mut());
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
extern "C" fn leave_callback(status: c_int, _: *mut c_void) {
    if host_calls::is_running() {
        while call_one() {}
        // SAFETY: ends the process; no code runs after it.
        unsafe { libc::_exit(status) }
    }
}

/// Registers a function with the C library. This only fails if memory is exhausted.
pub(crate) fn register(function: extern "C" fn()) {
    unsafe extern "C" {
        safe fn atexit(function: extern "C" fn()) -> c_int;
    }
    atexit(function);
}
