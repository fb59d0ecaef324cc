//! Functions of the host called by programs: printing, callbacks with and
//! without results, and the barrier that waits for them.

pub mod debug;
mod external;
pub(crate) mod format;
mod function;

pub use external::{
    VmapMethod, io_callback, io_callback_ordered, pure_callback, pure_callback_with,
};
pub(crate) use function::HostFunction;
pub use function::Level;

use crate::{Error, Result, runtime};
use ramie_pjrt::Callback;

/// Blocks until the effects of everything called so far have happened: what
/// callbacks print or write (`jax.effects_barrier`).
///
/// # Errors
/// If a callback failed since the last barrier and no error of its execution has
/// reported that; the text is that of the first such failure.
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
pub fn effects_barrier() -> Result<()> {
    runtime::ordered::wait();
    runtime::runtime()?.client().wait();
    match Callback::take_failures().into_iter().next() {
        Some(message) => Err(Error::Callback(message)),
        None => Ok(()),
    }
}
