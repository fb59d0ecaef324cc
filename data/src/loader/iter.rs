//! Iteration over the batches of a loader.

use super::fetch::Fetch;
use super::state::LoaderState;
use super::tasks::{Task, Tasks};
use crate::panic::caught;
use crate::pool::{Pool, Slot};
use crate::{Error, Result, Resumable, progress};
use ramie_base::clock::Instant;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The maximum number of batches or elements in progress.
#[derive(Clone, Copy)]
pub(super) enum PrefetchLimit {
    /// The number of batches, each made in one job.
    Batches(usize),
    /// The number of elements, each read in one job.
    Elements(usize),
}

/// A batch in progress.
struct InFlight<B> {
    slot: Arc<Slot<Result<B>>>,
    elements: usize,
    /// The loader's position after the batch.
    state: LoaderState,
}

/// An iterator over the batches of a [`DataLoader`](crate::DataLoader), in order. Dropping it
/// stops the workers after their current batch.
#[doc(alias = "DataLoaderIterator")]
pub struct LoaderIter<B> {
    fetch: Arc<dyn Fetch<B>>,
    tasks: Tasks,
    pool: Option<Arc<Pool>>,
    ahead: PrefetchLimit,
    timeout: Option<Duration>,
    in_flight: VecDeque<InFlight<B>>,
    /// Tells persistent workers to skip the remaining tasks.
    stopped: Arc<AtomicBool>,
    state: LoaderState,
    waited: Duration,
}

impl<B: Send + 'static> LoaderIter<B> {
    pub(super) fn new(
        fetch: Arc<dyn Fetch<B>>,
        tasks: Tasks,
        pool: Option<Arc<Pool>>,
        ahead: PrefetchLimit,
        timeout: Option<Duration>,
    ) -> LoaderIter<B> {
        LoaderIter {
            fetch,
            state: tasks.state(),
            tasks,
            pool,
            ahead,
            timeout,
            in_flight: VecDeque::new(),
            stopped: Arc::new(AtomicBool::new(false)),
            waited: Duration::ZERO,
        }
    }

    /// Returns the position after the last batch that was returned, whatever the workers have
    /// prepared beyond it.
    pub fn state(&self) -> LoaderState {
        self.state
    }

    /// Returns the total time that calls of `next` have waited for batches. Without workers this
    /// is the time it took to make the batches.
    pub fn waited(&self) -> Duration {
        self.waited
    }

    /// Returns `true` if the maximum is in progress.
    fn is_full(&self) -> bool {
        let in_flight = &self.in_flight;
        match self.ahead {
            PrefetchLimit::Batches(most) => in_flight.len() >= most,
            PrefetchLimit::Elements(most) => {
                let elements: usize = in_flight.iter().map(|batch| batch.elements).sum();
                !in_flight.is_empty() && elements >= most
            }
        }
    }

    /// Submits tasks until the maximum is in progress.
    fn submit(&mut self, pool: &Pool) {
        while !self.is_full() {
            let Some(task) = self.tasks.next() else {
                return;
            };
            let slot = Arc::new(Slot::new());
            let (fetch, stopped) = (self.fetch.clone(), self.stopped.clone());
            let result = slot.clone();
            let elements = task.indices.len().max(1);
            match self.ahead {
                PrefetchLimit::Elements(_) => {
                    let done = Box::new(move |batch| result.fill(batch));
                    fetch.read(task, pool, &stopped, done);
                }
                PrefetchLimit::Batches(_) => pool.submit(Box::new(move |failure| {
                    if stopped.load(Ordering::Relaxed) {
                        return;
                    }
                    let batch = match failure {
                        None => run(&*fetch, &task),
                        Some(message) => Err(Error::init(message)),
                    };
                    // Drops these before the batch is delivered, because its receiver may own the
                    // last other reference.
                    drop((fetch, task, stopped));
                    result.fill(batch);
                })),
            }
            self.in_flight.push_back(InFlight {
                slot,
                elements,
                state: self.tasks.state(),
            });
        }
    }
}

/// Makes a batch. An error names the element that failed.
pub(super) fn run<B>(fetch: &dyn Fetch<B>, task: &Task) -> Result<B> {
    // Discards a failure recorded by an earlier batch.
    progress::failed();
    let made = caught(|| fetch.fetch(task));
    let made = made.unwrap_or_else(|message| Err(Error::Panic(message)));
    made.map_err(|e| {
        let place = progress::failed();
        match place.and_then(|place| task.indices.get(place)) {
            Some(index) => Error::element(*index, e),
            None => Error::batch(&task.indices, e),
        }
    })
}

impl<B: Send + 'static> Iterator for LoaderIter<B> {
    type Item = Result<B>;
    fn next(&mut self) -> Option<Result<B>> {
        let Some(pool) = self.pool.clone() else {
            let task = self.tasks.next()?;
            self.state = self.tasks.state();
            let start = Instant::now();
            let batch = run(&*self.fetch, &task);
            self.waited += start.elapsed();
            return Some(batch);
        };
        self.submit(&pool);
        let first = self.in_flight.pop_front()?;
        let start = Instant::now();
        let batch = first.slot.wait(self.timeout);
        self.waited += start.elapsed();
        match batch {
            Some(batch) => {
                self.state = first.state;
                // Refills the queue before the caller works on this batch.
                self.submit(&pool);
                Some(batch)
            }
            None => {
                self.in_flight.push_front(first);
                Some(Err(Error::Timeout(self.timeout.unwrap_or_default())))
            }
        }
    }

    /// Returns the number of remaining batches, which is known in the last epoch.
    fn size_hint(&self) -> (usize, Option<usize>) {
        match self.tasks.remaining() {
            Some(left) => {
                let left = left + self.in_flight.len();
                (left, Some(left))
            }
            None => (self.in_flight.len(), None),
        }
    }
}

impl<B: Send + 'static> Resumable for LoaderIter<B> {
    type State = LoaderState;
    fn state(&self) -> LoaderState {
        self.state
    }
}

impl<B> Drop for LoaderIter<B> {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}
