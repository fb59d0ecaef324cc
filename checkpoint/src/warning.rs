//! Warnings that must not be missed.

/// Logs an error. Also prints it to stderr if the program has no `tracing` subscriber that could
/// show it.
pub(crate) fn warn_loudly(message: &str) {
    tracing::error!("{message}");
    if !tracing::dispatcher::has_been_set() {
        eprintln!("ramie: {message}");
    }
}
