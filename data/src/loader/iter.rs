//! Going through the batches of a loader.

use super::Fetch;
use super::batch_sampler::{Batches, Plan};
use super::rows::Rows;
use super::state::LoaderState;
use crate::panic::caught;
use crate::pool::{Pool, Slot};
use crate::{Error, Result, Resumable, progress};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What makes one batch.
pub(super) struct Task {
    pub epoch: u64,
    /// The elements, of this process's rows.
    pub indices: Vec<usize>,
    /// Which of them count; empty where nobody asks.
    pub counts: Vec<bool>,
}

/// The tasks of some epochs, in order.
pub(super) struct Tasks {
    plan: Plan,
    rows: Rows,
    /// Where batches are masked: the least number of rows.
    fill: Option<usize>,
    end: u64,
    epoch: u64,
    position: usize,
    batches: Batches,
    fingerprint: u64,
}

impl Tasks {
    /// Those of the epochs from one on, before another.
    pub(super) fn new(plan: Plan, rows: Rows, fill: Option<usize>, epoch: u64, end: u64) -> Tasks {
        let batches = plan.epoch(epoch);
        Tasks {
            fingerprint: batches.fingerprint(),
            plan,
            rows,
            fill,
            end,
            epoch,
            position: 0,
            batches,
        }
    }

    /// Goes on from a state of this epoch.
    pub(super) fn resume(&mut self, state: &LoaderState) -> Result<()> {
        self.position = state.check(self.batches.len(), self.fingerprint)?;
        Ok(())
    }

    /// Goes to a batch of this epoch, or behind its end.
    pub(super) fn skip(&mut self, batch: usize) {
        self.position = self.batches.position(batch);
    }

    /// Where the next task begins.
    fn state(&self) -> LoaderState {
        LoaderState::new(
            self.epoch,
            self.position,
            self.batches.len(),
            self.fingerprint,
        )
    }

    pub(super) fn next(&mut self) -> Option<Task> {
        let (len, behind) = loop {
            if self.epoch >= self.end {
                return None;
            }
            if let Some(batch) = self.batches.at(self.position) {
                break batch;
            }
            if self.epoch + 1 == self.end {
                return None;
            }
            self.epoch += 1;
            self.position = 0;
            self.batches = self.plan.epoch(self.epoch);
            self.fingerprint = self.batches.fingerprint();
        };
        let rows = len.max(self.fill.unwrap_or(0));
        let rows = rows.next_multiple_of(self.rows.tiles);
        let places = || self.rows.places(rows);
        let task = Task {
            epoch: self.epoch,
            indices: places()
                .map(|place| self.batches.index(self.position, len, place))
                .collect(),
            counts: match self.fill {
                Some(_) => places().map(|place| place < len).collect(),
                None => Vec::new(),
            },
        };
        self.position = behind;
        Some(task)
    }
}

/// The batches of a [`DataLoader`](crate::DataLoader), in their order. Dropping
/// it stops the workers, once they have finished the batch that they are at.
pub struct LoaderIter<B> {
    fetch: Arc<dyn Fetch<B>>,
    tasks: Tasks,
    pool: Option<Arc<Pool>>,
    /// How many batches are made ahead.
    ahead: usize,
    timeout: Option<Duration>,
    /// Batches that are being made, each with where the loader stands behind it.
    in_flight: VecDeque<(Arc<Slot<Result<B>>>, LoaderState)>,
    /// Tells persistent workers that nobody wants the rest.
    stopped: Arc<AtomicBool>,
    state: LoaderState,
    waited: Duration,
}

impl<B: Send + 'static> LoaderIter<B> {
    pub(super) fn new(
        fetch: Arc<dyn Fetch<B>>,
        tasks: Tasks,
        pool: Option<Arc<Pool>>,
        ahead: usize,
        timeout: Option<Duration>,
    ) -> LoaderIter<B> {
        LoaderIter {
            fetch,
            state: tasks.state(),
            tasks,
            pool,
            ahead,
            timeout,
            in_flight: VecDeque::with_capacity(ahead),
            stopped: Arc::new(AtomicBool::new(false)),
            waited: Duration::ZERO,
        }
    }

    /// Where the iteration stands: behind the last batch that it gave, whatever
    /// workers have made beyond.
    pub fn state(&self) -> LoaderState {
        self.state
    }

    /// How long calls of `next` have waited for batches so far. Without workers
    /// that is how long batches took to make.
    pub fn waited(&self) -> Duration {
        self.waited
    }

    /// Gives the workers what they have room for.
    fn submit(&mut self, pool: &Pool) {
        while self.in_flight.len() < self.ahead {
            let Some(task) = self.tasks.next() else {
                return;
            };
            let slot = Arc::new(Slot::new());
            let (fetch, stopped) = (self.fetch.clone(), self.stopped.clone());
            let result = slot.clone();
            pool.submit(Box::new(move |failure| {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let batch = match failure {
                    None => run(&*fetch, &task),
                    Some(message) => Err(Error::Panic(format!("the worker's start: {message}"))),
                };
                // Before the batch is there: its receiver may be the last to hold these.
                drop((fetch, task, stopped));
                result.fill(batch);
            }));
            self.in_flight.push_back((slot, self.tasks.state()));
        }
    }
}

/// Makes a batch. What goes wrong is told with the element.
pub(super) fn run<B>(fetch: &dyn Fetch<B>, task: &Task) -> Result<B> {
    // Nothing of an earlier batch.
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
        let (slot, state) = self.in_flight.pop_front()?;
        let start = Instant::now();
        let batch = slot.wait(self.timeout);
        self.waited += start.elapsed();
        match batch {
            Some(batch) => {
                self.state = state;
                // Before the caller begins with this batch.
                self.submit(&pool);
                Some(batch)
            }
            None => {
                self.in_flight.push_front((slot, state));
                Some(Err(Error::Timeout(self.timeout.unwrap_or_default())))
            }
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
