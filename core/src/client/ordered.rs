//! Execution of programs with ordered effects.
//!
//! Such a program takes a state as its last argument and returns one as its last result. The
//! state that one program returns is passed to the next, so that their effects happen in the
//! order of the calls although calls are asynchronous.

use crate::Result;
use crate::base::events;
use crate::base::lock::lock;
use crate::program::lower::order;
use ramie_pjrt::{Buffer, Executable};
use smallvec::SmallVec;
use std::sync::{Arc, Mutex, MutexGuard};

/// State that the last ordered program returned. It stays here while a thread waits for it, so that
/// programs launched meanwhile run after it.
static LAST: Mutex<Option<Arc<Buffer>>> = Mutex::new(None);

fn last() -> MutexGuard<'static, Option<Arc<Buffer>>> {
    lock(&LAST)
}

/// Runs a program on one device; `ordered` specifies whether it has ordered effects.
#[inline]
pub(crate) fn execute(
    executable: &Executable,
    ordered: bool,
    buffers: &[&Buffer],
    kept: &[usize],
    outputs: &mut Vec<Buffer>,
) -> Result<()> {
    if ordered || events::is_recording() {
        return execute_observed(executable, ordered, buffers, kept, outputs);
    }
    Ok(executable.execute(buffers, kept, outputs)?)
}

/// Runs a program and records an event of the profiler.
#[cold]
#[inline(never)]
fn execute_observed(
    executable: &Executable,
    ordered: bool,
    buffers: &[&Buffer],
    kept: &[usize],
    outputs: &mut Vec<Buffer>,
) -> Result<()> {
    let _event = events::span(|| events::Event::named(format!("execute {}", executable.name())));
    let before = outputs.len();
    launch(executable, ordered, buffers, kept, outputs)?;
    if events::waits()
        && let Some(result) = outputs[before..].last()
    {
        result.settle();
    }
    Ok(())
}

fn launch(
    executable: &Executable,
    ordered: bool,
    buffers: &[&Buffer],
    kept: &[usize],
    outputs: &mut Vec<Buffer>,
) -> Result<()> {
    if !ordered {
        return Ok(executable.execute(buffers, kept, outputs)?);
    }
    let device = executable.devices()[0];
    let mut last = last();
    let before = match last.clone() {
        Some(state) if state.device() == device && !has_failed(&state) => state,
        other => {
            if let Some(state) = other {
                state.settle();
            }
            let ty = order::aval().buffer_type();
            Arc::new(
                super::runtime()?
                    .client()
                    .buffer_from_host(&[0], ty, device)?,
            )
        }
    };
    let mut all: SmallVec<[&Buffer; 24]> = buffers.into();
    all.push(&before);
    executable.execute(&all, kept, outputs)?;
    *last = outputs.pop().map(Arc::new);
    Ok(())
}

fn has_failed(state: &Buffer) -> bool {
    state.is_ready().unwrap_or(true) && !state.settle()
}

/// Blocks until ordered effects launched so far have happened.
pub(crate) fn wait() {
    let state = last().clone();
    if let Some(state) = state {
        state.settle();
    }
}
