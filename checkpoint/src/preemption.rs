//! Preemption: requests to checkpoint and exit, because the machine is reclaimed or someone
//! pressed Ctrl-C.
//!
//! [`on_signals`] turns SIGTERM and SIGINT into such a request; programs that learn of a
//! preemption in another way call [`request`]. A request to one process is enough. A
//! [`CheckpointManager`](crate::manager::CheckpointManager) then saves at the next step,
//! regardless of its policy, and
//! [`reached_preemption`](crate::manager::CheckpointManager::reached_preemption) returns `true` so
//! that the training loop can end.
//!
//! ```no_run
//! use ramie_checkpoint::items::JsonSave;
//! use ramie_checkpoint::manager::{CheckpointManager, CheckpointManagerOptions};
//! use ramie_checkpoint::preemption;
//! # fn main() -> Result<(), ramie_checkpoint::Error> {
//! preemption::on_signals()?;
//! let manager = CheckpointManager::new("run", CheckpointManagerOptions::new())?;
//! for step in 0..1_000_000 {
//!     // … train
//!     manager.save(step, &JsonSave::new(&step))?;
//!     if manager.reached_preemption(step) {
//!         break; // the step is saved
//!     }
//! }
//! manager.close()?;
//! # Ok(())
//! # }
//! ```

use crate::{Error, Result};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

static REQUESTED: AtomicBool = AtomicBool::new(false);
/// State set by the signal handlers after [`on_signals`] has installed them.
static SIGNALS: OnceLock<Signals> = OnceLock::new();

#[derive(Default)]
struct Signals {
    /// Number of the last signal, or 0 if there was none.
    received: Arc<AtomicUsize>,
    /// Whether the next signal ends the process immediately.
    ends: Arc<AtomicBool>,
}

/// Requests that the program saves and exits. It only sets a flag, so signal handlers may call it.
pub fn request() {
    REQUESTED.store(true, Ordering::SeqCst);
}

/// Returns whether this process was requested to save and exit.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst) || signal().is_some()
}

/// Returns the number of the signal that requested this process to save and exit. A program that
/// ends because of it should exit with 128 plus this number, so that the shell or the scheduler
/// does not consider the run finished.
pub fn signal() -> Option<i32> {
    let number = SIGNALS.get()?.received.load(Ordering::SeqCst);
    i32::try_from(number).ok().filter(|number| *number != 0)
}

/// Withdraws the request, so that another run can start in the same process.
pub fn withdraw() {
    REQUESTED.store(false, Ordering::SeqCst);
    if let Some(signals) = SIGNALS.get() {
        signals.received.store(0, Ordering::SeqCst);
        signals.ends.store(false, Ordering::SeqCst);
    }
}

/// Makes SIGTERM and SIGINT end the process immediately again, for the part of a program after its
/// last checkpoint.
pub fn end_at_once() {
    if let Some(signals) = SIGNALS.get() {
        signals.ends.store(true, Ordering::SeqCst);
    }
}

/// Installs handlers for SIGTERM, which clusters send before they reclaim a machine, and SIGINT
/// (Ctrl-C). The first signal [requests](request) that the program saves and exits. A second one
/// ends the process immediately, with the exit code that shells expect (143 or 130).
///
/// Further calls have no effect.
///
/// # Errors
/// Returns an error if the handlers cannot be installed.
pub fn on_signals() -> Result<()> {
    if SIGNALS.set(Signals::default()).is_err() {
        return Ok(()); // an earlier call, perhaps of another thread
    }
    let signals = SIGNALS.get().expect("set above");
    listen(signals).map_err(|e| Error::io(Path::new("signals"), "install their handlers", e))
}

#[cfg(not(target_family = "wasm"))]
fn listen(signals: &Signals) -> std::io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::flag;
    for (signal, number) in [(SIGTERM, SIGTERM as usize), (SIGINT, SIGINT as usize)] {
        // The order matters: the first signal finds the flag unset and sets it.
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&signals.ends))?;
        flag::register_usize(signal, Arc::clone(&signals.received), number)?;
        flag::register(signal, Arc::clone(&signals.ends))?;
    }
    Ok(())
}

/// Does nothing: WebAssembly has no signals.
#[cfg(target_family = "wasm")]
fn listen(_: &Signals) -> std::io::Result<()> {
    Ok(())
}
