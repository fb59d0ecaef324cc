//! Waiting for background saves when the process exits.
//!
//! A [`Saver`](super::Saver) waits when it is dropped. But statics and leaked savers are never
//! dropped, `std::process::exit` runs no destructors, and another thread may still be waiting when
//! `main` returns. Therefore the exit of the process waits, too.

use super::saver::Shared;
use ramie_core::lock::{lock, unpoisoned};
use std::cell::Cell;
use std::sync::{Arc, Condvar, Mutex, Once, Weak};
use std::time::Duration;

/// Running saves.
struct Saves {
    running: usize,
    /// Savers whose errors may not have been returned yet.
    savers: Vec<Weak<Shared>>,
}

static SAVES: Mutex<Saves> = Mutex::new(Saves {
    running: 0,
    savers: Vec::new(),
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
pub(super) struct Running(());

impl Running {
    /// Registers a save that starts.
    pub fn begin(shared: &Arc<Shared>) -> Running {
        static REGISTERED: Once = Once::new();
        REGISTERED.call_once(|| ramie_core::at_exit(end));
        // Fails on a thread that is ending; the exit of the process still waits.
        let _ = AT_END.try_with(|_| ());
        let mut saves = lock(&SAVES);
        saves.running += 1;
        saves.savers.retain(|saver| saver.strong_count() > 0);
        if !saves
            .savers
            .iter()
            .any(|s| s.as_ptr() == Arc::as_ptr(shared))
        {
            saves.savers.push(Arc::downgrade(shared));
        }
        Running(())
    }

    /// Marks the current thread as the writer.
    pub fn here(&self) {
        WRITES.set(true);
    }
}

impl Drop for Running {
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
    let savers = std::mem::take(&mut lock(&SAVES).savers);
    let failures: Vec<_> = savers.iter().filter_map(Weak::upgrade).collect();
    for error in failures.iter().filter_map(|saver| saver.take_failure()) {
        // A logger may no longer exist at process exit.
        eprintln!("ramie: {error}");
    }
}
