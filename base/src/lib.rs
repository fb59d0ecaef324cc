//! Locks, the clock, messages of panics and the debug form of errors, which all crates of Ramie share.

#![forbid(unsafe_code)]

pub mod clock;
pub mod lock;
pub mod panic;

/// Implements `Debug` of an error type as its message, so that `unwrap` and `main` print a readable
/// error.
///
/// ```
/// use std::fmt;
///
/// struct Missing;
///
/// impl fmt::Display for Missing {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         f.write_str("the file is missing")
///     }
/// }
///
/// ramie_base::debug_is_message!(Missing);
/// assert_eq!(format!("{Missing:?}"), "the file is missing");
/// ```
#[macro_export]
macro_rules! debug_is_message {
    ($error:ty) => {
        impl ::std::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(self, f)
            }
        }
    };
}
