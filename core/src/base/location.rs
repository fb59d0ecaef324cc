//! The source location that operations and messages refer to.

use crate::base::stack::with_room;
use crate::base::{erased, scoped};
use std::cell::Cell;
use std::fmt;
use std::panic::Location;

thread_local! {
    static LOCATION: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
    /// The line that called a library function, for the function's own operations.
    static CALLED: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
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
    scoped::with(&CALLED, None, || {
        scoped::with(&LOCATION, location, || with_room(f));
    });
}

/// Attributes the operations of `f` to a line that called a library function: what
/// [`debug_nans`](crate::debug_nans) reports is then a line of the program, not of the library. If such
/// functions call each other, the outermost call counts.
///
/// ```
/// use ramie_core::{Array, called_at};
/// use std::panic::Location;
///
/// #[track_caller]
/// fn entropy(p: &Array) -> Array {
///     called_at(Location::caller(), || -(p * p.log()).sum())
/// }
/// assert_eq!(entropy(&Array::from([1.0f32, 1.0])).item::<f32>(), 0.0);
/// ```
pub fn called_at<R>(location: &'static Location<'static>, f: impl FnOnce() -> R) -> R {
    let location = CALLED.get().unwrap_or(location);
    scoped::with(&CALLED, Some(location), f)
}

/// Returns the source location to which an operation belongs that was applied at `caller`.
#[inline]
pub(crate) fn attributed(caller: &'static Location<'static>) -> &'static Location<'static> {
    current_location().or(CALLED.get()).unwrap_or(caller)
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
