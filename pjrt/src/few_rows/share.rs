//! Work in pieces, which the calling thread and threads of XLA take in turn.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Pieces of work, and how many have been taken and finished.
struct Shared<W> {
    work: W,
    count: usize,
    taken: AtomicUsize,
    finished: AtomicUsize,
}

impl<W: Fn(usize)> Shared<W> {
    fn take_some(&self) {
        loop {
            let piece = self.taken.fetch_add(1, Ordering::Relaxed);
            if piece >= self.count {
                return;
            }
            (self.work)(piece);
            self.finished.fetch_add(1, Ordering::Release);
        }
    }
}

/// A task for a thread of XLA.
pub(super) type Task = unsafe extern "C" fn(*mut c_void);

/// Runs `work` for the numbers below `count`, and returns when all are done. `schedule` passes a
/// task to another thread, or returns false. It is called `helpers` times at most.
///
/// A helper that starts late finds nothing to do, so the caller never waits for one to start.
pub(super) fn share<W: Fn(usize) + Send + Sync + 'static>(
    count: usize,
    helpers: usize,
    mut schedule: impl FnMut(Task, *mut c_void) -> bool,
    work: W,
) {
    if helpers == 0 || count <= 1 {
        (0..count).for_each(work);
        return;
    }
    let shared = Arc::new(Shared {
        work,
        count,
        taken: AtomicUsize::new(0),
        finished: AtomicUsize::new(0),
    });
    for _ in 0..helpers.min(count - 1) {
        let data = Arc::into_raw(shared.clone());
        if !schedule(help::<W>, data.cast_mut().cast()) {
            // SAFETY: no other thread received the clone behind this pointer.
            drop(unsafe { Arc::from_raw(data) });
            break;
        }
    }
    shared.take_some();
    let mut turns = 0;
    while shared.finished.load(Ordering::Acquire) < count {
        turns += 1;
        match turns % 64 {
            0 => std::thread::yield_now(),
            _ => std::hint::spin_loop(),
        }
    }
}

/// # Safety
/// `data` must be a reference to `Shared<W>` that this call may release.
unsafe extern "C" fn help<W: Fn(usize)>(data: *mut c_void) {
    // SAFETY: guaranteed by the caller.
    let shared = unsafe { Arc::from_raw(data.cast::<Shared<W>>().cast_const()) };
    shared.take_some();
}
