//! Tracking of work that the plugin has not finished.
//!
//! There are three reasons to track unfinished work:
//!
//! * Destroying the handle of a donated input blocks until the execution that took it has ended.
//!   A training loop drops such handles at every step while the step is still running, so
//!   dropping must not destroy them immediately. This also holds when the execution has just
//!   ended: its results are ready shortly before the plugin releases its inputs, and being woken
//!   up takes longer than a small step. A handle is therefore destroyed one launch after its
//!   execution was found to have ended. Until then it occupies no device memory, as the memory
//!   belongs to the execution's result.
//! * When the process exits, the plugin's global objects are destroyed. Its threads must not be
//!   running then, so the exit waits for the work listed here.
//! * An execution refers to its program until shortly after its results are ready. If the
//!   executable has been destroyed by then, a thread of the plugin frees the compiled code, with a
//!   global object that an exit may have destroyed in the meantime. An executable is therefore
//!   destroyed several launches after its last run has ended, or not at all if the process exits
//!   before.
//!
//! Work that has ended when its launch returns is not listed. Adding to the list removes work
//! that has ended; there is no background thread.

use crate::event::Event;
use crate::exit;
use crate::host_calls;
use crate::sys::{self, Api, RawBuffer, RawLoadedExecutable};
use ramie_base::lock::lock;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard};

/// Above this number of entries, the whole list is scanned, not only its oldest entries, because
/// one long execution may precede many short ones.
const SCAN_ABOVE: usize = 64;

/// The number of launches after the last run of a dropped executable until it is destroyed.
const RETIRED_FOR: Ticket = 16;

struct Handle(NonNull<RawBuffer>);

// SAFETY: a handle has a single owner at a time and may be destroyed on any thread.
unsafe impl Send for Handle {}

type Handles = SmallVec<[Handle; 8]>;

/// A dropped executable.
struct Retired {
    raw: NonNull<RawLoadedExecutable>,
    last_run: Ticket,
}

// SAFETY: an executable may be destroyed on any thread.
unsafe impl Send for Retired {}

/// The id of a piece of work. Zero stands for work that the plugin has finished.
pub(crate) type Ticket = u64;
pub(crate) type AtomicTicket = AtomicU64;

/// An event for each device that takes part.
pub(crate) type Events = SmallVec<[Event; 1]>;

/// The unfinished work of one client.
pub(crate) struct UnderWay {
    api: Api,
    list: Mutex<List>,
    /// Held by the thread that has taken work off the list to wait for it. Others wait for their
    /// turn, and thus for that work.
    turn: Mutex<()>,
}

#[derive(Default)]
struct List {
    last: Ticket,
    /// Work in the order of its tickets.
    works: VecDeque<Work>,
    /// The oldest work that a thread has taken off the list to wait for it.
    waited_for: Option<Ticket>,
    /// Donated inputs of work that was found to have ended.
    ended: Handles,
    retired: Vec<Retired>,
}

/// An execution or a transfer.
struct Work {
    ticket: Ticket,
    events: Events,
    /// Donated inputs to be destroyed after the work has ended.
    handles: Handles,
}

impl UnderWay {
    pub fn new(api: Api) -> UnderWay {
        UnderWay {
            api,
            list: Mutex::default(),
            turn: Mutex::default(),
        }
    }

    /// Adds the work that ends with these events, and returns its ticket.
    pub fn begin(&self, events: Events) -> Ticket {
        let over = events.iter().all(is_over);
        if !over {
            // Fails if the thread is ending; then it waits soon, or has already waited.
            let _ = AT_END.try_with(|_| ());
        }
        let mut list = self.lock();
        let ended = list.take_ended();
        let ended = std::mem::replace(&mut list.ended, ended);
        list.last += 1;
        let ticket = list.last;
        if !over {
            list.works.push_back(Work {
                ticket,
                events,
                handles: Handles::new(),
            });
        }
        let retired = list.take_retired();
        drop(list);
        self.destroy_all(ended);
        self.destroy_retired(retired);
        ticket
    }

    /// Takes ownership of an executable, and destroys it when no thread of the plugin refers to its
    /// program any more.
    ///
    /// # Safety
    /// `raw` must be a live executable that nothing else uses from now on.
    pub unsafe fn retire(&self, raw: NonNull<RawLoadedExecutable>, last_run: Ticket) {
        let mut list = self.lock();
        list.retired.push(Retired { raw, last_run });
        let retired = list.take_retired();
        drop(list);
        self.destroy_retired(retired);
    }

    /// Takes ownership of a donated handle and destroys it after the work has ended.
    ///
    /// # Safety
    /// `raw` must be a live handle that nothing else uses from now on.
    pub unsafe fn push(&self, raw: NonNull<RawBuffer>, ticket: Ticket) {
        if ticket == 0 {
            // SAFETY: guaranteed by the caller.
            return unsafe { destroy(self.api, raw) };
        }
        let list = &mut *self.lock();
        let found = list.works.binary_search_by_key(&ticket, |work| work.ticket);
        let handles = match found {
            Ok(at) => &mut list.works[at].handles,
            Err(_) => &mut list.ended,
        };
        handles.push(Handle(raw));
    }

    /// Returns `true` if all work has ended.
    pub fn is_over(&self) -> bool {
        let mut list = self.lock();
        let mut ended = std::mem::take(&mut list.ended);
        ended.append(&mut list.take_ended());
        let over = !list.is_unfinished();
        drop(list);
        self.destroy_all(ended);
        over
    }

