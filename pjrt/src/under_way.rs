//! Work that the plugin has not finished, and what waits for it.
//!
//! Two things need to know about unfinished work:
//!
//! * Destroying the handle of a donated input blocks until the execution that took it
//!   has ended. A training loop drops such handles at every step while the step is still
//!   running, so dropping must not destroy at once. Nor when it has just ended: its
//!   results are ready some moments before the plugin lets go of what it took, and to be
//!   woken then takes longer than a small step. A handle is therefore destroyed one
//!   launch after its execution was seen to have ended. While it waits here it holds no
//!   device memory: that belongs to the execution's result.
//! * When the process exits, the plugin's global objects are destroyed. Its threads must
//!   not be at work then, so the exit waits for what is listed here.
//!
//! What has ended by the time the launch returns is not listed. The list is looked
//! through when something is added to it; there is no thread.

use crate::client::ClientInner;
use crate::event::Event;
use crate::exit;
use crate::lock::lock;
use crate::sys::{self, Api, RawBuffer};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Above this number of entries the whole list is looked through, not only its oldest
/// ones: a long execution may precede many short ones.
const SCAN_ABOVE: usize = 64;

struct Handle(NonNull<RawBuffer>);

// SAFETY: a handle is owned by one place at a time and may be destroyed on any thread.
unsafe impl Send for Handle {}

type Handles = SmallVec<[Handle; 8]>;

/// Names a piece of work. Zero is one that the plugin is done with.
pub(crate) type Ticket = u64;

/// One event for each device that takes part.
pub(crate) type Events = SmallVec<[Event; 1]>;

/// The unfinished work of one client.
pub(crate) struct UnderWay {
    api: Api,
    list: Mutex<List>,
    /// The length of the list, to be read without its lock.
    listed: AtomicUsize,
    /// Threads that have taken work off the list to wait for it.
    waiting: AtomicUsize,
}

#[derive(Default)]
struct List {
    last: Ticket,
    /// In the order of their tickets.
    works: VecDeque<Work>,
    /// Donated inputs of work that had ended when it was last looked.
    ended: Handles,
}

/// An execution or a transfer.
struct Work {
    ticket: Ticket,
    events: Events,
    /// Donated inputs to destroy when it has ended.
    handles: Handles,
}

impl UnderWay {
    pub fn new(api: Api) -> UnderWay {
        UnderWay {
            api,
            list: Mutex::default(),
            listed: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Lists the work that these events end; its ticket, and whether it has ended already.
    pub fn begin(&self, events: Events) -> (Ticket, bool) {
        let over = events.iter().all(is_over);
        if !over {
            // Fails on a thread that is ending; it waits in a moment, or has.
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
        drop(list);
        self.destroy_all(ended);
        (ticket, over)
    }

    /// Whether nothing is listed.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.listed.load(Ordering::Relaxed) == 0
    }

    /// Takes a donated handle, to destroy it when that work has ended.
    ///
    /// # Safety
    /// `raw` is a live handle that nobody else uses from now on.
    pub unsafe fn push(&self, raw: NonNull<RawBuffer>, ticket: Ticket) {
        if ticket == 0 {
            // SAFETY: the caller's promise.
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

    /// Whether all work has ended.
    pub fn is_over(&self) -> bool {
        let mut list = self.lock();
        let mut ended = std::mem::take(&mut list.ended);
        ended.append(&mut list.take_ended());
        drop(list);
        self.destroy_all(ended);
        self.is_idle() && self.waiting.load(Ordering::Acquire) == 0
    }

    /// Blocks until all work has ended.
    pub fn wait(&self) {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        let mut list = self.lock();
        let works = std::mem::take(&mut list.works);
        let ended = std::mem::take(&mut list.ended);
        drop(list);
        self.destroy_all(ended);
        for work in works {
            for event in work.events {
                // Its error is reported where its results are waited for.
                let _ = event.settle();
            }
            self.destroy_all(work.handles);
        }
        self.waiting.fetch_sub(1, Ordering::AcqRel);
    }

    fn lock(&self) -> Listed<'_> {
        Listed {
            list: lock(&self.list),
            listed: &self.listed,
        }
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

/// The list while it is locked; its length is noted when that ends.
struct Listed<'a> {
    list: MutexGuard<'a, List>,
    listed: &'a AtomicUsize,
}

impl Deref for Listed<'_> {
    type Target = List;
    fn deref(&self) -> &List {
        &self.list
    }
}

impl DerefMut for Listed<'_> {
    fn deref_mut(&mut self) -> &mut List {
        &mut self.list
    }
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        self.listed.store(self.list.works.len(), Ordering::Relaxed);
    }
}

impl List {
    /// Removes the work that has ended and returns their handles.
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
            let mut work = self.works.pop_front().expect("the front is there");
            handles.append(&mut work.handles);
        }
        handles
    }
}

impl Work {
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

/// Clients whose work an exit waits for.
static CLIENTS: Mutex<Vec<&'static ClientInner>> = Mutex::new(Vec::new());

thread_local! {
    /// Waits when a thread that has started work ends. On the thread that ends the
    /// process this comes before any global object is destroyed.
    static AT_END: WaitAtEnd = const { WaitAtEnd };
}

struct WaitAtEnd;

impl Drop for WaitAtEnd {
    fn drop(&mut self) {
        wait_for_clients();
    }
}

/// Has the process wait for this client's work before it exits.
pub(crate) fn wait_at_exit(client: &'static ClientInner) {
    clients().push(client);
    // For an exit from a thread that has started no work. It comes after the destruction
    // of the objects that the plugin makes later.
    exit::register(wait_for_clients);
}

fn clients() -> MutexGuard<'static, Vec<&'static ClientInner>> {
    lock(&CLIENTS)
}

extern "C" fn wait_for_clients() {
    // Not locked while waiting: what the work calls may make a client.
    let all = clients().clone();
    for client in all {
        client.under_way.wait();
    }
}
