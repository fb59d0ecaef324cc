//! Messages of panics.

use std::any::Any;

/// Returns the message of a caught panic.
///
/// ```
/// let panic = std::panic::catch_unwind(|| panic!("no labels")).unwrap_err();
/// assert_eq!(ramie_base::panic::message(&*panic), "no labels");
/// ```
pub fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no message")
}
