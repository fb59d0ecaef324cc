//! The end of a program whose reader, such as `head`, has closed the pipe.

/// Makes SIGPIPE end the process, as it ends other programs: quietly, with the exit
/// code 141 in a shell. Rust's runtime ignores the signal, and `println!` would panic.
#[cfg(unix)]
pub(crate) fn end_when_closed() {
    use signal_hook::{consts::SIGPIPE, flag};
    use std::sync::{Arc, atomic::AtomicBool};
    // If the system refuses the handler, the program reports the closed pipe instead.
    let _ = flag::register_conditional_default(SIGPIPE, Arc::new(AtomicBool::new(true)));
}

/// Other systems have no such signal.
#[cfg(not(unix))]
pub(crate) fn end_when_closed() {}
