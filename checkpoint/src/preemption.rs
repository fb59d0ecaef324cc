//! A wish that the program saves and ends: the machine is wanted back, or someone
//! pressed Ctrl-C.
//!
//! [`on_signals`] makes SIGTERM and SIGINT such a wish; whoever hears of it in
//! another way calls [`request`]. One process that hears of it is enough. A
//! [`CheckpointManager`](crate::manager::CheckpointManager) then saves at the next
//! step, whatever its policy, and its
//! [`reached_preemption`](crate::manager::CheckpointManager::reached_preemption) tells
//! the training loop to end.
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
//!         break; // it is saved
//!     }
//! }
//! manager.close()?;
//! # Ok(())
//! # }
//! ```

use crate::{Error, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

static REQUESTED: AtomicBool = AtomicBool::new(false);
/// What the signals set, once [`on_signals`] has installed the handlers.
static SIGNALS: OnceLock<Signals> = OnceLock::new();

struct Signals {
    /// The number of the last signal; 0 for none.
    received: Arc<AtomicUsize>,
    /// Whether the next signal ends the process at once.
    ends: Arc<AtomicBool>,
}

/// Asks the program to save and to end. It does nothing but set a flag, so that a
/// handler of signals may call it.
pub fn request() {
    REQUESTED.store(true, Ordering::SeqCst);
}

/// Returns whether this process was asked to save and to end.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst) || signal().is_some()
}

/// Returns the number of the signal that asked this process to save and to end. A
/// program that ends because of it exits with 128 plus this number, so that the
/// shell or the scheduler does not take the run for finished.
pub fn signal() -> Option<i32> {
    let number = SIGNALS.get()?.received.load(Ordering::SeqCst);
    i32::try_from(number).ok().filter(|number| *number != 0)
}

/// Takes the request back, so that another run in the same process can begin.
pub fn withdraw() {
    REQUESTED.store(false, Ordering::SeqCst);
    if let Some(signals) = SIGNALS.get() {
        signals.received.store(0, Ordering::SeqCst);
        signals.ends.store(false, Ordering::SeqCst);
    }
}

/// Makes SIGTERM and SIGINT end the process at once again, for the part of a program
/// after its last checkpoint.
pub fn end_at_once() {
    if let Some(signals) = SIGNALS.get() {
        signals.ends.store(true, Ordering::SeqCst);
    }
}

/// From now on SIGTERM, which clusters send before they take a machine back, and
/// SIGINT (Ctrl-C) [ask](request) the program to save and to end, instead of ending
/// it at once. The second of them ends it at once, with the exit code that shells
/// expect (143, 130): whoever does not want to wait need not.
///
/// Calling it again does nothing.
///
/// # Errors
/// If the system refuses handlers.
pub fn on_signals() -> Result<()> {
    if SIGNALS.get().is_some() {
        return Ok(());
    }
    let (received, ends) = (Arc::default(), Arc::default());
    let signals = Signals {
        received: Arc::clone(&received),
        ends: Arc::clone(&ends),
    };
    if SIGNALS.set(signals).is_err() {
        return Ok(()); // another thread was faster
    }
    for (signal, number) in [(SIGTERM, SIGTERM as usize), (SIGINT, SIGINT as usize)] {
        // In this order: the first signal finds the flag unset and sets it.
        let listen = || -> io::Result<()> {
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&ends))?;
            flag::register_usize(signal, Arc::clone(&received), number)?;
            flag::register(signal, Arc::clone(&ends))?;
            Ok(())
        };
        listen().map_err(|e| Error::io(Path::new("signals"), "be listened to", e))?;
    }
    Ok(())
}
