//! Deduplication of work: one thread works on a key, and threads with the same key wait for it.

use crate::base::lock::lock;
use ramie_pjrt::Callback;
use std::cell::Cell;
use std::sync::{Arc, Condvar, Mutex};

thread_local! {
    /// Number of flights of this thread.
    static OWN: Cell<usize> = const { Cell::new(0) };
}

/// Work in progress, by key.
///
/// A thread with work of its own in progress never waits: it does the work again instead. Thus no
/// thread waits for a waiting thread, and threads whose traces need each other's programs, or a
/// trace that needs its own program, cannot deadlock. Callbacks do not wait either, since they
/// may occupy a thread that the other one needs.
pub(crate) struct Flights<K>(Mutex<Vec<(K, Arc<Landing>)>>);

#[derive(Default)]
struct Landing {
    landed: Mutex<bool>,
    changed: Condvar,
}

/// Work of this thread, which ends when this is dropped, even by a panic.
pub(crate) struct Flight<'a, K: Copy + Eq> {
    flights: &'a Flights<K>,
    /// Key for which other threads wait, unless another thread was first.
    key: Option<K>,
}

impl<K: Copy + Eq> Flights<K> {
    pub const fn new() -> Self {
        Flights(Mutex::new(Vec::new()))
    }

    /// Starts the work for a key. If another thread works on it, waits until that ends and
    /// returns `None`: the result may exist then.
    pub fn enter(&self, key: K) -> Option<Flight<'_, K>> {
        let mut flights = lock(&self.0);
        let other = flights.iter().find(|(k, _)| *k == key);
        let key = match other.map(|(_, landing)| landing.clone()) {
            None => {
                flights.push((key, Arc::default()));
                Some(key)
            }
            Some(_) if OWN.get() > 0 || Callback::is_running() => None,
            Some(landing) => {
                drop(flights);
                let landed = lock(&landing.landed);
                let waited = landing.changed.wait_while(landed, |landed| !*landed);
                drop(waited);
                return None;
            }
        };
        OWN.set(OWN.get() + 1);
        Some(Flight { flights: self, key })
    }
}

impl<K> Default for Flights<K> {
    fn default() -> Self {
        Flights(Mutex::default())
    }
}

impl<K: Copy + Eq> Drop for Flight<'_, K> {
    fn drop(&mut self) {
        OWN.set(OWN.get() - 1);
        let Some(key) = self.key else {
            return;
        };
        let mut flights = lock(&self.flights.0);
        let Some(at) = flights.iter().position(|(k, _)| *k == key) else {
            return;
        };
        let (_, landing) = flights.swap_remove(at);
        drop(flights);
        *lock(&landing.landed) = true;
        landing.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Works on a key until `done` returns true.
    fn work(flights: &Flights<u32>, key: u32, done: impl Fn() -> bool, work: impl Fn()) {
        while !done() {
            if let Some(_flight) = flights.enter(key)
                && !done()
            {
                work();
            }
        }
    }

    #[test]
    fn the_same_work_is_done_once_and_other_work_goes_on() {
        let flights = Flights::new();
        let (count, start) = (AtomicUsize::new(0), Barrier::new(8));
        let is_done = || count.load(Ordering::SeqCst) > 0;
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    work(&flights, 1, is_done, || {
                        // Another key is not locked meanwhile.
                        assert!(flights.enter(2).is_some());
                        count.fetch_add(1, Ordering::SeqCst);
                    });
                });
            }
        });
        assert_eq!(count.load(Ordering::SeqCst), 1);
        assert!(lock(&flights.0).is_empty());
    }

    #[test]
    fn a_panic_ends_the_work() {
        let flights = Flights::new();
        let attempts = AtomicUsize::new(0);
        let is_done = || attempts.load(Ordering::SeqCst) >= 4;
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        work(&flights, 1, is_done, || {
                            attempts.fetch_add(1, Ordering::SeqCst);
                            std::panic::resume_unwind(Box::new("no luck"));
                        });
                    })
                })
                .collect();
            let failed = threads.into_iter().filter_map(|t| t.join().err()).count();
            assert_eq!(failed, 4, "each tried for itself");
        });
        assert!(flights.enter(1).is_some());
    }

    #[test]
    fn two_threads_that_need_each_other_do_not_wait() {
        let flights = Flights::new();
        let both = Barrier::new(2);
        std::thread::scope(|scope| {
            for (own, other) in [(1, 2), (2, 1)] {
                let (flights, both) = (&flights, &both);
                scope.spawn(move || {
                    let first = flights.enter(own);
                    both.wait();
                    let second = flights.enter(other);
                    assert!(first.is_some() && second.is_some());
                    // Work that needs its own result does not wait either.
                    assert!(flights.enter(own).is_some());
                    both.wait();
                });
            }
        });
    }
}
