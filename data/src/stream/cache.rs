//! Caching of elements in memory.

use super::{Position, Stream};
use crate::{Error, Result};

/// A stream that keeps its elements in memory for later repetitions.
#[derive(Clone, Debug)]
pub struct CachedStream<S: Stream> {
    stream: S,
    /// The elements so far, and the errors of those that could not be read.
    kept: Vec<Result<S::Item>>,
    next: usize,
    /// Whether all elements have been read.
    whole: bool,
}

impl<S: Stream> CachedStream<S> {
    pub(crate) fn new(stream: S) -> Self {
        CachedStream {
            stream,
            kept: Vec::new(),
            next: 0,
            whole: false,
        }
    }

    /// Reads and keeps one more element or its error. Returns `false` at the end.
    fn read(&mut self) -> bool {
        if self.whole {
            return false;
        }
        match self.stream.next() {
            Some(item) => self.kept.push(item),
            None => self.whole = true,
        }
        !self.whole
    }
}

/// The error of an element that cannot be read is kept, and returned in each repetition.
impl<S: Stream> Stream for CachedStream<S>
where
    S::Item: Clone,
{
    type Item = S::Item;
    fn next(&mut self) -> Option<Result<S::Item>> {
        if self.next == self.kept.len() && !self.read() {
            return None;
        }
        self.next += 1;
        Some(self.kept[self.next - 1].clone())
    }
    fn position(&self) -> Position {
        Position::new("cache", [self.next as u64], [])
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        let ([next], []) = position.of("cache")?;
        // Reads and keeps the elements before the position.
        while (self.kept.len() as u64) < next {
            if !self.read() {
                return Err(Error::position(format!(
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
