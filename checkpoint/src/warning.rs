//! Warnings that must not be overlooked.

/// Logs an error, and prints it on stderr if the program has no `tracing` subscriber that
/// could show it.
pub(crate) fn warn_loudly(message: &str) {
    tracing::error!("{message}");
    if !tracing::dispatcher::has_been_set() {
        eprintln!("ramie: {message}");
    }
}
