//! Detection of operations that produce NaN or infinity.

use crate::base::location;
use crate::program::disable::disable_jit;
use crate::program::jaxpr::ClosedJaxpr;
use crate::types::narrow::NarrowFloat;
use crate::{Array, DType};
use half::{bf16, f16};
use ramie_plugins::settings;
use std::panic::Location;
use std::sync::Once;
use std::sync::atomic::{AtomicU8, Ordering};

/// Bits of the kinds of values that are checked for.
const NANS: u8 = 1;
const INFS: u8 = 2;
/// The environment has not been read yet.
const UNREAD: u8 = 4;

/// A single number, since every call reads it.
static LOOKED_FOR: AtomicU8 = AtomicU8::new(UNREAD);

#[inline]
fn looked_for() -> u8 {
    match LOOKED_FOR.load(Ordering::Relaxed) {
        UNREAD => read_environment(),
        kinds => kinds,
    }
}

#[cold]
fn read_environment() -> u8 {
    static READ: Once = Once::new();
    READ.call_once(|| {
        let nans = if settings::DEBUG_NANS.is_on() {
            NANS
        } else {
            0
        };
        let infs = if settings::DEBUG_INFS.is_on() {
            INFS
        } else {
            0
        };
        LOOKED_FOR.store(nans | infs, Ordering::Relaxed);
    });
    LOOKED_FOR.load(Ordering::Relaxed)
}

fn look_for(kind: u8, on: bool) {
    read_environment();
    if on {
        LOOKED_FOR.fetch_or(kind, Ordering::Relaxed);
    } else {
        LOOKED_FOR.fetch_and(!kind, Ordering::Relaxed);
    }
}

/// Checks the results of every operation and of every call of a jitted function for NaN, and
/// panics if one is found (`jax.debug_nans`). `RAMIE_DEBUG_NANS=1` also enables it.
///
/// If the result of a jitted function contains NaN, the function is run again operation by
/// operation, so that the panic names the first operation that produces NaN, and its source line.
/// Every call waits for its results and keeps its arguments, so programs run slower and use more
/// memory.
///
/// ```no_run
/// use ramie_core::config::debug_nans;
/// use ramie_core::{jit, Array};
/// debug_nans(true);
/// let f = jit(|x: Array| (&x - 1.0).log() * 2.0);
/// f(Array::from(0.0f32)); // log: the result f32[] has NaN … at src/main.rs:3:32
/// ```
pub fn debug_nans(on: bool) {
    look_for(NANS, on);
}

/// Checks for infinities like [`debug_nans`] does for NaN (`jax.debug_infs`).
/// `RAMIE_DEBUG_INFS=1` also enables it.
pub fn debug_infs(on: bool) {
    look_for(INFS, on);
}

/// Returns whether results are checked for NaN, and whether for infinities.
pub(crate) fn checked_kinds() -> (bool, bool) {
    let kinds = looked_for();
    (kinds & NANS != 0, kinds & INFS != 0)
}

/// Returns whether results are checked.
#[inline]
pub(crate) fn is_checked() -> bool {
    looked_for() != 0
}

/// Returns the kind of invalid value in an array, and the number of its elements that have it.
fn found(array: &Array) -> Option<(&'static str, usize)> {
    if array.is_tracer() || !array.dtype().is_inexact() {
        return None;
    }
    // A failed computation is reported where the array is read.
    let bytes = array.try_to_bytes().ok()?;
    let (mut nans, mut infs) = (0, 0);
    // The parts of a complex number count as one element.
    let parts = 1 + usize::from(array.dtype().is_complex());
    let (mut looked_at, mut last_nan, mut last_inf) = (0, None, None);
    let mut look = |x: f64| {
        let element = Some(looked_at / parts);
        looked_at += 1;
        if x.is_nan() && last_nan != element {
            (nans, last_nan) = (nans + 1, element);
        }
        if x.is_infinite() && last_inf != element {
            (infs, last_inf) = (infs + 1, element);
        }
    };
    macro_rules! words {
        ($bytes:literal, $word:ty, $float:expr) => {
            for word in bytes.chunks_exact($bytes) {
                let mut own = [0; $bytes];
                own.copy_from_slice(word);
                look(f64::from($float(<$word>::from_le_bytes(own))));
            }
        };
    }
    match array.dtype().real() {
        DType::F32 => words!(4, u32, f32::from_bits),
        DType::F64 => words!(8, u64, f64::from_bits),
        DType::F16 => words!(2, u16, f16::from_bits),
        DType::BF16 => words!(2, u16, bf16::from_bits),
        other => {
            let format = NarrowFloat::of(other)?;
            bytes.iter().for_each(|b| look(format.decode(*b)));
        }
    }
    let kinds = looked_for();
    match (kinds & NANS != 0 && nans > 0, kinds & INFS != 0 && infs > 0) {
        (true, _) => Some(("NaN", nans)),
        (_, true) => Some(("an infinity", infs)),
        _ => None,
    }
}

/// Checks the results of an operation that ran eagerly. `again` runs it operation by operation,
/// if it is composed of several, and `caller` applied it.
///
/// # Errors
/// Returns a message if a result contains an invalid value.
pub(crate) fn check_operation(
    name: &str,
    args: &[&Array],
    outs: &[Array],
    again: impl FnOnce(),
    caller: &'static Location<'static>,
) -> Result<(), String> {
    let Some((out, (what, count))) = outs.iter().find_map(|o| Some((o, found(o)?))) else {
        return Ok(());
    };
    disable_jit(again);
    let operand = |a: &&Array| match found(a) {
        Some((what, _)) => format!("{} with {what}", a.aval()),
        None => a.aval().to_string(),
    };
    let operands: Vec<String> = args.iter().map(operand).collect();
    let at = location::current_location().unwrap_or(caller);
    Err(format!(
        "{name}: the result {} has {what} in {count} of {} elements\n  operands: {}\n  at {at}\n  \
         help: debug_nans or debug_infs is on; if the value is intended, switch the check off \
         around this operation",
        out.aval(),
        out.size(),
        operands.join(", "),
    ))
}

/// Checks the results of a jitted function's program. `path` returns the name of an input.
///
/// # Panics
/// Panics if a result contains an invalid value: for the first argument that contains one, or at the
/// first operation that produces one, if running the operations one by one reproduces it.
#[track_caller]
pub(crate) fn check_call(
    name: &str,
    program: &ClosedJaxpr,
    inputs: &[Array],
    outs: &[Array],
    path: impl FnOnce(usize) -> String,
) {
    let Some((out, (what, count))) = outs.iter().find_map(|o| Some((o, found(o)?))) else {
        return;
    };
    let mut inputs_found = inputs.iter().map(found).enumerate();
    if let Some((i, Some((what, count)))) = inputs_found.find(|(_, found)| found.is_some()) {
        panic!(
            "{name}: the argument {} {} has {what} in {count} of {} elements, and the result {} has it, \
             too\n  help: look for its origin before this call: in the data, or in the step that computed \
             the argument",
            path(i),
            inputs[i].aval(),
            inputs[i].size(),
            out.aval(),
        );
    }
    disable_jit(|| program.eval(inputs));
    panic!(
        "{name}: the result {} has {what} in {count} of {} elements, although its operations, \
         run one by one, produce none\n  help: the compiled program computes in another order or \
         precision; print intermediate values with debug::print",
        out.aval(),
        out.size(),
    );
}
