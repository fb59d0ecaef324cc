//! Concatenation and zipping of streams.

use super::{Position, Stream};
use crate::{DefaultSeed, Result};

/// The elements of one stream followed by those of another.
#[derive(Clone, Debug)]
pub struct Chain<A, B> {
    first: A,
    second: B,
    in_second: bool,
}

impl<A, B> Chain<A, B> {
    pub(crate) fn new(first: A, second: B) -> Self {
        Chain {
            first,
            second,
            in_second: false,
        }
    }
}

impl<A: Stream, B: Stream<Item = A::Item>> Stream for Chain<A, B> {
    type Item = A::Item;
    fn next(&mut self) -> Option<Result<A::Item>> {
        if !self.in_second {
            if let Some(item) = self.first.next() {
                return Some(item);
            }
            self.in_second = true;
        }
        self.second.next()
    }
    fn position(&self) -> Position {
        let from = [self.first.position(), self.second.position()];
        Position::new("chain", [u64::from(self.in_second)], from)
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        let ([in_second], [first, second]) = position.of("chain")?;
        self.first.restore(first)?;
        self.second.restore(second)?;
        self.in_second = in_second != 0;
        Ok(())
    }
    fn default_seed(&self) -> DefaultSeed {
        DefaultSeed::after([self.first.default_seed(), self.second.default_seed()])
    }
}

/// Pairs of the elements of two streams, until either ends.
#[derive(Clone, Debug)]
pub struct ZipStream<A, B>(A, B);

impl<A, B> ZipStream<A, B> {
    pub(crate) fn new(a: A, b: B) -> Self {
        ZipStream(a, b)
    }
}

impl<A: Stream, B: Stream> Stream for ZipStream<A, B> {
    type Item = (A::Item, B::Item);
    fn next(&mut self) -> Option<Result<Self::Item>> {
        // Both streams are read, so that they stay aligned after an error in one.
        let (a, b) = (self.0.next()?, self.1.next()?);
        Some(a.and_then(|a| Ok((a, b?))))
    }
    fn position(&self) -> Position {
        Position::new("zip", [], [self.0.position(), self.1.position()])
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        let ([], [a, b]) = position.of("zip")?;
        self.0.restore(a)?;
        self.1.restore(b)
    }
    fn default_seed(&self) -> DefaultSeed {
        DefaultSeed::after([self.0.default_seed(), self.1.default_seed()])
    }
}
