//! A team of threads that share the pieces of an operation.
//!
//! The thread that runs a program takes part, and the others wait actively for the next operation for as long
//! as a step of a program usually lets them wait: to wake a sleeping thread takes longer than many operations.
#![allow(unsafe_code)]

use ramie_base::clock::Instant;
use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

/// Time for which a thread without work keeps its core.
const SPIN: Duration = Duration::from_micros(20);
/// Time after which a thread without work sleeps. Until then it lets other threads have its core.
const YIELD: Duration = Duration::from_micros(200);

/// Computes pieces until none is left.
type Work<'a> = dyn Fn() + Sync + 'a;

/// The threads beside the one that runs a program, with the state that they share.
struct Team {
    /// Taken by the thread whose work the team shares.
    turn: Mutex<()>,
    /// Number of works so far, so that a thread takes part in each at most once.
    number: AtomicUsize,
    /// 1 while threads may join, plus 2 for each thread that takes part.
    gate: AtomicUsize,
    /// Number of threads that may take part.
    limit: AtomicUsize,
    /// Written by the owner of the turn while the gate is 0, read by threads that take part.
    work: UnsafeCell<Option<&'static Work<'static>>>,
    panicked: AtomicBool,
    sleepers: AtomicUsize,
    sleep: Mutex<()>,
    wake: Condvar,
}

// SAFETY: `work` is protected by `gate`, as its comment says.
unsafe impl Sync for Team {}

static TEAM: Team = Team {
    turn: Mutex::new(()),
    number: AtomicUsize::new(0),
    gate: AtomicUsize::new(0),
    limit: AtomicUsize::new(0),
    work: UnsafeCell::new(None),
    panicked: AtomicBool::new(false),
    sleepers: AtomicUsize::new(0),
    sleep: Mutex::new(()),
    wake: Condvar::new(),
};

/// Starts the threads of the team, once, and returns their number.
fn members() -> usize {
    static MEMBERS: OnceLock<usize> = OnceLock::new();
    *MEMBERS.get_or_init(|| {
        let wanted = thread::available_parallelism().map_or(1, |n| n.get()) - 1;
        let start = |i: &usize| {
            let builder = thread::Builder::new().name(format!("ramie-cpu {i}"));
            builder.spawn(|| TEAM.serve()).is_ok()
        };
        (0..wanted).take_while(start).count()
    })
}

/// Calls a function for each item, with its number, on up to `threads` threads.
///
/// If another thread's work occupies the team, as in an operation within an operation, the calling thread does
/// all of it.
///
/// # Panics
/// Panics if the function does.
pub fn share<T: Send>(threads: usize, items: &mut [T], f: impl Fn(usize, &mut T) + Sync) {
    if threads > 1 && items.len() > 1 && members() > 0 {
        match TEAM.turn.try_lock() {
            Ok(turn) => return share_with_team(turn, threads, items, &f),
            Err(TryLockError::Poisoned(turn)) => {
                return share_with_team(turn.into_inner(), threads, items, &f);
            }
            Err(TryLockError::WouldBlock) => {}
        }
    }
    items
        .iter_mut()
        .enumerate()
        .for_each(|(i, item)| f(i, item));
}

