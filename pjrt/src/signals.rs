//! Signals that end a process where an error would do.

/// Has writes beyond the limit of a file's size (`ulimit -f`) fail as other writes do,
/// with an error that names the file. Without this the system ends the process with
/// the signal `SIGXFSZ`, without a word.
///
/// The disposition of a signal belongs to the whole process, as with `SIGPIPE`, which
/// Rust's runtime ignores in the same way. A handler that the program has installed
/// stays. Ramie calls this when it starts the runtime, and the tool `ramie` calls it
/// when it starts.
pub fn fail_writes_beyond_limit() {
    #[cfg(unix)]
    {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            // SAFETY: `signal` takes no pointers but the disposition, and a handler that
            // was there before is put back at once.
            unsafe {
                let before = libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
                if before != libc::SIG_DFL && before != libc::SIG_ERR {
                    libc::signal(libc::SIGXFSZ, before);
                }
            }
        });
    }
}
