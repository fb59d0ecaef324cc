//! Functions applied to elements in several threads.

use super::{Position, Stream};
use crate::panic::caught;
use crate::pool::{Pool, Slot};
use crate::{Error, Result};
use std::collections::VecDeque;
use std::sync::Arc;

type Function<T, U> = Arc<dyn Fn(T) -> Result<U> + Send + Sync>;

/// A stream with a function applied to every element in worker threads; see
/// [`StreamExt::map_parallel`](crate::StreamExt::map_parallel).
pub struct ParallelMap<S: Stream, U> {
    stream: S,
    f: Function<S::Item, U>,
    workers: usize,
    /// The workers, which start when the first element is requested.
    pool: Option<Pool>,
    /// Elements in progress, each with the position after it.
    in_flight: VecDeque<(Arc<Slot<Result<U>>>, Position)>,
    position: Position,
}

impl<S: Stream, U> ParallelMap<S, U> {
    #[track_caller]
    pub(crate) fn new(
        stream: S,
        workers: usize,
        f: impl Fn(S::Item) -> Result<U> + Send + Sync + 'static,
    ) -> Self {
        assert!(
            workers > 0,
            "map_parallel: the number of workers is 0\n  help: pass at least 1, or use `map`"
        );
        ParallelMap {
            position: stream.position(),
            stream,
            f: Arc::new(f),
            workers,
            pool: None,
            in_flight: VecDeque::new(),
        }
    }
}

impl<S: Stream<Item: 'static>, U: Send + 'static> Stream for ParallelMap<S, U> {
    type Item = U;
    fn next(&mut self) -> Option<Result<U>> {
        let pool = self
            .pool
            .get_or_insert_with(|| Pool::new(self.workers, None));
        while self.in_flight.len() < 2 * self.workers {
            let Some(item) = self.stream.next() else {
                break;
            };
            let slot = Arc::new(Slot::new());
            match item {
                Ok(item) => {
                    let (f, result) = (self.f.clone(), slot.clone());
                    pool.submit(Box::new(move |_| {
                        let made = caught(|| f(item));
                        result.fill(made.unwrap_or_else(|message| Err(Error::Panic(message))));
                    }));
                }
                Err(e) => slot.fill(Err(e)),
            }
            self.in_flight.push_back((slot, self.stream.position()));
        }
        let (slot, position) = self.in_flight.pop_front()?;
        self.position = position;
        slot.wait(None)
    }
    fn position(&self) -> Position {
        self.position.clone()
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        self.in_flight.clear();
        self.stream.restore(position)?;
        self.position = position.clone();
        Ok(())
    }
    seed_of_input!(stream);
}
