//! Settings that forbid implicit promotion of operands: `numpy_dtype_promotion` and
//! `numpy_rank_promotion` of JAX.

use crate::base::lock::lock;
use crate::base::{location, scoped};
use crate::{Array, DType};
use std::borrow::Borrow;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

/// Whether operands of different dtypes are promoted (`jax_numpy_dtype_promotion`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DtypePromotion {
    /// JAX's standard promotion.
    #[default]
    Standard,
    /// Panics, except that literals and other weakly typed operands adopt the dtype of the other
    /// operand.
    Strict,
}

/// Whether operands of different ranks are broadcast (`jax_numpy_rank_promotion`). Scalars always
/// are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RankPromotion {
    /// They are broadcast.
    #[default]
    Allow,
    /// They are broadcast, with one warning for each operation and pair of shapes.
    Warn,
    /// Panics.
    Raise,
}

/// The process's settings: the dtype in bit 0, the rank in bits 1 and 2.
static PROCESS: AtomicU8 = AtomicU8::new(0);

thread_local! {
    /// The settings of a scope, if any.
    static SCOPED: Cell<Option<(DtypePromotion, RankPromotion)>> = const { Cell::new(None) };
}

/// Returns the process's settings.
pub(crate) fn process_default() -> (DtypePromotion, RankPromotion) {
    let code = PROCESS.load(Ordering::Relaxed);
    let dtypes = match code & 1 {
        0 => DtypePromotion::Standard,
        _ => DtypePromotion::Strict,
    };
    let ranks = match code >> 1 {
        0 => RankPromotion::Allow,
        1 => RankPromotion::Warn,
        _ => RankPromotion::Raise,
    };
    (dtypes, ranks)
}

/// Sets the process's settings.
pub(crate) fn set_process_default((dtypes, ranks): (DtypePromotion, RankPromotion)) {
    PROCESS.store(dtypes as u8 | (ranks as u8) << 1, Ordering::Relaxed);
}

fn current() -> (DtypePromotion, RankPromotion) {
    SCOPED.get().unwrap_or_else(process_default)
}

/// Runs `f` with this promotion of dtypes on this thread (`jax.numpy_dtype_promotion`).
/// [`config::update`](crate::config::update) sets it for the process. A compiled function is
/// checked while it is traced.
///
/// ```should_panic
/// use ramie_core::config::{DtypePromotion, numpy_dtype_promotion};
/// use ramie_core::Array;
/// let (x, n) = (Array::from([1.0f32, 2.0]), Array::from([1i32, 2]));
/// numpy_dtype_promotion(DtypePromotion::Strict, || {
///     let y = &x + 1; // A literal has the dtype of `x`.
///     y + n // Panics.
/// });
/// ```
pub fn numpy_dtype_promotion<R>(to: DtypePromotion, f: impl FnOnce() -> R) -> R {
    scoped::with(&SCOPED, Some((to, current().1)), f)
}

/// Runs `f` with this promotion of ranks on this thread (`jax.numpy_rank_promotion`).
/// [`config::update`](crate::config::update) sets it for the process. A compiled function is
/// checked while it is traced.
///
/// ```should_panic
/// use ramie_core::config::{RankPromotion, numpy_rank_promotion};
/// use ramie_core::Array;
/// let (x, y) = (Array::from([[1.0f32, 2.0], [3.0, 4.0]]), Array::from([1.0f32, 2.0]));
/// numpy_rank_promotion(RankPromotion::Raise, || {
///     let z = &x + y.expand_dims(&[0]) * 2.0;
///     z + y // Panics.
/// });
/// ```
pub fn numpy_rank_promotion<R>(to: RankPromotion, f: impl FnOnce() -> R) -> R {
    scoped::with(&SCOPED, Some((current().0, to)), f)
}

/// # Panics
/// Panics if two operands have different dtypes and the promotion is strict.
#[track_caller]
pub(super) fn check_dtypes<A: Borrow<Array>>(operation: &str, operands: &[A]) {
    if current().0 == DtypePromotion::Standard {
        return;
    }
    // Every pair: between two others, a literal has the dtype of either.
    for (i, a) in operands.iter().enumerate() {
        for b in &operands[i + 1..] {
            check_pair(operation, a.borrow(), b.borrow());
        }
    }
}

#[track_caller]
fn check_pair(operation: &str, a: &Array, b: &Array) {
    let (x, y) = (a.aval(), b.aval());
    let adopts = match (x.weak_type(), y.weak_type()) {
        _ if x.dtype() == y.dtype() => true,
        (true, true) => true,
        (false, false) => false,
        (weak, _) => {
            let strong = if weak { y.dtype() } else { x.dtype() };
            let types = ((x.dtype(), x.weak_type()), (y.dtype(), y.weak_type()));
            strong != DType::Bool && DType::try_promote(types.0, types.1) == Some((strong, false))
        }
    };
    if !adopts {
        location::fail(&format!(
            "{operation}: the operands have different dtypes, and numpy_dtype_promotion is strict\n  \
             lhs {}\n  rhs {}\n  help: convert one of them: x.astype(DType::{:?})",
            a.describe(),
            b.describe(),
            x.dtype()
        ));
    }
}

/// # Panics
/// Panics if operands have different ranks and the setting is to raise.
#[track_caller]
pub(super) fn check_ranks(operation: &str, operands: &[&Array]) {
    let mut ranks = operands.iter().map(|a| a.ndim()).filter(|&n| n > 0);
    let first = ranks.next();
    if ranks.all(|n| Some(n) == first) {
        return;
    }
    let setting = current().1;
    if setting == RankPromotion::Allow {
        return;
    }
    let types: Vec<String> = operands.iter().map(|a| a.describe()).collect();
    let message = format!(
        "{operation}: the operands have different ranks: {}\n  help: add the missing axes: \
         x.expand_dims(&[0])",
        types.join(", ")
    );
    if setting == RankPromotion::Raise {
        location::fail(&message);
    }
    static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if lock(&SEEN).insert(message.clone()) {
        eprintln!("ramie: warning: {message}");
        tracing::warn!("{message}");
    }
}
