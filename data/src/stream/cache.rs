//! Elements that are read once.

use super::{Position, Stream};
use crate::{Error, Result};

/// Keeps the elements in memory, for when the stream is read again.
#[derive(Clone, Debug)]
pub struct CachedStream<S: Stream> {
    stream: S,
    kept: Vec<S::Item>,
    next: usize,
    /// Whether all elements are kept.
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
    /// Keeps one element more; `None` at the end.
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

/// An element that cannot be read is not kept: its error comes once.
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
        // Elements before the position are read, to be kept.
        while (self.kept.len() as u64) < next {
            if self.read().is_none() {
                return Err(Error::Position(format!(
                    "it is behind {next} elements, and there are {}",
                    self.kept.len()
                )));
            }
        }
        self.next = next as usize;
        Ok(())
    }
}
