//! Windows of consecutive elements.

use super::{Position, Stream};
use crate::{Error, Result};
use std::collections::VecDeque;

/// Windows of consecutive elements; see [`StreamExt::window`](crate::StreamExt::window).
#[derive(Clone, Debug)]
pub struct WindowStream<S: Stream> {
    stream: S,
    size: usize,
    stride: usize,
    /// Elements of the next window, each with the position before it and the number of elements
    /// read before it.
    held: VecDeque<(Position, u64, S::Item)>,
    /// The number of elements read, including those that failed.
    read: u64,
    /// The number of elements to skip before the next window, if the stride exceeds the size.
    gap: usize,
}

impl<S: Stream> WindowStream<S> {
    #[track_caller]
    pub(crate) fn new(stream: S, size: usize, stride: usize) -> Self {
        assert!(
            size > 0 && stride > 0,
            "window: the size is {size} and the stride {stride}\n  help: pass at least 1 for both"
        );
        WindowStream {
            stream,
            size,
            stride,
            held: VecDeque::new(),
            read: 0,
            gap: 0,
        }
    }

    /// Reads one more element and buffers or skips it; returns `None` at the end.
    fn read(&mut self) -> Option<Result<()>> {
        let before = self.stream.position();
        let item = self.stream.next()?;
        self.read += 1;
        match item {
            Err(e) => return Some(Err(e)),
            Ok(_) if self.gap > 0 => self.gap -= 1,
            Ok(item) => self.held.push_back((before, self.read - 1, item)),
        }
        Some(Ok(()))
    }
}

impl<S: Stream> Stream for WindowStream<S>
where
    S::Item: Clone,
{
    type Item = Vec<S::Item>;
    fn next(&mut self) -> Option<Result<Self::Item>> {
        while self.held.len() < self.size {
            if let Err(e) = self.read()? {
                return Some(Err(e));
            }
        }
        let window = self.held.iter().map(|(_, _, item)| item.clone()).collect();
        let gone = self.stride.min(self.size);
        self.held.drain(..gone);
        self.gap = self.stride - gone;
        Some(Ok(window))
    }
    fn position(&self) -> Position {
        let (start, read) = match self.held.front() {
            Some((position, before, _)) => (position.clone(), self.read - before),
            None => (self.stream.position(), 0),
        };
        Position::new("window", [read, self.gap as u64], [start])
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        let ([read, gap], [from]) = position.of("window")?;
        self.stream.restore(from)?;
        self.held.clear();
        self.gap = 0;
        for done in 0..read {
            // Elements that failed before fail again; their errors were already returned.
            if self.read().is_none() {
                return Err(Error::position(format!(
                    "a window is after {read} elements, but only {done} are left"
                )));
            }
        }
        self.gap = gap as usize;
        Ok(())
    }
    seed_of_input!(stream);
}
