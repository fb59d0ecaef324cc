//! Prefetching of batches to devices while a step runs.

use super::{Placement, ToDevice};
use crate::panic::caught;
use crate::{Error, Result, Resumable};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// An iterator over batches on devices; see [`Resumable::prefetch_to_device`]. Dropping it stops
/// the thread after the batch that it is waiting for.
pub struct DevicePrefetch<D, S> {
    /// `None` while the iterator is dropped.
    ahead: Option<Receiver<(Result<D>, S)>>,
    thread: Option<JoinHandle<()>>,
    state: S,
    /// The greatest number of batches that remain, if it is known.
    left: Option<usize>,
    waited: Duration,
}

impl<D: Send + 'static, S: Clone + Send + 'static> DevicePrefetch<D, S> {
    #[track_caller]
    pub(crate) fn new<I, B>(mut batches: I, count: usize, place: Placement) -> Self
    where
        I: Resumable<State = S> + Iterator<Item = Result<B>> + Send + 'static,
        B: ToDevice<Device = D>,
    {
        assert!(
            count > 0,
            "prefetch_to_device: the count is 0\n  help: pass at least 1, or 2 for double buffering"
        );
        let (state, left) = (batches.state(), batches.size_hint().1);
        let place = place.settle();
        // One more batch is held by the thread.
        let (sender, ahead) = sync_channel(count - 1);
        let run = move || {
            loop {
                let next = || {
                    batches
                        .next()
                        .map(|b| b?.to_device(place.as_ref().map_err(Error::clone)?))
                };
                let (batch, ended) = match caught(next) {
                    Ok(Some(batch)) => (batch, false),
                    Ok(None) => return,
                    Err(message) => (Err(Error::Panic(message)), true),
                };
                if sender.send((batch, batches.state())).is_err() || ended {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("data to device".into());
        DevicePrefetch {
            ahead: Some(ahead),
            thread: Some(
                thread
                    .spawn(run)
                    .expect("failed to spawn the thread `data to device`"),
            ),
            state,
            left,
            waited: Duration::ZERO,
        }
    }
}

impl<D, S> DevicePrefetch<D, S> {
    /// Returns the total time that calls of `next` have waited for batches. During this time no
    /// steps could be launched. As steps run asynchronously, the device may have been idle for
    /// less time.
    pub fn waited(&self) -> Duration {
        self.waited
    }
}

impl<D, S> Iterator for DevicePrefetch<D, S> {
    type Item = Result<D>;
    fn next(&mut self) -> Option<Result<D>> {
        let start = Instant::now();
        let received = self.ahead.as_ref()?.recv();
        self.waited += start.elapsed();
        let (batch, state) = received.ok()?;
        self.state = state;
        self.left = self.left.map(|left| left.saturating_sub(1));
        Some(batch)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.left)
    }
}

impl<D, S: Clone + Send + 'static> Resumable for DevicePrefetch<D, S> {
    type State = S;
    /// Returns the position after the last batch that was returned, whatever has been prefetched
    /// beyond it.
    fn state(&self) -> S {
        self.state.clone()
    }
}

impl<D, S> Drop for DevicePrefetch<D, S> {
    fn drop(&mut self) {
        self.ahead = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