    /// Blocks until all work has ended.
    pub fn wait(&self) {
        let turn = lock(&self.turn);
        let mut list = self.lock();
        let works = std::mem::take(&mut list.works);
        let mut ended = std::mem::take(&mut list.ended);
        list.waited_for = works.front().map(|work| work.ticket);
        drop(list);
        for mut work in works {
            for event in work.events {
                // The error is reported where the results are waited for.
                let _ = event.settle();
            }
            ended.append(&mut work.handles);
        }
        self.lock().waited_for = None;
        drop(turn);
        self.destroy_all(ended);
    }

    fn destroy_retired(&self, retired: Vec<Retired>) {
        for Retired { raw, .. } in retired {
            // SAFETY: `retire` transferred ownership of the executable to us.
            unsafe { destroy_loaded(self.api, raw) };
        }
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        lock(&self.list)
    }

    /// Destroys handles. The lock must not be held: freeing a shared buffer drops its owner,
    /// which may own buffers itself.
    fn destroy_all(&self, handles: Handles) {
        for Handle(raw) in handles {
            // SAFETY: `push` transferred ownership of the handle to us.
            unsafe { destroy(self.api, raw) };
        }
    }
}

impl List {
    /// Returns `true` if work is listed or waited for.
    fn is_unfinished(&self) -> bool {
        !self.works.is_empty() || self.waited_for.is_some()
    }

    /// Removes work that has ended, and returns its handles.
    fn take_ended(&mut self) -> Handles {
        let mut handles = Handles::new();
        if self.works.len() > SCAN_ABOVE {
            self.works.retain_mut(|work| {
                let over = work.is_over();
                if over {
                    handles.append(&mut work.handles);
                }
                !over
            });
        }
        while self.works.front().is_some_and(Work::is_over) {
            let mut work = self.works.pop_front().expect("the list has a front");
            handles.append(&mut work.handles);
        }
        handles
    }

    /// Removes the executables that can be destroyed: those that have only run at once, or whose
    /// last run has ended and was followed by enough launches.
    fn take_retired(&mut self) -> Vec<Retired> {
        let listed = self.works.front().map(|work| work.ticket);
        let (last, oldest) = (self.last, self.waited_for.or(listed));
        let unused = |retired: &mut Retired| {
            let run = retired.last_run;
            run == 0 || last >= run + RETIRED_FOR && oldest.is_none_or(|oldest| oldest > run)
        };
        self.retired.extract_if(.., unused).collect()
    }
}

impl Work {
    fn is_over(&self) -> bool {
        self.events.iter().all(is_over)
    }
}

/// Returns `true` if the event is done. An event that cannot be queried counts as done, because
/// waiting for it would never end.
fn is_over(event: &Event) -> bool {
    event.is_ready().unwrap_or(true)
}

/// Destroys a handle. Blocks while an execution runs that the buffer was donated to.
///
/// # Safety
/// `raw` must be a live handle that is not used any more.
pub(crate) unsafe fn destroy(api: Api, raw: NonNull<RawBuffer>) {
    let mut args = sys::zeroed::<sys::BufferDestroy>();
    args.buffer = raw.as_ptr();
    // SAFETY: guaranteed by the caller. An error here cannot be handled.
    let _ = unsafe { api.call(&mut args) };
}

/// Destroys an executable.
///
/// # Safety
/// `loaded` must be a live executable that is not used any more.
pub(crate) unsafe fn destroy_loaded(api: Api, loaded: NonNull<RawLoadedExecutable>) {
    let mut args = sys::zeroed::<sys::LoadedExecutableDestroy>();
    args.executable = loaded.as_ptr();
    // SAFETY: guaranteed by the caller. An error here cannot be handled.
    let _ = unsafe { api.call(&mut args) };
}

/// The work of all clients, for which an exit waits.
static CLIENTS: Mutex<Vec<&'static UnderWay>> = Mutex::new(Vec::new());

thread_local! {
    /// Waits when a thread that has started work ends. On the thread that ends the process, this
    /// happens before any global object is destroyed.
    static AT_END: WaitAtEnd = const { WaitAtEnd };
}

struct WaitAtEnd;

impl Drop for WaitAtEnd {
    fn drop(&mut self) {
        wait_for_clients();
    }
}

/// Makes the process wait for the work of a client before it exits.
pub(crate) fn wait_at_exit(work: &'static UnderWay) {
    clients().push(work);
    // Handles an exit from a thread that has started no work. This runs after the destruction of
    // objects that the plugin creates later.
    exit::register_wait(wait_for_clients);
}

fn clients() -> MutexGuard<'static, Vec<&'static UnderWay>> {
    lock(&CLIENTS)
}

extern "C" fn wait_for_clients() {
    if host_calls::is_running() {
        // A program waits for the callback.
        return;
    }
    // The lock is not held while waiting, because callbacks of the work may create clients.
    let all = clients().clone();
    for work in all {
        work.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executables_are_kept_for_some_launches_after_their_last_run() {
        let retired = |last_run| Retired {
            raw: NonNull::dangling(),
            last_run,
        };
        let mut list = List {
            last: 3,
            ..List::default()
        };
        list.retired.extend([retired(0), retired(2), retired(3)]);
        let mut taken = |last, oldest: Option<Ticket>| -> Vec<Ticket> {
            list.last = last;
            list.works = oldest.into_iter().map(unfinished).collect();
            let taken = list.take_retired().into_iter();
            taken.map(|retired| retired.last_run).collect()
        };
        assert_eq!(taken(3, None), [0], "it has only run at once");
        assert!(taken(1 + RETIRED_FOR, None).is_empty());
        assert!(taken(2 + RETIRED_FOR, Some(2)).is_empty(), "it is running");
        assert_eq!(taken(2 + RETIRED_FOR, Some(3)), [2]);
        assert_eq!(taken(9 + RETIRED_FOR, Some(9)), [3]);
    }

    fn unfinished(ticket: Ticket) -> Work {
        Work {
            ticket,
            events: Events::new(),
            handles: Handles::new(),
        }
    }
}
