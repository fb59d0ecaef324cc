//! What a panic said.

use std::any::Any;

/// The message of a panic that was caught.
pub(crate) fn message_of(panic: &(dyn Any + Send)) -> String {
    match panic.downcast_ref::<String>() {
        Some(message) => message.clone(),
        None => match panic.downcast_ref::<&str>() {
            Some(message) => message.to_string(),
            None => "a value that is not text".to_string(),
        },
    }
}
