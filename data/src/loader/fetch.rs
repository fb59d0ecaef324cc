//! Batches made at once, or from elements that threads read.

use super::tasks::Task;
use crate::panic::caught;
use crate::pool::Pool;
use crate::{Error, Result, Source};
use ramie_core::lock::lock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Receives a batch from a worker.
pub(super) type BatchCallback<B> = Box<dyn FnOnce(Result<B>) + Send>;

/// A function that makes batches, shared by all workers.
pub(super) trait Fetch<B>: Send + Sync {
    /// Makes a batch on the calling thread.
    fn fetch(&self, task: &Task) -> Result<B>;

    /// Reads each element of a batch in a job of its own. The last of these jobs makes the batch.
    /// Jobs that begin after `stopped` is set do nothing.
    fn read(
        self: Arc<Self>,
        task: Task,
        pool: &Pool,
        stopped: &Arc<AtomicBool>,
        done: BatchCallback<B>,
    );
}

/// Makes batches of a source: `whole` from its indices, `collate` from its elements.
pub(super) struct FromSource<S, W, C> {
    pub source: S,
    pub whole: W,
    pub collate: C,
}

impl<S, B, W, C> Fetch<B> for FromSource<S, W, C>
where
    S: Source + 'static,
    B: Send + 'static,
    W: Fn(&S, &[usize], usize) -> Result<B> + Send + Sync + 'static,
    C: Fn(Vec<S::Item>) -> Result<B> + Send + Sync + 'static,
{
    fn fetch(&self, task: &Task) -> Result<B> {
        (self.whole)(&self.source, &task.indices, task.epoch)
    }

    fn read(
        self: Arc<Self>,
        task: Task,
        pool: &Pool,
        stopped: &Arc<AtomicBool>,
        done: BatchCallback<B>,
    ) {
        let count = task.indices.len();
        // A batch of no elements is made by a job that reads none.
        let jobs = count.max(1);
        let reading = Arc::new(Reading {
            from: self,
            task,
            items: Mutex::new((0..count).map(|_| None).collect()),
            left: AtomicUsize::new(jobs),
            done: Mutex::new(Some(done)),
        });
        for place in 0..jobs {
            let (reading, stopped) = (reading.clone(), stopped.clone());
            pool.submit(Box::new(move |failure| {
                if !stopped.load(Ordering::Relaxed) {
                    reading.read(place, failure);
                }
            }));
        }
    }
}

/// A batch whose elements are being read.
struct Reading<S: Source, W, C, B> {
    from: Arc<FromSource<S, W, C>>,
    task: Task,
    items: Mutex<Vec<Option<Result<S::Item>>>>,
    /// The number of jobs that have not ended.
    left: AtomicUsize,
    done: Mutex<Option<BatchCallback<B>>>,
}

impl<S, W, C, B> Reading<S, W, C, B>
where
    S: Source,
    C: Fn(Vec<S::Item>) -> Result<B>,
{
    fn read(self: Arc<Self>, place: usize, failure: Option<&str>) {
        let Task { indices, epoch, .. } = &self.task;
        if let Some(&index) = indices.get(place) {
            let get = || self.from.source.get_in_epoch(index, *epoch);
            let item = match failure {
                Some(message) => Err(Error::init(message)),
                None => caught(get)
                    .unwrap_or_else(|message| Err(Error::Panic(message)))
                    .map_err(|e| Error::element(index, e)),
            };
            lock(&self.items)[place] = Some(item);
        }
        if self.left.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        let items: Result<Vec<_>> = lock(&self.items).drain(..).flatten().collect();
        let batch = items.and_then(|items| {
            caught(|| (self.from.collate)(items))
                .unwrap_or_else(|message| Err(Error::Panic(message)))
                .map_err(|e| Error::batch(indices, e))
        });
        let done = lock(&self.done).take();
        // The receiver of the batch may own the last other reference to the source.
        drop(self);
        if let Some(done) = done {
            done(batch);
        }
    }
}
