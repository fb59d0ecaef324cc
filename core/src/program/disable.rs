//! `disable_jit`: runs jitted functions operation by operation.

use crate::base::scoped;
use std::cell::Cell;

thread_local! { static DISABLED: Cell<bool> = const { Cell::new(false) }; }

/// Runs `f` with `jit` disabled on this thread (`jax.disable_jit`): jitted functions run as
/// ordinary functions, so that their values can be read, printed and inspected with a debugger.
/// Control flow runs with concrete values, too.
///
/// ```no_run
/// use ramie_core::config::disable_jit;
/// use ramie_core::{jit, Array};
/// let f = jit(|x: Array| {
///     let y = x.sin();
/// println!("{}", y.to_vec::<f32>()[0]); // would panic inside `jit`
///     y * 2.0
/// });
/// disable_jit(|| f(Array::from([1.0f32, 2.0])));
/// ```
pub fn disable_jit<R>(f: impl FnOnce() -> R) -> R {
    scoped::with(&DISABLED, true, f)
}

/// Returns whether this thread runs inside [`disable_jit`].
#[inline]
pub(crate) fn jit_is_disabled() -> bool {
    DISABLED.get()
}
