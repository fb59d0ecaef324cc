//! Parallel loops over a bounded number of threads.

use crate::Result;
use ramie_core::lock::{lock, unpoisoned};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Returns the default number of threads of a save or a restore. Small machines use more threads
/// than they have cores, since the threads wait for the disk.
pub(crate) fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(4, |n| n.get().clamp(4, 16))
}

/// Calls a function with every item, on at most `threads` threads including the current one. After
/// an error no further item is started, and the error of the first failed item in order is
/// returned.
///
/// # Panics
/// Panics with the function's message if the function panics.
pub(crate) fn for_each<T: Send>(
    threads: usize,
    items: Vec<T>,
    f: impl Fn(T) -> Result<()> + Sync,
) -> Result<()> {
    let threads = threads.min(items.len());
    if threads <= 1 {
        return items.into_iter().try_for_each(f);
    }
    let items: Vec<Mutex<Option<T>>> = items.into_iter().map(|x| Mutex::new(Some(x))).collect();
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let failure = Mutex::new(None);
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(slot) = items.get(i) else { break };
            let item = lock(slot).take();
            let Some(Err(error)) = item.map(&f) else {
                continue;
            };
            stop.store(true, Ordering::Relaxed);
            let mut first = lock(&failure);
            if first.as_ref().is_none_or(|(at, _)| i < *at) {
                *first = Some((i, error));
            }
        }
    };
    std::thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        work();
        for helper in helpers {
            if let Err(panic) = helper.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    match unpoisoned(failure.into_inner()) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use std::path::Path;

    #[test]
    fn every_item_is_taken_once_by_few_threads() {
        let seen = Mutex::new(Vec::new());
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        for_each(3, (0..100).collect(), |i: usize| {
            let running = now.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(running, Ordering::SeqCst);
            std::thread::sleep(std::time::Duration::from_micros(100));
            now.fetch_sub(1, Ordering::SeqCst);
            seen.lock().unwrap().push(i);
            Ok(())
        })
        .unwrap();
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        assert_eq!(seen, (0..100).collect::<Vec<_>>());
        assert!(most.into_inner() <= 3);
    }

    #[test]
    fn a_failure_ends_the_work() {
        let done = AtomicUsize::new(0);
        let error = for_each(4, (0..10_000).collect(), |i: usize| {
            if i >= 10 {
                return Err(Error::format(Path::new("file"), format!("item {i}")));
            }
            done.fetch_add(1, Ordering::SeqCst);
            Ok(())
        });
        assert!(error.unwrap_err().to_string().starts_with("file: item 1"));
        assert!(done.into_inner() <= 10);
    }

    #[test]
    #[should_panic(expected = "the third")]
    fn a_panic_comes_through() {
        let _ = for_each(4, (0..8).collect(), |i: usize| {
            assert!(i != 3, "the third");
            Ok(())
        });
    }
}
