//! The source location that operations and messages refer to.

use crate::base::stack::with_room;
use crate::base::{erased, scoped};
use std::cell::Cell;
use std::fmt;
use std::panic::Location;

thread_local! {
    static LOCATION: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
}

/// A call of a transformation, for messages.
#[derive(Clone, Copy)]
pub(crate) struct Caller {
    /// Name of the transformation.
    pub operation: &'static str,
    /// Location of its call.
    pub at: &'static Location<'static>,
}

impl Caller {
    /// Describes the caller's call of `operation`.
    #[track_caller]
    pub fn of(operation: &'static str) -> Caller {
        let at = Location::caller();
        Caller { operation, at }
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was called at {}", self.operation, self.at)
    }
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
    erased::through(f, |f| ascribed_once(location, f))
}

/// [`ascribed`], compiled once for all functions.
fn ascribed_once(location: Option<&'static Location<'static>>, f: &mut dyn FnMut()) {
    scoped::with(&LOCATION, location, || with_room(f));
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
