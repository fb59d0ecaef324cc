//! Exiting quietly when the reader of a pipe, such as `head`, has closed it.

/// Makes SIGPIPE end the process silently, as in other programs, with exit code 141 in a shell.
/// Rust's runtime ignores the signal, so `println!` would panic.
#[cfg(unix)]
pub(crate) fn end_when_closed() {
    use signal_hook::{consts::SIGPIPE, flag};
    use std::sync::{Arc, atomic::AtomicBool};
    // If the handler cannot be installed, the program reports the closed pipe instead.
    let _ = flag::register_conditional_default(SIGPIPE, Arc::new(AtomicBool::new(true)));
}

/// Other systems have no such signal.
#[cfg(not(unix))]
pub(crate) fn end_when_closed() {}
