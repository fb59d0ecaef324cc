//! Messages of panics.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Returns the result of `f`, or the message of its panic.
///
/// # Errors
/// Returns the message if `f` panics.
pub fn caught<R>(f: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|payload| match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast_ref::<&str>().unwrap_or(&"").to_string(),
    })
}

/// Returns the message of the panic in `f`.
///
/// ```
/// let x: Option<i32> = None;
/// assert_eq!(ramie_testing::panic_message(|| x.expect("a number")), "a number");
/// ```
///
/// # Panics
/// If `f` does not panic.
#[track_caller]
pub fn panic_message<R>(f: impl FnOnce() -> R) -> String {
    match caught(f) {
        Ok(_) => panic!("nothing panicked"),
        Err(message) => message,
    }
}

/// Checks that `f` panics with a message that contains all parts.
///
/// # Panics
/// If `f` does not panic, or if a part is missing.
#[track_caller]
pub fn assert_panics<R>(f: impl FnOnce() -> R, parts: &[&str]) {
    let message = panic_message(f);
    for part in parts {
        assert!(
            message.contains(part),
            "`{part}` is not in the message:\n{message}"
        );
    }
}

/// Checks that `f` panics with a message that contains all parts and a remedy after `help: `.
///
/// # Panics
/// If `f` does not panic, or if a part or the remedy is missing.
#[track_caller]
pub fn assert_explained<R>(f: impl FnOnce() -> R, parts: &[&str]) {
    assert_panics(f, &[parts, &["help: "]].concat());
}
