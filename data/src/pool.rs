//! Worker threads that make batches.

use crate::panic::caught;
use ramie_core::lock::{lock, unpoisoned};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A task of a worker. The argument is the panic message of the worker's init function, if it
/// failed. A job must not panic.
pub(crate) type Job = Box<dyn FnOnce(Option<&str>) + Send>;

/// The init function, which every worker calls with its number before its first batch.
pub(crate) type Init = Arc<dyn Fn(usize) + Send + Sync>;

/// Worker threads with a job queue. Dropping the pool stops them: each finishes its current job,
/// and the queued jobs are discarded.
pub(crate) struct Pool {
    queue: Arc<Queue>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Queue {
    jobs: Mutex<Jobs>,
    changed: Condvar,
}

#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    closed: bool,
}

impl Pool {
    pub(crate) fn new(workers: usize, init: Option<Init>) -> Pool {
        let queue = Arc::new(Queue::default());
        let start = |worker| {
            let (queue, init) = (queue.clone(), init.clone());
            let thread = thread::Builder::new().name(format!("data worker {worker}"));
            let run = move || work(&queue, worker, init);
            thread
                .spawn(run)
                .expect("failed to spawn the thread of a data worker")
        };
        let threads = (0..workers).map(start).collect();
        Pool { queue, threads }
    }

    pub(crate) fn submit(&self, job: Job) {
        lock(&self.queue.jobs).waiting.push_back(job);
        self.queue.changed.notify_one();
    }
}

fn work(queue: &Queue, worker: usize, init: Option<Init>) {
    let failure = init.and_then(|init| caught(|| init(worker)).err());
    loop {
        let mut jobs = lock(&queue.jobs);
        let job = loop {
            if jobs.closed {
                return;
            }
            match jobs.waiting.pop_front() {
                Some(job) => break job,
                None => {
                    let woken = queue.changed.wait(jobs);
                    jobs = unpoisoned(woken);
                }
            }
        };
        drop(jobs);
        job(failure.as_deref());
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let left = {
            let mut jobs = lock(&self.queue.jobs);
            jobs.closed = true;
            std::mem::take(&mut jobs.waiting)
        };
        self.queue.changed.notify_all();
        drop(left);
        for thread in self.threads.drain(..) {
            // A job may own the last reference, so that the pool is dropped on a worker thread.
            if thread.thread().id() != thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}

/// A slot through which a worker passes a result to the loader.
pub(crate) struct Slot<T> {
    value: Mutex<Option<T>>,
    filled: Condvar,
}

impl<T> Slot<T> {
    pub(crate) fn new() -> Slot<T> {
        Slot {
            value: Mutex::new(None),
            filled: Condvar::new(),
        }
    }

    pub(crate) fn fill(&self, value: T) {
        *lock(&self.value) = Some(value);
        self.filled.notify_one();
    }

    /// Waits for the result; returns `None` after a timeout.
    pub(crate) fn wait(&self, timeout: Option<Duration>) -> Option<T> {
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        let mut value = lock(&self.value);
        loop {
            if let Some(value) = value.take() {
                return Some(value);
            }
            value = match deadline {
                None => {
                    let woken = self.filled.wait(value);
                    unpoisoned(woken)
                }
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return None;
                    }
                    let woken = self.filled.wait_timeout(value, left);
                    unpoisoned(woken).0
                }
            };
        }
    }
}
