//! Panics that report the line of the user's call.

use std::cell::Cell;
use std::panic::Location;

type Call = (&'static str, &'static Location<'static>);

thread_local! {
    /// The user's call in progress.
    static CALL: Cell<Option<Call>> = const { Cell::new(None) };
}

/// Runs `f` as part of a call by the user. Transformations call each other: only the outermost
/// call is the user's.
pub(crate) fn within<R>(
    what: &'static str,
    at: &'static Location<'static>,
    f: impl FnOnce() -> R,
) -> R {
    struct Restore(Option<Call>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CALL.set(self.0);
        }
    }
    let _restore = Restore(CALL.get());
    if CALL.get().is_none() {
        CALL.set(Some((what, at)));
    }
    f()
}

/// Returns whether no call by the user is in progress, so that the next one is the user's.
pub(crate) fn is_outermost() -> bool {
    CALL.get().is_none()
}

/// Panics with a message and the location of the user's call, which the location of a closure
/// does not show.
#[track_caller]
pub(crate) fn refuse(message: &str) -> ! {
    match CALL.get() {
        Some((what, at)) => panic!("{message}\n  in the call of `{what}` at {at}"),
        None => panic!("{message}"),
    }
}
