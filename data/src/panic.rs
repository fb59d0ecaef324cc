//! Panics turned into messages.

use ramie_base::panic::message;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Returns the result of a function, or the message of its panic.
pub(crate) fn caught<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|panic| message(&*panic).to_owned())
}
