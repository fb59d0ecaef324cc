//! Panics turned into messages.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Returns the result of a function, or the message of its panic.
pub(crate) fn caught<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|panic| message_of(&*panic))
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    match panic.downcast_ref::<String>() {
        Some(message) => message.clone(),
        None => match panic.downcast_ref::<&str>() {
            Some(message) => message.to_string(),
            None => "a value that is not a string".to_string(),
        },
    }
}
