//! Streams of sources whose elements threads read.

use super::{Position, SourceStream, Stream};
use crate::panic::caught;
use crate::pool::{Pool, Slot};
use crate::source::Source;
use crate::{Error, ReadOptions, Result};
use std::collections::VecDeque;
use std::sync::Arc;

/// The elements of a source, in order, which threads read ahead; see
/// [`SourceStream::read_options`].
pub struct ReadStream<S: Source> {
    source: Arc<S>,
    options: ReadOptions,
    /// The threads, which start when the first element is requested.
    pool: Option<Pool>,
    /// Elements in progress.
    ahead: VecDeque<Arc<Slot<Result<S::Item>>>>,
    /// The next element to return.
    next: usize,
}

impl<S: Source + 'static> ReadStream<S> {
    pub(crate) fn new(source: S, next: usize, options: ReadOptions) -> Self {
        ReadStream {
            source: Arc::new(source),
            options,
            pool: None,
            ahead: VecDeque::new(),
            next,
        }
    }

    /// Requests elements until the buffer is full.
    fn fill(&mut self) {
        let threads = self.options.threads();
        let pool = self.pool.get_or_insert_with(|| Pool::new(threads, None));
        while self.ahead.len() < self.options.prefetch_buffer_size {
            let index = self.next + self.ahead.len();
            if index >= self.source.len() {
                return;
            }
            let slot = Arc::new(Slot::new());
            let (source, result) = (self.source.clone(), slot.clone());
            pool.submit(Box::new(move |_| {
                let item = caught(|| source.get(index));
                drop(source);
                result.fill(item.unwrap_or_else(|message| Err(Error::Panic(message))));
            }));
            self.ahead.push_back(slot);
        }
    }
}

impl<S: Source<Item: 'static> + 'static> Stream for ReadStream<S> {
    type Item = S::Item;
    fn next(&mut self) -> Option<Result<S::Item>> {
        let index = self.next;
        if index >= self.source.len() {
            return None;
        }
        let item = if self.options.threads() == 0 {
            self.next += 1;
            self.source.get(index)
        } else {
            self.fill();
            let slot = self.ahead.pop_front()?;
            self.next += 1;
            // The threads go on while this element is waited for and used.
            self.fill();
            slot.wait(None)?
        };
        Some(item.map_err(|e| Error::element(index, e)))
    }
    fn position(&self) -> Position {
        SourceStream::<S>::position_of(self.next)
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        self.next = SourceStream::restored(&*self.source, position)?;
        self.ahead.clear();
        // Discards the requests that are waiting.
        self.pool = None;
        Ok(())
    }
    seed_of_input!(source);
}
