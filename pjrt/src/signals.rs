//! Signals that kill a process where an error would be sufficient.

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
