//! Host functions called by programs: printing, callbacks with and without results, and the
//! barrier that waits for them.

pub mod debug;
mod external;
mod function;
pub mod primitive;

pub use external::{
    Ordered, VmapMethod, io_callback, io_callback_with, pure_callback, pure_callback_with,
};
pub(crate) use function::HostFunction;
pub use function::Level;

use crate::base::location::fail;
use crate::{Error, Result, client};
use ramie_pjrt::Callback;

/// Blocks until the effects of all previous calls have happened, such as the output of callbacks
/// (`jax.effects_barrier`).
///
/// # Panics
/// Panics inside a callback, because the program that called it ends after it.
///
/// # Errors
/// Returns an error if a callback failed since the last barrier and no execution error has
/// reported it; the message is that of the first such failure.
///
/// # Examples
///
/// ```no_run
/// use ramie_core::{Array, debug, effects_barrier, jit};
/// let f = jit(|x: Array| debug::print("x = {}", &[&x]));
/// f(Array::from([1.0f32, 2.0]));
/// effects_barrier()?;
/// # Ok::<(), ramie_core::Error>(())
/// ```
#[track_caller]
pub fn effects_barrier() -> Result<()> {
    if Callback::is_running() {
        fail(
            "effects_barrier: a callback cannot wait for the effects of the program that called it\n  \
             help: call effects_barrier() outside of callbacks",
        );
    }
    client::ordered::wait();
    client::runtime()?.client().wait();
    match Callback::take_failures().into_iter().next() {
        Some(message) => Err(Error::Callback(message)),
        None => Ok(()),
    }
}
