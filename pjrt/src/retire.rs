//! Handles of donated buffers, destroyed without making the caller wait.
//!
//! Destroying the handle of a donated input blocks until the execution that took it
//! has ended. A training loop drops such handles at every step while the step is
//! still running, so dropping must not destroy at once. Tiny programs have ended by
//! the time the launch returns; their handles are destroyed where they are dropped.
//! For the others this keeps a list of the executions under way, each with an event
//! and the handles that wait for it, and looks through it at every launch. A handle
//! in the list holds no device memory: that belongs to the execution's result.

use crate::event::Event;
use crate::sys::{self, Api, RawBuffer};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard};

/// Above this number of executions under way the whole list is looked through, not
/// only its oldest entries: a long execution may precede many short ones.
const SCAN_ABOVE: usize = 64;

struct Handle(NonNull<RawBuffer>);

// SAFETY: a handle is owned by one place at a time and may be destroyed on any thread.
unsafe impl Send for Handle {}

type Handles = SmallVec<[Handle; 8]>;

/// Names an execution that takes donated inputs. Zero is one that has ended.
pub(crate) type Ticket = u64;

/// Executions of one client that may still be using their donated inputs.
pub(crate) struct Retired {
    api: Api,
    running: Mutex<Running>,
}

#[derive(Default)]
struct Running {
    last: Ticket,
    /// In the order of their tickets.
    executions: VecDeque<Execution>,
}

struct Execution {
    ticket: Ticket,
    /// One event per device, of a result.
    events: SmallVec<[Event; 1]>,
    handles: Handles,
}

impl Retired {
    pub fn new(api: Api) -> Retired {
        Retired {
            api,
            running: Mutex::default(),
        }
    }

    /// Registers an execution with the events of its results; zero if it has ended.
    pub fn begin(&self, events: SmallVec<[Event; 1]>) -> Ticket {
        if events.iter().all(is_over) {
            return 0;
        }
        let mut running = self.lock();
        let ended = running.take_ended();
        running.last += 1;
        let ticket = running.last;
        running.executions.push_back(Execution {
            ticket,
            events,
            handles: Handles::new(),
        });
        drop(running);
        self.destroy_all(ended);
        ticket
    }

    /// Takes a donated handle, to destroy it when its execution has ended.
    ///
    /// # Safety
    /// `raw` is a live handle that nobody else uses from now on.
    pub unsafe fn push(&self, raw: NonNull<RawBuffer>, ticket: Ticket) {
        let mut ended = Handles::new();
        if ticket != 0 {
            let mut running = self.lock();
            ended = running.take_ended();
            let found = running
                .executions
                .binary_search_by_key(&ticket, |e| e.ticket);
            if let Ok(at) = found {
                running.executions[at].handles.push(Handle(raw));
                drop(running);
                return self.destroy_all(ended);
            }
        }
        ended.push(Handle(raw));
        self.destroy_all(ended);
    }

    fn lock(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Not called with the lock held: freeing a shared buffer drops its owner, which
    /// may hold buffers itself.
    fn destroy_all(&self, handles: Handles) {
        for Handle(raw) in handles {
            // SAFETY: the handle was given up to us by `push`.
            unsafe { destroy(self.api, raw) };
        }
    }
}

impl Running {
    /// Removes the executions that have ended and returns their handles.
    fn take_ended(&mut self) -> Handles {
        let mut handles = Handles::new();
        if self.executions.len() > SCAN_ABOVE {
            self.executions.retain_mut(|execution| {
                let over = execution.is_over();
                if over {
                    handles.append(&mut execution.handles);
                }
                !over
            });
        }
        while self.executions.front().is_some_and(Execution::is_over) {
            let mut execution = self.executions.pop_front().expect("the front is there");
            handles.append(&mut execution.handles);
        }
        handles
    }
}

impl Execution {
    fn is_over(&self) -> bool {
        self.events.iter().all(is_over)
    }
}

/// An event that cannot be asked counts as over: waiting for it would be for ever.
fn is_over(event: &Event) -> bool {
    event.is_ready().unwrap_or(true)
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
