//! Warnings about many compilations with one cause.

use super::signature::Change;
use std::panic::Location;

/// Number of compilations caused by one part of the arguments that is reported.
pub(super) const MANY: usize = 8;

/// Prints that a function was compiled [`MANY`] times because of one part of its arguments.
pub(super) fn warn(name: &str, change: &Change, at: &Location<'_>) {
    let message = message(name, change, at);
    eprintln!("ramie: {message}");
    tracing::warn!("{message}");
}

fn message(name: &str, change: &Change, at: &Location<'_>) -> String {
    let Change { path, from, to, .. } = change;
    let (part, help) = if change.is_fixed {
        (
            "the static value",
            "numbers, booleans and strings are static: each new value compiles another program; \
         pass a number that changes between calls as an array, `array(value)`",
        )
    } else {
        (
            "the array",
            "each new shape, dtype or sharding compiles another program; pad the array to a few \
         sizes, or drop an incomplete last batch",
        )
    };
    format!(
        "warning: `{name}` was compiled {MANY} times because {part} `{path}` changed, last from \
         {from} to {to}\n  jit was called at {at}\n  help: {help}"
    )
}