/// Calls a function for each item, as [`share`] does, and returns an error that it returned.
///
/// # Errors
/// Returns one of the function's errors.
///
/// # Panics
/// Panics if the function does.
pub fn try_share<T: Send, E: Send>(
    threads: usize,
    items: &mut [T],
    f: impl Fn(usize, &mut T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let failed = Mutex::new(None);
    share(threads, items, |i, item| {
        if let Err(error) = f(i, item) {
            *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.map_or(Ok(()), Err)
}

/// The items of a work, which threads take one by one.
struct Items<T> {
    first: *mut T,
    count: usize,
    next: AtomicUsize,
}

// SAFETY: each item is given to one thread.
unsafe impl<T: Send> Sync for Items<T> {}

impl<T> Items<T> {
    #[expect(clippy::mut_from_ref, reason = "each item is given out once")]
    fn next(&self) -> Option<(usize, &mut T)> {
        let i = self.next.fetch_add(1, Relaxed);
        // SAFETY: the slice that the items come from is borrowed for as long as the work lasts, and no other
        // call returns this item.
        (i < self.count).then(|| (i, unsafe { &mut *self.first.add(i) }))
    }
}

fn share_with_team<T: Send>(
    turn: MutexGuard<'_, ()>,
    threads: usize,
    items: &mut [T],
    f: &(impl Fn(usize, &mut T) + Sync),
) {
    let items = Items {
        first: items.as_mut_ptr(),
        count: items.len(),
        next: AtomicUsize::new(0),
    };
    let work = || {
        while let Some((i, item)) = items.next() {
            f(i, item);
        }
    };
    let limit = threads.min(items.count) - 1;
    let open = TEAM.open(&work, limit);
    work();
    drop(open);
    let panicked = TEAM.panicked.swap(false, Relaxed);
    drop(turn);
    assert!(!panicked, "a thread of an operation panicked");
}

/// A work that threads may join. Its drop waits until no thread takes part.
struct WorkGuard;

impl Drop for WorkGuard {
    fn drop(&mut self) {
        TEAM.gate.fetch_and(!1, AcqRel);
        let mut rounds = 0;
        while TEAM.gate.load(Acquire) != 0 {
            // The others may need this core to come to an end.
            rounds += 1;
            if rounds % 1024 == 0 {
                thread::yield_now();
            }
            spin_loop();
        }
    }
}

impl Team {
    /// Opens the gate for a work. The caller owns the turn.
    fn open(&self, work: &Work<'_>, limit: usize) -> WorkGuard {
        // SAFETY: the gate is 0, so that no thread reads `work`; and the returned value, which is dropped
        // before the work is, closes the gate and waits for all threads that took part.
        unsafe {
            *self.work.get() = Some(std::mem::transmute::<&Work<'_>, &'static Work<'static>>(
                work,
            ));
        }
        self.limit.store(limit, Relaxed);
        self.number.fetch_add(1, Relaxed);
        self.gate.store(1, SeqCst);
        // A thread that is about to sleep either is counted here or sees the open gate.
        if self.sleepers.load(SeqCst) > 0 {
            drop(self.sleep.lock().unwrap_or_else(PoisonError::into_inner));
            self.wake.notify_all();
        }
        WorkGuard
    }

    /// Takes part in works for ever.
    fn serve(&'static self) {
        let mut last = 0;
        loop {
            self.wait(last);
            last = self.number.load(Relaxed);
            if !self.join() {
                continue;
            }
            // SAFETY: this thread takes part, so that the work is alive and not written.
            let work = unsafe { *self.work.get() };
            let done = work.map(|work| catch_unwind(AssertUnwindSafe(work)));
            if matches!(done, Some(Err(_))) {
                self.panicked.store(true, Relaxed);
            }
            self.gate.fetch_sub(2, AcqRel);
        }
    }

    /// Takes part in the open work, if there is one with room.
    fn join(&self) -> bool {
        let mut gate = self.gate.load(Relaxed);
        while gate & 1 == 1 && gate / 2 < self.limit.load(Relaxed) {
            match self
                .gate
                .compare_exchange_weak(gate, gate + 2, AcqRel, Relaxed)
            {
                Ok(_) => return true,
                Err(now) => gate = now,
            }
        }
        false
    }

    /// Returns whether a work is open that a thread has not seen.
    fn is_open(&self, last: usize) -> bool {
        self.gate.load(SeqCst) & 1 == 1 && self.number.load(Relaxed) != last
    }

    /// Waits for a work.
    fn wait(&self, last: usize) {
        let start = Instant::now();
        loop {
            for _ in 0..64 {
                if self.is_open(last) {
                    return;
                }
                spin_loop();
            }
            let waited = start.elapsed();
            if waited > YIELD {
                break;
            } else if waited > SPIN {
                thread::yield_now();
            }
        }
        let mut guard = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
        self.sleepers.fetch_add(1, SeqCst);
        while !self.is_open(last) {
            guard = self
                .wake
                .wait(guard)
                .unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_given_out_once_from_any_thread() {
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for round in 0..3000 {
                        let mut items = vec![0; round % 40];
                        share(4, &mut items, |i, item| *item += i + 1);
                        assert!(items.iter().enumerate().all(|(i, item)| *item == i + 1));
                    }
                });
            }
        });
    }

    #[test]
    fn work_within_work_is_done() {
        let mut items = vec![0; 64];
        share(4, &mut items, |_, item| {
            let mut inner = [1; 10];
            share(4, &mut inner, |i, x| *x += i);
            *item = inner.iter().sum();
        });
        assert_eq!(items, vec![55; 64]);
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_team_works_on() {
        for failing in [0, 63] {
            let mut items = vec![0; 64];
            let work = || {
                share(4, &mut items, |i, item| {
                    thread::sleep(Duration::from_micros(50));
                    assert_ne!(i, failing);
                    *item = i;
                });
            };
            assert!(catch_unwind(AssertUnwindSafe(work)).is_err());
            let error = try_share(2, &mut items, |i, _| if i == 7 { Err(i) } else { Ok(()) });
            assert_eq!(error, Err(7));
        }
    }
}
