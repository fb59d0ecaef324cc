//! `disable_most_optimizations`: programs that compile quickly and run slowly.

use crate::base::scoped;
use std::cell::Cell;

thread_local! { static DISABLED: Cell<bool> = const { Cell::new(false) }; }

/// Runs `f` with most optimizations of the compiler disabled on this thread
/// (`jax_disable_most_optimizations`): a CPU program compiles about three times as fast, and runs
/// several times more slowly. Use it in tests that run each program once;
/// [`RuntimeOptions::disable_most_optimizations`](crate::RuntimeOptions::disable_most_optimizations)
/// does the same for a whole process.
///
/// The last bits of results may differ, because products and sums are not fused. Programs that were
/// compiled with optimizations are not used inside, nor those compiled inside elsewhere.
///
/// ```
/// use ramie_core::{Array, disable_most_optimizations, jit};
/// let f = jit(|x: Array| x.sin().sum());
/// let y = disable_most_optimizations(|| f(Array::from([0.0f32, 0.0])));
/// assert_eq!(y.item::<f32>(), 0.0);
/// ```
pub fn disable_most_optimizations<R>(f: impl FnOnce() -> R) -> R {
    scoped::with(&DISABLED, true, f)
}

/// Returns whether this thread runs inside [`disable_most_optimizations`].
#[inline]
pub(crate) fn least_effort() -> bool {
    DISABLED.get()
}
