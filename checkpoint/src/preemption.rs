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
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

static REQUESTED: AtomicBool = AtomicBool::new(false);
/// What the signals set, once they are listened to.
static SIGNALLED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Asks the program to save and to end. It does nothing but set a flag, so that a
/// handler of signals may call it.
pub fn request() {
    REQUESTED.store(true, Ordering::SeqCst);
}

/// Whether this process was asked to save and to end.
pub fn requested() -> bool {
    let signalled = || SIGNALLED.get().is_some_and(|s| s.load(Ordering::SeqCst));
    REQUESTED.load(Ordering::SeqCst) || signalled()
}

/// Takes the wish back, so that another run in the same process can begin.
pub fn withdraw() {
    REQUESTED.store(false, Ordering::SeqCst);
    if let Some(signalled) = SIGNALLED.get() {
        signalled.store(false, Ordering::SeqCst);
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
    if SIGNALLED.get().is_some() {
        return Ok(());
    }
    let signalled = Arc::new(AtomicBool::new(false));
    if SIGNALLED.set(Arc::clone(&signalled)).is_err() {
        return Ok(()); // another thread was faster
    }
    for signal in [SIGTERM, SIGINT] {
        // In this order: the first signal finds the flag unset and sets it.
        let listen = || -> io::Result<()> {
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&signalled))?;
            flag::register(signal, Arc::clone(&signalled))?;
            Ok(())
        };
        listen().map_err(|e| Error::io(Path::new("signals"), "be listened to", e))?;
    }
    Ok(())
}
