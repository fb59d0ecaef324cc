//! `jit`: functions traced once per signature, compiled by XLA, and run
//! without waiting.

mod call;
mod disable;
mod donate;
mod function;
mod made;
mod place;
mod programs;
mod signature;
mod stages;

pub use disable::disable_jit;
pub(crate) use disable::jit_is_disabled;
pub(crate) use function::short_name;
pub use function::{JitFunction, Jitted, Staged, Stateful};
pub(crate) use programs::forget_all;
pub use stages::{Compiled, Lowered};

use crate::Shardings;
use ramie_pjrt::{OptionOverride, settings};
use std::sync::atomic::{AtomicBool, Ordering};

/// How a function is compiled; see [`jit_with`].
#[derive(Clone, Debug)]
pub struct JitOptions {
    /// The function's name in messages and programs; by default its own.
    pub name: Option<String>,
    /// How many compiled programs are kept; the least recently used goes.
    pub cache_limit: usize,
    /// Which arguments give their memory to results, counted from 0 without the state
    /// (`donate_argnums` of `jax.jit`). An array that another handle holds is copied
    /// instead. State passed by `&mut` is always donated.
    pub donate_argnums: Vec<usize>,
    /// XLA flags for this function, by name.
    pub compiler_options: Vec<(String, OptionOverride)>,
    /// Where arguments are that are not over a mesh yet; arrays that are
    /// elsewhere are refused. By default arguments stay as they are.
    pub in_shardings: Option<Shardings>,
    /// Where results go. By default state stays where it was, and the compiler
    /// decides about the others.
    pub out_shardings: Option<Shardings>,
}

impl Default for JitOptions {
    fn default() -> Self {
        JitOptions {
            name: None,
            cache_limit: 256,
            donate_argnums: Vec::new(),
            compiler_options: Vec::new(),
            in_shardings: None,
            out_shardings: None,
        }
    }
}

/// Compiles a function (`jax.jit`).
///
/// The result is called like the function. At the first call with given
/// shapes, types, devices and fixed values the function runs once on tracers
/// and the program that it describes is compiled; later calls run that
/// program. Results come back at once, while the device works.
///
/// State passed by `&mut` as the first argument is replaced by its new value,
/// in its old memory where nothing else holds it. Arguments passed by value keep
/// their memory, unless [`JitOptions::donate_argnums`] names them.
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
/// ```
///
/// # Panics
/// The returned function panics where the traced function does, and if
/// compiling or running fails; [`Jitted::lower`] and what follows report
/// those as errors.
#[track_caller]
pub fn jit<'f, F: JitFunction<'f, M>, M>(f: F) -> F::Jitted {
    f.into_jitted(JitOptions::default())
}

/// [`jit`] with options.
///
/// # Panics
/// As [`jit`].
#[track_caller]
pub fn jit_with<'f, F: JitFunction<'f, M>, M>(f: F, options: JitOptions) -> F::Jitted {
    f.into_jitted(options)
}

static LOG_COMPILES: AtomicBool = AtomicBool::new(false);

/// Says on standard error when a function is compiled, how long it took, and
/// why an earlier program could not serve. Also switched on by
/// `RAMIE_LOG_COMPILES=1`.
pub fn log_compiles(on: bool) {
    LOG_COMPILES.store(on, Ordering::Relaxed);
}

fn logs_compiles() -> bool {
    LOG_COMPILES.load(Ordering::Relaxed) || settings::LOG_COMPILES.is_on()
}
