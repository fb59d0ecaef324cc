//! Selection of some elements of a stream.

use super::{Position, Stream};
use crate::{DefaultSeed, Result, Shard};

/// The elements for which a predicate returns `true`; see
/// [`StreamExt::filter`](crate::StreamExt::filter).
#[derive(Clone, Debug)]
pub struct Filter<S, F> {
    stream: S,
    predicate: F,
}

impl<S, F> Filter<S, F> {
    pub(crate) fn new(stream: S, predicate: F) -> Self {
        Filter { stream, predicate }
    }
}

impl<S: Stream, F: FnMut(&S::Item) -> bool + Send> Stream for Filter<S, F> {
    type Item = S::Item;
    fn next(&mut self) -> Option<Result<S::Item>> {
        loop {
            match self.stream.next()? {
                Ok(item) if !(self.predicate)(&item) => {}
                item => return Some(item),
            }
        }
    }
    of_input!(stream);
}

/// The elements of a stream of options that are not `None`; see
/// [`StreamExt::flatten`](crate::StreamExt::flatten).
#[derive(Clone, Debug)]
pub struct Flatten<S>(S);

impl<S> Flatten<S> {
    pub(crate) fn new(stream: S) -> Self {
        Flatten(stream)
    }
}

impl<T: Send, S: Stream<Item = Option<T>>> Stream for Flatten<S> {
    type Item = T;
    fn next(&mut self) -> Option<Result<T>> {
        loop {
            if let Some(item) = self.0.next()?.transpose() {
                return Some(item);
            }
        }
    }
    fn position(&self) -> Position {
        self.0.position()
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        self.0.restore(position)
    }
    /// Grain drops the elements in another stage, so this is none of the stages that it counts.
    fn default_seed(&self) -> DefaultSeed {
        self.0.default_seed()
    }
}

/// The first elements of a stream; see [`StreamExt::take`](crate::StreamExt::take).
#[derive(Clone, Debug)]
pub struct Take<S> {
    stream: S,
    count: u64,
    taken: u64,
}

impl<S> Take<S> {
    pub(crate) fn new(stream: S, count: usize) -> Self {
        Take {
            stream,
            count: count as u64,
            taken: 0,
        }
    }
}

impl<S: Stream> Stream for Take<S> {
    type Item = S::Item;
    fn next(&mut self) -> Option<Result<S::Item>> {
        if self.taken == self.count {
            return None;
        }
        let item = self.stream.next()?;
        self.taken += 1;
        Some(item)
    }
    fn position(&self) -> Position {
        Position::new("take", [self.taken], [self.stream.position()])
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        let ([taken], [from]) = position.of("take")?;
        self.stream.restore(from)?;
        self.taken = taken.min(self.count);
        Ok(())
    }
    seed_of_input!(stream);
}

/// A stream without its first elements; see [`StreamExt::skip`](crate::StreamExt::skip).
#[derive(Clone, Debug)]
pub struct Skip<S> {
    stream: S,
    count: u64,
    skipped: u64,
}

impl<S> Skip<S> {
    pub(crate) fn new(stream: S, count: usize) -> Self {
        Skip {
            stream,
            count: count as u64,
            skipped: 0,
        }
    }
}

impl<S: Stream> Stream for Skip<S> {
    type Item = S::Item;
    fn next(&mut self) -> Option<Result<S::Item>> {
        while self.skipped < self.count {
            self.skipped += 1;
            if let Err(e) = self.stream.next()? {
                return Some(Err(e));
            }
        }
        self.stream.next()
    }
    fn position(&self) -> Position {
        Position::new("skip", [self.skipped], [self.stream.position()])
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        let ([skipped], [from]) = position.of("skip")?;
        self.stream.restore(from)?;
        self.skipped = skipped;
        Ok(())
    }
    seed_of_input!(stream);
}

/// Every `count`-th element of a stream; see [`StreamExt::shard`](crate::StreamExt::shard).
#[derive(Clone, Debug)]
pub struct ShardStream<S> {
    stream: S,
    shard: Shard,
    /// The number of elements of the input read so far, modulo the number of shards.
    behind: usize,
}

impl<S> ShardStream<S> {
    pub(crate) fn new(stream: S, shard: Shard) -> Self {
        ShardStream {
            stream,
            shard,
            behind: 0,
        }
    }
}

impl<S: Stream> Stream for ShardStream<S> {
    type Item = S::Item;
    fn next(&mut self) -> Option<Result<S::Item>> {
        loop {
            let item = self.stream.next()?;
            let own = self.behind == self.shard.index();
            self.behind = (self.behind + 1) % self.shard.count();
            // All shards return an error, because the failed element has no known owner.
            if own || item.is_err() {
                return Some(item);
            }
        }
    }
    fn position(&self) -> Position {
        Position::new("shard", [self.behind as u64], [self.stream.position()])
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        let ([behind], [from]) = position.of("shard")?;
        self.stream.restore(from)?;
        self.behind = behind as usize % self.shard.count();
        Ok(())
    }
    seed_of_input!(stream);
}
