//! The state of calls from programs to functions of this process: whether this thread runs one, and
//! the messages of those that have failed.

use crate::error::Error;
use ramie_base::lock::lock;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

static FAILURES: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// The maximum number of failures kept in case nothing takes them.
const KEPT_FAILURES: usize = 64;
thread_local! { static INSIDE: Cell<bool> = const { Cell::new(false) }; }

/// Returns `true` if this thread is running a callback.
#[inline]
pub(crate) fn is_running() -> bool {
    INSIDE.get()
}

/// Runs `f` as if a program called it.
pub(crate) fn enter<R>(f: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            INSIDE.set(self.0);
        }
    }
    let _restore = Restore(INSIDE.replace(true));
    f()
}

/// Calls a function, and records its error or panic.
pub(crate) fn recorded(f: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    let result = catch_unwind(AssertUnwindSafe(f))
        .unwrap_or_else(|panic| Err(format!("panicked: {}", ramie_base::panic::message(&*panic))));
    if let Err(message) = &result {
        let mut failures = lock(&FAILURES);
        if failures.len() < KEPT_FAILURES {
            failures.push(message.clone());
        }
    }
    result
}

/// Records that this error is returned to the caller, so that the callback failure in it is not
/// reported again.
#[cold]
pub(crate) fn note_reported(error: &Error) {
    let mut failures = lock(&FAILURES);
    if let Error::Plugin { message, .. } = error
        && let Some(at) = failures.iter().position(|f| message.contains(f.as_str()))
    {
        failures.remove(at);
    }
}

/// Takes the messages of the callbacks that have failed since the last call, except those that an
/// error has reported.
pub(crate) fn take_failures() -> Vec<String> {
    std::mem::take(&mut *lock(&FAILURES))
}
