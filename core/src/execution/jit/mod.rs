//! `jit`: traces functions once per signature, compiles them with XLA, and runs them
//! asynchronously.

mod call;
mod compiled_call;
mod donate;
mod entry;
mod function;
mod place;
mod programs;
mod retraces;
mod signature;
mod stages;
mod trace;

pub use function::{JitFunction, Jitted, Staged};
pub(crate) use programs::forget_all;
pub use stages::{ArgInfo, Compiled, Lowered, Traced};

use crate::sharding::Shardings;
use ramie_pjrt::OptionOverride;
use ramie_plugins::settings;
use std::sync::atomic::{AtomicU8, Ordering};

/// Options of [`jit_with`].
#[derive(Clone, Debug)]
pub struct JitOptions {
    /// Name of the function in messages and programs. Defaults to its own name.
    pub name: Option<String>,
    /// Maximum number of compiled programs; the least recently used is removed. Defaults to 256.
    pub cache_limit: usize,
    /// Indices of the arguments that donate their buffers to results, counted from 0 without the
    /// state (`donate_argnums` in `jax.jit`). An array with other handles is copied instead.
    /// State passed by `&mut` is always donated.
    pub donate_argnums: Vec<usize>,
    /// Whether calls inside traced functions add the function's equations to the program instead
    /// of one equation that calls it (`inline` in `jax.jit`). Defaults to `false`.
    pub inline: bool,
    /// XLA flags for this function, by name.
    #[doc(alias = "CompilerOptions")]
    pub compiler_options: Vec<(String, OptionOverride)>,
    /// Shardings of the arguments. Arrays that are not yet sharded over a mesh are moved to them;
    /// arrays with another mesh sharding are rejected. By default arguments stay where they are.
    pub in_shardings: Option<Shardings>,
    /// Shardings of the results. By default state keeps its sharding, and the compiler chooses
    /// the others. A call inside a traced function constrains its results to them.
    pub out_shardings: Option<Shardings>,
}

impl Default for JitOptions {
    fn default() -> Self {
        JitOptions {
            name: None,
            cache_limit: 256,
            donate_argnums: Vec::new(),
            inline: false,
            compiler_options: Vec::new(),
            in_shardings: None,
            out_shardings: None,
        }
    }
}

/// Compiles a function (`jax.jit`).
///
/// The result is called like the function. The first call with given shapes, dtypes, devices and
/// fixed values runs the function once on tracers and compiles the traced program; later calls
/// run that program. Calls return immediately, while the device computes.
///
/// State passed by `&mut` as the first argument is replaced by its new value, in the same memory
/// if there are no other handles to it. Arrays of the state that the function leaves unchanged keep
/// their buffers. Arguments passed by value keep their buffers, unless
/// [`JitOptions::donate_argnums`] lists them. Arguments passed by reference, such as a model in
/// inference, are read in place and never donated.
///
/// ```no_run
/// use ramie_core::{Array, jit};
/// let step = jit(|count: &mut Array, by: Array| *count += by);
/// let mut count = Array::from(0.0f32);
/// for _ in 0..3 {
///     step(&mut count, Array::from(2.0f32));
/// }
/// assert_eq!(count.item::<f32>(), 6.0);
/// assert_eq!(step.compilations(), 1);
///
/// let predict = jit(|(w, b): &(Array, Array), x: &Array| x * w + b);
/// let params = (Array::from(2.0f32), Array::from(1.0f32));
/// assert_eq!(predict(&params, &Array::from(3.0f32)).item::<f32>(), 7.0);
/// ```
///
/// # Panics
/// The returned function panics if the traced function panics, and if compiling or running fails.
/// [`Jitted::lower`] and the stages that follow it return those failures as errors.
#[doc(alias = "pjit")]
#[track_caller]
pub fn jit<'f, F: JitFunction<'f, M>, M>(f: F) -> F::Jitted {
    f.into_jitted(JitOptions::default())
}

/// Compiles a function like [`jit`], with options.
///
/// # Panics
/// Panics in the same cases as [`jit`].
#[track_caller]
pub fn jit_with<'f, F: JitFunction<'f, M>, M>(f: F, options: JitOptions) -> F::Jitted {
    f.into_jitted(options)
}

/// Whether compilations are logged; until it is set, the environment determines it.
static LOG_COMPILES: AtomicU8 = AtomicU8::new(UNSET);
const UNSET: u8 = 2;

/// Enables or disables compilation logs on standard error: when a function is compiled, how long
/// it took, and why no earlier program matched. For operations outside `jit`, the logs contain
/// their number and the line that compiled most of them. Also enabled by `RAMIE_LOG_COMPILES=1`.
#[doc(alias = "explain_cache_misses")]
pub fn log_compiles(on: bool) {
    LOG_COMPILES.store(u8::from(on), Ordering::Relaxed);
}

pub(crate) fn logs_compiles() -> bool {
    match LOG_COMPILES.load(Ordering::Relaxed) {
        UNSET => settings::LOG_COMPILES.is_on(),
        on => on == 1,
    }
}
