//! Handles of donated buffers, destroyed without making the caller wait.
//!
//! Destroying the handle of a donated input blocks until the execution that took it
//! has ended. A training loop drops such handles at every step while the step is
//! still running, so dropping must not destroy at once.

use crate::sys::{self, Api, RawBuffer};
use std::ptr::NonNull;
use std::sync::{Arc, Condvar, Mutex};

/// Handles that are handed to the reaper together, so that a tiny program pays a
/// small part of one wake-up per call.
const BATCH: usize = 64;

struct Handle(NonNull<RawBuffer>);

// SAFETY: a handle is owned by one place at a time and may be destroyed on any thread.
unsafe impl Send for Handle {}

/// The donated handles of one client.
pub(crate) struct Retired {
    api: Api,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    /// Handles not yet handed over.
    young: Vec<Handle>,
    /// Handles the reaper is to destroy.
    old: Vec<Handle>,
    reaper_started: bool,
}

impl Retired {
    pub fn new(api: Api) -> Retired {
        Retired {
            api,
            shared: Arc::new(Shared {
                state: Mutex::default(),
                wake: Condvar::new(),
            }),
        }
    }

    /// Takes a donated handle to destroy it later.
    ///
    /// # Safety
    /// `raw` is a live handle that nobody else uses from now on.
    pub unsafe fn push(&self, raw: NonNull<RawBuffer>) {
        let mut state = self.shared.state.lock().unwrap_or_else(|e| e.into_inner());
        state.young.push(Handle(raw));
        if state.young.len() >= BATCH {
            let State { young, old, .. } = &mut *state;
            old.append(young);
            if !state.reaper_started {
                state.reaper_started = self.start_reaper();
            }
            drop(state);
            self.shared.wake.notify_one();
        }
    }

    /// Whether a thread could be started; without one, handles stay until it can.
    fn start_reaper(&self) -> bool {
        let (api, shared) = (self.api, self.shared.clone());
        std::thread::Builder::new()
            .name("ramie-reaper".into())
            .spawn(move || reap(api, &shared))
            .is_ok()
    }
}

fn reap(api: Api, shared: &Shared) {
    let mut batch = Vec::new();
    loop {
        let mut state = shared.state.lock().unwrap_or_else(|e| e.into_inner());
        while state.old.is_empty() {
            state = shared.wake.wait(state).unwrap_or_else(|e| e.into_inner());
        }
        std::mem::swap(&mut state.old, &mut batch);
        drop(state);
        for Handle(raw) in batch.drain(..) {
            // SAFETY: the handle was given up to us by `push`.
            unsafe { destroy(api, raw) };
        }
    }
}

/// Destroys a handle; blocks while an execution it was donated to runs.
///
/// # Safety
/// `raw` is a live handle that nobody uses from now on.
pub(crate) unsafe fn destroy(api: Api, raw: NonNull<RawBuffer>) {
    let mut args = sys::zeroed::<sys::BufferDestroy>();
    args.buffer = raw.as_ptr();
    // SAFETY: the caller's promise. An error here has no remedy.
    let _ = unsafe { api.call(&mut args) };
}
