//! A wish that the program saves and ends: the machine is wanted back.
//!
//! Whoever hears of it, such as a handler of signals, calls [`request`]. A
//! [`CheckpointManager`](crate::manager::CheckpointManager) then saves at the next
//! step, and its
//! [`reached_preemption`](crate::manager::CheckpointManager::reached_preemption) tells
//! the training loop to end.
//!
//! ```
//! use ramie_checkpoint::preemption;
//! assert!(!preemption::requested());
//! preemption::request();
//! assert!(preemption::requested());
//! # preemption::withdraw();
//! ```

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Asks the program to save and to end. It does nothing but set a flag, so that a
/// handler of signals may call it.
pub fn request() {
    REQUESTED.store(true, Ordering::SeqCst);
}

/// Whether this process was asked to save and to end.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}

/// Takes the wish back, so that another run in the same process can begin.
pub fn withdraw() {
    REQUESTED.store(false, Ordering::SeqCst);
}
