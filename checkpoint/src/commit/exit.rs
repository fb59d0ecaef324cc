//! Waiting for background saves when the process exits.
//!
//! A [`Checkpointer`](super::Checkpointer) waits when it is dropped. But statics and leaked
//! checkpointers are never dropped, `std::process::exit` runs no destructors, and another thread
//! may still be waiting when `main` returns. Therefore the exit of the process waits, too.

use super::checkpointer::Shared;
use ramie_core::lock::{lock, unpoisoned};
use std::cell::Cell;
use std::sync::{Arc, Condvar, Mutex, Once, Weak};
use std::time::Duration;

/// Running saves.
struct Saves {
    running: usize,
    /// Checkpointers whose errors may not have been returned yet.
    unreported: Vec<Weak<Shared>>,
}

static SAVES: Mutex<Saves> = Mutex::new(Saves {
    running: 0,
    unreported: Vec::new(),
});

static ENDED: Condvar = Condvar::new();

/// Time that an exit waits before it prints the reason.
const PATIENCE: Duration = Duration::from_secs(5);

thread_local! {
    /// Waits when a thread that started a save ends. On the thread that ends the process, this
    /// happens before any global object of the plugin is destroyed.
    static AT_END: WaitAtEnd = const { WaitAtEnd };
    /// Whether this thread writes a checkpoint; its own save cannot be waited for.
    static WRITES: Cell<bool> = const { Cell::new(false) };
}

struct WaitAtEnd;

impl Drop for WaitAtEnd {
    fn drop(&mut self) {
        wait();
    }
}

/// A save that an exit waits for until this is dropped.
pub(super) struct PendingSave(());

impl PendingSave {
    /// Registers a save that starts.
    pub fn begin(shared: &Arc<Shared>) -> PendingSave {
        static REGISTERED: Once = Once::new();
        REGISTERED.call_once(|| ramie_core::at_exit(end));
        // Fails on a thread that is ending; the exit of the process still waits.
        let _ = AT_END.try_with(|_| ());
        let mut saves = lock(&SAVES);
        saves.running += 1;
        let unreported = &mut saves.unreported;
        unreported.retain(|other| other.strong_count() > 0);
        if !unreported
            .iter()
            .any(|other| other.as_ptr() == Arc::as_ptr(shared))
        {
            unreported.push(Arc::downgrade(shared));
        }
        PendingSave(())
    }

    /// Marks the current thread as the writer.
    pub fn here(&self) {
        WRITES.set(true);
    }
}

impl Drop for PendingSave {
    fn drop(&mut self) {
        lock(&SAVES).running -= 1;
        ENDED.notify_all();
    }
}

/// Waits for all saves.
fn wait() {
    let own = usize::from(WRITES.get());
    let mut saves = lock(&SAVES);
    let mut told = false;
    while saves.running > own {
        let (next, over) = unpoisoned(ENDED.wait_timeout(saves, PATIENCE));
        saves = next;
        if over.timed_out() && saves.running > own && !told {
            eprintln!("ramie: waiting for a checkpoint that is being saved in the background");
            told = true;
        }
    }
}

/// Waits for all saves and prints the errors that were never returned.
fn end() {
    wait();
    let unreported = std::mem::take(&mut lock(&SAVES).unreported);
    let failures: Vec<_> = unreported.iter().filter_map(Weak::upgrade).collect();
    for error in failures.iter().filter_map(|shared| shared.take_failure()) {
        // A logger may no longer exist at process exit.
        eprintln!("ramie: {error}");
    }
}
