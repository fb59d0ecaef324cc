//! The source location that operations and messages refer to.

use crate::base::scoped;
use crate::base::stack::with_room;
use std::cell::Cell;
use std::panic::Location;

thread_local! {
    static LOCATION: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
}

/// Runs `f` with `location` as the source location of every operation, so that operations derived
/// from an equation refer to the line that created the equation.
pub(crate) fn at_location<R>(location: &'static Location<'static>, f: impl FnOnce() -> R) -> R {
    ascribed(Some(location), f)
}

/// Runs a user's function with operations attributed to its own lines, even if a transformation
/// calls it.
pub(crate) fn in_user_code<R>(f: impl FnOnce() -> R) -> R {
    ascribed(None, f)
}

fn ascribed<R>(location: Option<&'static Location<'static>>, f: impl FnOnce() -> R) -> R {
    scoped::with(&LOCATION, location, || with_room(f))
}

/// Returns the source location that rules currently use.
#[inline]
pub(crate) fn current_location() -> Option<&'static Location<'static>> {
    LOCATION.get()
}

/// Panics at the caller's line, with the line of the operation that is being transformed.
#[track_caller]
pub(crate) fn fail(message: &str) -> ! {
    match current_location() {
        Some(at) => panic!("{message}\n  while transforming the operation at {at}"),
        None => panic!("{message}"),
    }
}
