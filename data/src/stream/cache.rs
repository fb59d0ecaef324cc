//! Caching of elements in memory.

use super::{Position, Stream};
use crate::{Error, Result};

/// A stream that keeps its elements in memory for later repetitions.
#[derive(Clone, Debug)]
pub struct CachedStream<S: Stream> {
    stream: S,
    kept: Vec<S::Item>,
    next: usize,
    /// Whether all elements have been read.
    whole: bool,
}

impl<S: Stream> CachedStream<S> {
    pub(super) fn new(stream: S) -> Self {
        CachedStream {
            stream,
            kept: Vec::new(),
            next: 0,
            whole: false,
        }
    }
}

impl<S: Stream> CachedStream<S>
where
    S::Item: Clone,
{
    /// Reads and keeps one more element; returns `None` at the end.
    fn read(&mut self) -> Option<Result<()>> {
        if self.whole {
            return None;
        }
        match self.stream.next() {
            Some(Ok(item)) => self.kept.push(item),
            Some(Err(e)) => return Some(Err(e)),
            None => {
                self.whole = true;
                return None;
            }
        }
        Some(Ok(()))
    }
}

/// An element that cannot be read is not kept: its error is returned once.
impl<S: Stream> Stream for CachedStream<S>
where
    S::Item: Clone,
{
    type Item = S::Item;
    fn next(&mut self) -> Option<Result<S::Item>> {
        if self.next == self.kept.len()
            && let Err(e) = self.read()?
        {
            return Some(Err(e));
        }
        self.next += 1;
        Some(Ok(self.kept[self.next - 1].clone()))
    }
    fn position(&self) -> Position {
        Position::new("cache", [self.next as u64], [])
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        let ([next], []) = position.of("cache")?;
        // Reads and keeps the elements before the position.
        while (self.kept.len() as u64) < next {
            if self.read().is_none() {
                return Err(Error::Position(format!(
                    "it is after {next} elements, but the stream has {}",
                    self.kept.len()
                )));
            }
        }
        self.next = next as usize;
        Ok(())
    }
    seed_of_input!(stream);
}
