//! Signals whose disposition a program changes: for writes beyond a limit, and into closed pipes.

/// Makes writes over the file size limit (`ulimit -f`) return an error, like other failed writes,
/// instead of killing the process with `SIGXFSZ`.
///
/// The disposition of a signal applies to the whole process. Rust's runtime ignores `SIGPIPE` in
/// the same way. If the program has installed a handler, it stays installed. Ramie calls this
/// when it starts the runtime, and the command-line tool `ramie` calls it on start.
pub fn fail_writes_beyond_limit() {
    #[cfg(unix)]
    {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            // SAFETY: `signal` takes no pointers but the disposition, and an existing handler is
            // restored immediately.
            unsafe {
                let before = libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
                if before != libc::SIG_DFL && before != libc::SIG_ERR {
                    libc::signal(libc::SIGXFSZ, before);
                }
            }
        });
    }
}

/// Makes a write into a pipe whose reader has exited, such as `head`, end the process silently, as in
/// other programs: with `SIGPIPE`, exit code 141 in a shell. Rust's runtime ignores the signal, so
/// `println!` would panic.
///
/// A command-line program calls this first. Systems other than Unix have no such signal.
pub fn end_when_pipe_closes() {
    #[cfg(unix)]
    // SAFETY: `signal` takes no pointers but the disposition, and the default runs no code of the program.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
}
