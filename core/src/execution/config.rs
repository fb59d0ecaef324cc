//! Settings of the process that can be read and changed while it runs (`jax.config`).

use crate::execution::{jit, numerics};
use crate::lax::Precision;
use crate::prim::{dot, promotion};

pub use crate::execution::jit::log_compiles;
pub use crate::execution::numerics::{debug_infs, debug_nans};
pub use crate::prim::dot::default_matmul_precision;
pub use crate::prim::promotion::{
    DtypePromotion, RankPromotion, numpy_dtype_promotion, numpy_rank_promotion,
};
pub use crate::program::disable::disable_jit;

/// The settings. Environment variables set the first values of those that name one.
///
/// Options that are fixed when the client is created are in
/// [`RuntimeOptions`](crate::options::RuntimeOptions). Settings that hold for a scope are functions that
/// take a closure: [`default_matmul_precision`](crate::config::default_matmul_precision),
/// [`disable_jit`](crate::config::disable_jit),
/// [`with_default_device`](crate::with_default_device).
///
/// JAX's `jax_enable_x64` has no counterpart: 64-bit types are always enabled, and a program uses
/// them only where it asks for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// Whether results are checked for NaN (`jax_debug_nans`, `RAMIE_DEBUG_NANS`).
    pub debug_nans: bool,
    /// Whether results are checked for infinities (`jax_debug_infs`, `RAMIE_DEBUG_INFS`).
    pub debug_infs: bool,
    /// Precision of products that request none (`jax_default_matmul_precision`,
    /// `RAMIE_DEFAULT_MATMUL_PRECISION`). `None` lets the platform choose.
    pub default_matmul_precision: Option<Precision>,
    /// Whether compilations are logged (`jax_log_compiles`, `RAMIE_LOG_COMPILES`).
    pub log_compiles: bool,
    /// Whether operands of different dtypes are promoted (`jax_numpy_dtype_promotion`).
    pub numpy_dtype_promotion: DtypePromotion,
    /// Whether operands of different ranks are broadcast (`jax_numpy_rank_promotion`).
    pub numpy_rank_promotion: RankPromotion,
}

/// Returns the current settings.
pub fn read() -> Config {
    let (debug_nans, debug_infs) = numerics::checked_kinds();
    let (numpy_dtype_promotion, numpy_rank_promotion) = promotion::process_default();
    Config {
        numpy_dtype_promotion,
        numpy_rank_promotion,
        debug_nans,
        debug_infs,
        default_matmul_precision: dot::process_default(),
        log_compiles: jit::logs_compiles(),
    }
}

/// Changes settings of the process (`jax.config.update`). Changes apply to all threads, from their
/// next operation.
///
/// ```no_run
/// use ramie_core::lax::Precision;
/// use ramie_core::config;
/// config::update(|c| c.default_matmul_precision = Some(Precision::HIGHEST));
/// assert_eq!(config::read().default_matmul_precision, Some(Precision::HIGHEST));
/// ```
pub fn update(change: impl FnOnce(&mut Config)) {
    let before = read();
    let mut after = before;
    change(&mut after);
    if after.debug_nans != before.debug_nans {
        numerics::debug_nans(after.debug_nans);
    }
    if after.debug_infs != before.debug_infs {
        numerics::debug_infs(after.debug_infs);
    }
    if after.default_matmul_precision != before.default_matmul_precision {
        dot::set_process_default(after.default_matmul_precision);
    }
    let promotions = |c: Config| (c.numpy_dtype_promotion, c.numpy_rank_promotion);
    if promotions(after) != promotions(before) {
        promotion::set_process_default(promotions(after));
    }
    if after.log_compiles != before.log_compiles {
        jit::log_compiles(after.log_compiles);
    }
}
