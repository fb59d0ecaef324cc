//! Prefetching of elements in a background thread.

use super::{Position, Stream};
use crate::panic::caught;
use crate::{DefaultSeed, Error, Result};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};

/// A stream that reads ahead in a background thread; see
/// [`StreamExt::prefetch`](crate::StreamExt::prefetch).
///
/// The thread starts when the first element is requested. It ends with the stream, or when this
/// stage is dropped. A panic of the stream is returned as an error and ends the stream.
pub struct Prefetch<S: Stream> {
    count: usize,
    state: State<S>,
    position: Position,
    default_seed: DefaultSeed,
}

type PrefetchedItem<T> = (Option<Result<T>>, Position);

enum State<S: Stream> {
    Idle(S),
    Running {
        ahead: Receiver<PrefetchedItem<S::Item>>,
        /// The thread, which returns the stream, or `None` if the stream panicked.
        thread: JoinHandle<Option<S>>,
    },
    Ended,
}

impl<S: Stream + 'static> Prefetch<S> {
    #[track_caller]
    pub(crate) fn new(stream: S, count: usize) -> Self {
        assert!(
            count > 0,
            "prefetch: the count is 0\n  help: pass at least 1, or remove the stage"
        );
        Prefetch {
            count,
            position: stream.position(),
            default_seed: stream.default_seed(),
            state: State::Idle(stream),
        }
    }

    fn start(&mut self) {
        let State::Idle(mut stream) = std::mem::replace(&mut self.state, State::Ended) else {
            unreachable!("only an idle stream is started");
        };
        let (sender, ahead) = sync_channel(self.count - 1);
        let run = move || {
            loop {
                let (item, panicked) = match caught(|| (stream.next(), stream.position())) {
                    Ok(item) => (item, false),
                    Err(message) => {
                        let e = Error::Panic(message);
                        ((Some(Err(e)), Position::new("panicked", [], [])), true)
                    }
                };
                let last = item.0.is_none();
                // The receiver was dropped, or the stream has ended.
                if sender.send(item).is_err() || last {
                    return Some(stream);
                }
                if panicked {
                    return None;
                }
            }
        };
        let thread = thread::Builder::new().name("data prefetch".into());
        let thread = thread
            .spawn(run)
            .expect("failed to spawn the thread `data prefetch`");
        self.state = State::Running { ahead, thread };
    }

    /// Stops the thread and returns the stream.
    fn stop(&mut self) -> Option<S> {
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Idle(stream) => Some(stream),
            State::Running { ahead, thread } => {
                drop(ahead);
                thread.join().ok().flatten()
            }
            State::Ended => None,
        }
    }
}

impl<S: Stream + 'static> Stream for Prefetch<S> {
    type Item = S::Item;
    fn next(&mut self) -> Option<Result<S::Item>> {
        if let State::Idle(_) = self.state {
            self.start();
        }
        let State::Running { ahead, .. } = &self.state else {
            return None;
        };
        let Ok((item, position)) = ahead.recv() else {
            return None;
        };
        if item.is_none() {
            // Becomes idle at the end, so that the stream can be restored.
            if let Some(stream) = self.stop() {
                self.state = State::Idle(stream);
            }
        }
        self.position = position;
        item
    }
    fn position(&self) -> Position {
        self.position.clone()
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        let Some(mut stream) = self.stop() else {
            return Err(Error::position(
                "the stream panicked and cannot be restored; build it again",
            ));
        };
        let restored = stream.restore(position);
        self.position = stream.position();
        self.state = State::Idle(stream);
        restored
    }
    fn default_seed(&self) -> DefaultSeed {
        DefaultSeed::after([self.default_seed.clone()])
    }
}

impl<S: Stream> Drop for Prefetch<S> {
    fn drop(&mut self) {
        if let State::Running { ahead, thread } = std::mem::replace(&mut self.state, State::Ended) {
            drop(ahead);
            // A panic of the stream was already returned, or its element was never requested.
            let _ = thread.join();
        }
    }
}
