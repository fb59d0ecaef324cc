//! Names of functions in programs and messages.

/// Returns the last part of a function's path, or `<lambda>` for a closure.
pub(crate) fn short_name<F>() -> &'static str {
    let full = std::any::type_name::<F>();
    let plain = full.split('<').next().unwrap_or(full);
    match plain.rsplit("::").next() {
        Some("{{closure}}") | None => "<lambda>",
        Some(name) => name,
    }
}
